//! The floors of the house: what a file may use.
//!
//! - A file imports from its own room and from rooms below it, and calls methods that are defined there. `lib.rs` and `planning`
//!   stand above all and hold re-exports only.
//! - No two folders import each other.
//! - No circle of files: none leads back to itself through imports and calls of methods.
//! - `reference` reaches neither `gpu` nor `tensor`, whichever files lie between.
//!
//! A name that is imported through a re-export is an import of the file that defines it. `calls` says which calls of methods
//! count. Code for tests is left out. What breaks a rule and is to be mended stands in `known.rs`.

use crate::imports::{Edges, Imports};
use crate::modules::{Files, Module};
use known::Known;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use syn::spanned::Spanned;

mod checked;
pub(crate) mod known;
mod picture;

/// The rooms from below; the rooms of one line import nothing from each other.
const ROOMS: &[&[&str]] = &[
    &["error"],
    &["progress"],
    &["files"],
    &["layout"],
    &["caps"],
    &["kernel"],
    &["plan"],
    &["gpu"],
    &["tensor"],
    &["ops"],
    &["io"],
    &["gemm", "peak"],
    &["attention", "conv"],
    &["sketch"],
    &["clifford"],
    &["reference"],
    &["fuzz"],
    &["planning", "lib"],
];

/// The rooms inside of rooms, from below, and whether there are others above these. Their `mod.rs` lists what they have; nothing
/// else stands next to them.
const INNER: &[(&str, &[&str], Others)] = &[
    (
        "gpu",
        &[
            "driver",
            "cache",
            "options",
            "extensions",
            "raw",
            "rows",
            "kernels",
            "buffers",
            "tuned",
            "record",
            "handle",
            "device",
            "views",
            "submit",
            "transfer",
            "application",
            "launch",
            "replay",
            "verify",
            "tuning",
            "execute",
            "open",
            "vulkan",
        ],
        Others::None,
    ),
    (
        "ops",
        &[
            "table",
            "packing",
            "vectors",
            "lines",
            "subgroups",
            "writer",
            "activation",
            "elementwise",
            "copy",
            "reduce",
            "windows",
            "training",
            "cast",
            "copies",
            "reductions",
        ],
        Others::Above,
    ),
];

/// Rooms that are not listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    None,
    /// They stand above those that are listed: an operation adds no line here.
    Above,
}
/// Rooms that hold nothing but modules and re-exports.
const LISTS: &[&str] = &["planning", "lib"];

#[test]
fn imports_follow_the_floors() {
    let faults = faults(&Imports::of(&sources()), &known::KNOWN);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The files of `src`.
pub(crate) fn sources() -> Files {
    rust_files("src")
}

/// The Rust files of a folder of the repository, by their path in it.
pub(crate) fn rust_files(folder: &str) -> Files {
    let root = support::root().join(folder);
    let mut files = Files::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

fn room(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

fn floor(room: &str) -> Option<usize> {
    ROOMS.iter().position(|rooms| rooms.contains(&room))
}

/// The rooms inside of a file's room, and the file's own among them; None for a file whose room has none, and for its `mod.rs`.
fn inner(file: &str) -> Option<(&'static [&'static str], Others, &str)> {
    let (_, rooms, others) = INNER.iter().find(|(name, ..)| *name == room(file))?;
    let rest = file.split_once('/')?.1;
    let own = rest.split('/').next().unwrap_or(rest);
    (rest != "mod.rs").then(|| (*rooms, *others, own.trim_end_matches(".rs")))
}

/// Everything that breaks a rule, a line each.
pub(crate) fn faults(imports: &Imports, known: &Known) -> Vec<String> {
    let mut faults = Vec::new();
    let uses = imports.uses();
    strangers(imports, &mut faults);
    arrows_up(imports, &uses, known, &mut faults);
    mutual_folders(imports, &mut faults);
    circles(&uses, known, &mut faults);
    reference(imports, &mut faults);
    faults
}

/// Files in no room, definitions in lists, and imports that cannot be read.
fn strangers(imports: &Imports, faults: &mut Vec<String>) {
    for file in &imports.files {
        if floor(room(file)).is_none() {
            faults.push(format!(
                "src/{file}: there is no room `{}`; tests/house/floors.rs lists the rooms",
                room(file)
            ));
        }
        if let Some((rooms, Others::None, own)) = inner(file)
            && !rooms.contains(&own)
        {
            faults.push(format!(
                "src/{file}: `{}` has no room `{own}`; tests/house/floors.rs lists its rooms",
                room(file)
            ));
        }
    }
    for Module { file, items, .. } in &imports.modules {
        for item in items.iter().filter(|_| LISTS.contains(&room(file))) {
            let line = item.span().start().line;
            faults.push(format!(
                "src/{file}:{line}: this file holds re-exports only; define the item in its room"
            ));
        }
    }
    // What the files of definitions make public, `reference` shows.
    let shows_all = |file: &str| LISTS.contains(&room(file)) || room(file) == "reference";
    for (file, line, path) in imports.globs.iter().filter(|(file, ..)| !shows_all(file)) {
        faults.push(format!("src/{file}:{line}: {path}::*: name what is imported"));
    }
}

fn arrows_up(imports: &Imports, uses: &Edges, known: &Known, faults: &mut Vec<String>) {
    for ((from, to), (line, what)) in uses {
        if let Some([a, b]) = rooms_up(from, to)
            && !known.up.contains(&(from, to))
        {
            let is_import = imports.edges.contains_key(&(from.clone(), to.clone()));
            let uses = if is_import { "imports" } else { "calls a method of" };
            faults.push(format!(
                "src/{from}:{line}: {what}: `{a}` {uses} src/{to}, but `{b}` is not below it; move the item down or its user up"
            ));
        }
    }
    let is_used = |from: &str, to: &str| uses.contains_key(&(from.to_owned(), to.to_owned()));
    for (from, to) in known.up.iter().filter(|(from, to)| !is_used(from, to)) {
        faults.push(format!(
            "src/{from} does not use src/{to} any more; take it out of tests/house/floors/known.rs"
        ));
    }
}

/// The rooms of two files, if the second is not below the first and not the same.
fn rooms_up<'a>(from: &'a str, to: &'a str) -> Option<[&'a str; 2]> {
    let (a, b) = (room(from), room(to));
    if a != b {
        return (floor(b) >= floor(a)).then_some([a, b]);
    }
    let ((rooms, _, a), (.., b)) = (inner(from)?, inner(to)?);
    let floor = |room: &str| rooms.iter().position(|name| *name == room);
    let is_up = match (floor(a), floor(b)) {
        (Some(own), Some(other)) => other >= own,
        (own, _) => own.is_some(),
    };
    (a != b && is_up).then_some([a, b])
}

/// The folders of a file, from the top: `""`, `gemm`, `gemm/kernels`.
fn folders(file: &str) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(file.match_indices('/').map(|(at, _)| &file[..at]))
}

/// Folders next to each other, with all below them, and a folder with a sub-folder of it. Of the parent count the files that
/// lie in it directly; its `mod.rs` may list what the sub-folder has, and then the sub-folder may not import what `mod.rs`
/// defines.
fn mutual_folders(imports: &Imports, faults: &mut Vec<String>) {
    let mut pairs: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for ((from, to), (line, path)) in &imports.edges {
        let (a, b) = (folders(from).collect::<Vec<_>>(), folders(to).collect::<Vec<_>>());
        let common = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let pair = match (a.get(common), b.get(common)) {
            (None, None) => continue,
            // Rooms: their floors are in one order, so of two that import each other one has been found already.
            _ if common == 1 => continue,
            (Some(a), Some(b)) => (*a, *b),
            // From the parent's `mod.rs`, or to what it defines: apart, since the list of an API imports what it lists.
            (None, Some(b)) if is_list(from) => (a[common - 1], *b),
            (Some(a), None) if is_list(to) => (*a, b[common - 1]),
            (None, Some(b)) => (a[common - 1], *b),
            (Some(a), None) => (*a, b[common - 1]),
        };
        let key = if is_list(from) && a.len() == common || is_list(to) && b.len() == common {
            "/mod.rs"
        } else {
            ""
        };
        let name = |folder: &str, of: bool| if of { format!("{folder}{key}") } else { folder.to_owned() };
        let pair = (name(pair.0, a.len() == common), name(pair.1, b.len() == common));
        pairs.entry(pair).or_default().push(format!("    src/{from}:{line}: {path} of src/{to}"));
    }
    for ((a, b), lines) in &pairs {
        if a < b
            && let Some(back) = pairs.get(&(b.clone(), a.clone()))
        {
            let (lines, back) = (lines.join("\n"), back.join("\n"));
            faults.push(format!("src/{a} and src/{b} import each other:\n{lines}\n  and\n{back}"));
        }
    }
}

fn is_list(file: &str) -> bool {
    file.ends_with("/mod.rs")
}

/// Groups of files of which each leads to every other.
fn circles(uses: &Edges, known: &Known, faults: &mut Vec<String>) {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|(file, _)| (file.as_str(), reached(uses, file).into_keys().collect())).collect();
    let mut seen = BTreeSet::new();
    for &file in reach.keys() {
        let circle: Vec<_> = reach[file]
            .iter()
            .copied()
            .filter(|to| reach.get(to).is_some_and(|back| back.contains(file)))
            .collect();
        if circle.first() != Some(&file)
            || !seen.insert(circle.clone())
            || known.circles.contains(&circle.as_slice())
        {
            continue;
        }
        let mut text = format!("a circle of {} files:", circle.len());
        for ((from, to), (line, what)) in uses {
            if circle.contains(&from.as_str()) && circle.contains(&to.as_str()) {
                write!(text, "\n    src/{from}:{line}: {what} of src/{to}").unwrap();
            }
        }
        faults.push(text);
    }
    for circle in known.circles.iter().filter(|circle| !seen.contains(**circle)) {
        faults.push(format!("no circle any more; take it out of tests/house/floors/known.rs: {circle:?}"));
    }
}

/// The files that a file uses, directly or through others, with the file through which each was reached first.
fn reached<'a>(uses: &'a Edges, from: &'a str) -> BTreeMap<&'a str, &'a str> {
    let mut reached = BTreeMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(file) = open.pop_front() {
        let used = uses.range((file.to_owned(), String::new())..).take_while(|((from, _), _)| from == file);
        for ((_, to), _) in used {
            reached.entry(to.as_str()).or_insert_with(|| {
                open.push_back(to);
                file
            });
        }
    }
    reached
}

fn reference(imports: &Imports, faults: &mut Vec<String>) {
    let mut told = BTreeSet::new();
    for from in imports.files.iter().filter(|file| room(file) == "reference") {
        let reached = reached(&imports.edges, from);
        for &to in reached.keys().filter(|to| matches!(room(to), "gpu" | "tensor")) {
            // The shortest route, and only where it first enters the room.
            let mut route = vec![to];
            while let Some(&before) = reached.get(route[route.len() - 1])
                && before != from
            {
                route.push(before);
            }
            route.push(from);
            route.reverse();
            let entry =
                route.iter().position(|file| matches!(room(file), "gpu" | "tensor")) == Some(route.len() - 1);
            if entry && told.insert((route[route.len() - 2], to)) {
                faults.push(format!("src/{} reaches `{}`", route.join(" -> src/"), room(to)));
            }
        }
    }
}
