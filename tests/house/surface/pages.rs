//! The pages of the public API: few names outside the tables "to do X, call Y" of the modules, and no table that names what is
//! not there.

use super::surface;
use crate::floors::sources;
use std::collections::{BTreeMap, BTreeSet};
use tilewise::planning::ops::reduction_calls;

/// The most names of the crate root, and of a module's page outside its table.
const MOST: usize = 40;

/// What the lines of items begin with, after their attributes.
const ITEMS: [&str; 9] = ["mod", "use", "fn", "struct", "enum", "trait", "type", "const", "static"];

#[test]
fn pages_are_short_and_their_tables_are_right() {
    let files = sources();
    let lines = surface(&files);
    let functions = support::operations::functions();
    let mut items: Vec<(&str, &str)> = lines.iter().filter_map(|line| line.split_once(": ")).collect();
    items.extend(functions.iter().map(|row| (row.name, "fn")));
    let definitions: Vec<String> = reduction_calls::<f32>()
        .iter()
        .map(|(function, _)| format!("reference::{}", function.op()))
        .collect();
    items.push(("planning", "mod"));
    items.extend(definitions.iter().map(|path| (path.as_str(), "fn")));
    let paths: BTreeSet<&str> = items.iter().map(|(path, _)| *path).collect();
    let mut faults = Vec::new();
    for (module, names) in pages(&items) {
        let [file, list] = [".rs", "/mod.rs"].map(|end| format!("{}{end}", module.replace("::", "/")));
        let file = if module.is_empty() { "lib.rs".to_owned() } else { file };
        let Some(text) = files.get(&file).or_else(|| files.get(&list)) else { continue };
        let table = named(text);
        let below = |name: &str| format!("{module}::{name}");
        for name in
            table.iter().filter(|name| !paths.contains(**name) && !paths.contains(below(name).as_str()))
        {
            faults.push(format!("the table of `{module}` names `{name}`, which does not exist"));
        }
        let others: Vec<&str> =
            names.into_iter().filter(|name| module.is_empty() || !table.contains(name)).collect();
        if others.len() > MOST {
            faults.push(format!("`{module}` has {} names, more than {MOST}: {others:?}", others.len()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The names on the page of each module; that of the crate root is the empty one.
fn pages<'a>(items: &[(&'a str, &str)]) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let modules: BTreeSet<&str> =
        items.iter().filter(|(_, text)| *text == "mod").map(|(path, _)| *path).collect();
    let mut pages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in items {
        let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
        let is_item = ITEMS.iter().any(|item| text.split([' ', '<']).any(|word| word == *item));
        if is_item && (module.is_empty() || modules.contains(module)) {
            pages.entry(module).or_default().insert(name);
        }
    }
    pages
}

/// The names in the last column of the tables of a file's documentation.
fn named(text: &str) -> BTreeSet<&str> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! |")?.rsplit('|').nth(1));
    let names = rows.flat_map(|calls| calls.split('`').skip(1).step_by(2));
    names.map(|name| name.trim_start_matches("mod@").trim_end_matches("()")).collect()
}

#[test]
fn names_of_tables_and_pages_are_found() {
    let table =
        "//! | to | call |\n//! |---|---|\n//! | add `x` | [`add`], [`mod@reference`], [`norm()`] |\n";
    assert_eq!(named(table), BTreeSet::from(["add", "norm", "reference"]));
    let items = [
        ("ops", "mod"),
        ("ops::add", "fn add()"),
        ("ops::Axes", "#[non_exhaustive] enum"),
        ("Gpu", "struct"),
        ("Gpu::open", "fn open()"),
    ];
    let pages = pages(&items);
    assert_eq!(pages[""], BTreeSet::from(["Gpu", "ops"]));
    assert_eq!(pages["ops"], BTreeSet::from(["Axes", "add"]));
}
