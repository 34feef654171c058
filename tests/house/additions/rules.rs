//! The rules that an addition has to pass, over a tree as text.

use super::{Files, Imports, floors, registered, surface};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tilewise::planning::ops::reduction_calls;

/// What breaks the first rule that is broken, a line each, with the rule's name.
pub(super) fn faults(tree: &Files) -> Vec<String> {
    let src = of_folder(tree, "src/");
    let rows = rows(tree);
    // What no parser reads comes first.
    let texts: [Rule<'_>; 4] = [
        ("modules", &|| strays(&src)),
        ("shaders", &|| shaders(tree)),
        ("tests", &|| untested(tree, &rows)),
        ("book", &|| book(tree)),
    ];
    let lines = OnceCell::new();
    let surface = || lines.get_or_init(|| catch_unwind(AssertUnwindSafe(|| surface::surface(&src))));
    let lines = || surface().as_ref().map_or(&[][..], |lines| lines);
    let parsed: [Rule<'_>; 4] = [
        ("modules", &|| {
            surface().as_ref().err().map(|_| "the files form no crate".to_owned()).into_iter().collect()
        }),
        ("definitions", &|| definitions(&src, lines())),
        ("rows", &|| registered::missing(lines(), &rows)),
        ("floors", &|| floors::faults(&Imports::of(&src), &floors::known::KNOWN)),
    ];
    let broken = texts.into_iter().chain(parsed).map(|(rule, faults)| named(rule, faults()));
    broken.into_iter().find(|faults| !faults.is_empty()).unwrap_or_default()
}

/// A rule: its name, and what breaks it.
type Rule<'a> = (&'static str, &'a dyn Fn() -> Vec<String>);

fn named(rule: &str, faults: Vec<String>) -> Vec<String> {
    faults.into_iter().map(|fault| format!("{rule}: {fault}")).collect()
}

fn of_folder(tree: &Files, folder: &str) -> Files {
    let inside =
        tree.iter().filter_map(|(file, text)| Some((file.strip_prefix(folder)?.to_owned(), text.clone())));
    inside.collect()
}

/// Files that no other declares as a module.
fn strays(src: &Files) -> Vec<String> {
    let is_declared = |file: &str| {
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parents = [format!("{folder}/mod.rs"), format!("{folder}.rs"), "lib.rs".to_owned()];
        let declared =
            |parent: &String| src.get(parent).is_some_and(|text| text.contains(&format!("mod {name};")));
        file == "lib.rs" || parents.iter().any(declared)
    };
    let strays = src.keys().filter(|file| file.ends_with(".rs") && !is_declared(file));
    strays.map(|file| format!("src/{file} is in no `mod`")).collect()
}

/// Kernels and parts that nothing names, and names without a file.
fn shaders(tree: &Files) -> Vec<String> {
    let sources: String = of_folder(tree, "src/").into_values().collect();
    let shaders = of_folder(tree, "shaders/");
    let texts: String = shaders.values().map(String::as_str).collect();
    let mut faults = Vec::new();
    for (file, text) in &shaders {
        let path = file.trim_end_matches(".wgsl");
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_kernel = text.contains("\nfn main(");
        let directives = ["import", "slot"].map(|kind| format!("//#{kind} {name}"));
        let is_named = sources.contains(&format!("\"{path}\"")) || sources.contains(&format!("\"{name}\""));
        if !is_named
            && (is_kernel
                || directives
                    .iter()
                    .all(|directive| !texts.contains(directive) && !sources.contains(directive)))
        {
            faults.push(format!("nothing in src names shaders/{file}"));
        }
    }
    let folders: BTreeSet<&str> = shaders.keys().filter_map(|file| file.split('/').next()).collect();
    // Tests in `src` name kernels that are not there, of folders that are not there either.
    let is_of_a_folder =
        |name: &&str| name.split_once('/').is_some_and(|(folder, _)| folders.contains(folder));
    let is_there =
        |name: &str| shaders.keys().any(|file| format!("/{file}").ends_with(&format!("/{name}.wgsl")));
    let kernels = called(&sources, "Kernel::new(\"").filter(is_of_a_folder);
    let missing = called(&sources, "shader(\"").chain(kernels).filter(|name| !is_there(name));
    faults.extend(missing.map(|name| format!("src names {name}.wgsl, which shaders lacks")));
    faults
}

/// The names that follow a text, up to the next quote.
fn called<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let names = text.split(before).skip(1).filter_map(|rest| rest.split('"').next());
    names.filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "/_".contains(c)))
}

/// Definitions that documentation names and `reference` has not.
fn definitions(src: &Files, lines: &[String]) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = src.values().flat_map(|text| text.split("(crate::reference::").skip(1));
    let names: BTreeSet<&str> = named.filter_map(|rest| rest.split(|c| !is_name(c)).next()).collect();
    let is_listed = |name: &str| lines.iter().any(|line| line.starts_with(&format!("reference::{name}:")));
    // Those of the table of reductions.
    let is_a_row = |name: &str| reduction_calls::<f32>().iter().any(|(function, _)| function.op() == name);
    let is_there = |name: &&str| is_listed(name) || is_a_row(name);
    let missing = names.into_iter().filter(|name| !is_there(name));
    missing.map(|name| format!("`reference` has no definition `{name}`")).collect()
}

/// The names of the rows in `tests/support/operations`.
fn rows(tree: &Files) -> Vec<String> {
    let files = tree.iter().filter(|(file, _)| file.starts_with("tests/support/operations/"));
    files.flat_map(|(_, text)| called_any(text)).collect()
}

fn called_any(text: &str) -> Vec<String> {
    let called = ["row(\"", " of(\""].into_iter().flat_map(|call| text.split(call).skip(1));
    called.filter_map(|rest| Some(rest.split('"').next()?.to_owned())).collect()
}

/// Operations of rows that write the book's lines, which no test in `tests/ops` compares with a definition.
fn untested(tree: &Files, rows: &[String]) -> Vec<String> {
    let tests: String = of_folder(tree, "tests/ops/").into_values().collect();
    let listed = called_any(&tree["tests/support/operations/shapes.rs"]);
    let operations =
        rows.iter().filter(|row| listed.contains(row)).filter_map(|row| row.strip_prefix("ops::"));
    let is_compared = |name: &&str| {
        [format!("ops::{name}"), format!("reference::{name}")]
            .iter()
            .all(|call| tests.contains(&format!("{call}(")) || tests.contains(&format!("{call}::<")))
    };
    operations
        .filter(|name| !is_compared(name))
        .map(|name| format!("no test in tests/ops compares `{name}`"))
        .collect()
}

/// Functions of the table that the book does not list, and the other way round.
fn book(tree: &Files) -> Vec<String> {
    let page = &tree["book/src/ops-reference.md"];
    let table = page.split("<!-- functions").nth(1).and_then(|rest| rest.split("<!-- end").next());
    let lines = table.unwrap_or_default().split("\n| `").skip(1);
    let listed: BTreeSet<&str> = lines.filter_map(|line| line.split('`').next()).collect();
    // A row begins as `Sqrt: sqrt(a) takes reals`. Those of values may have no function of tensors.
    let rows = tree["src/ops/table/functions.rs"].lines().filter(|line| line.contains(") takes "));
    let name = |row: &&'_ str| {
        row.split(": ").nth(1).and_then(|row| row.split('(').next()).unwrap_or_default().to_owned()
    };
    let (of_values, others): (Vec<&str>, Vec<&str>) = rows.partition(|row| row.contains(") takes values"));
    let [of_values, others] =
        [of_values, others].map(|rows| rows.iter().map(name).collect::<BTreeSet<String>>());
    let unlisted = others.iter().filter(|name| !listed.contains(name.as_str()));
    let unlisted = unlisted.map(|name| format!("ops-reference.md does not list the function `{name}`"));
    let gone = listed.iter().filter(|name| !others.contains(**name) && !of_values.contains(**name));
    unlisted.chain(gone.map(|name| format!("ops-reference.md lists `{name}`, which is no row"))).collect()
}
