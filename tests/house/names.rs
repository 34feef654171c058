//! A name of a type means one thing in the crate: no two structs, enums, traits or aliases of `src` share one.

use crate::floors::sources;
use crate::modules::{Files, Module, modules};
use std::collections::BTreeMap;
use syn::Item;

/// Types that may share their name: the name, the file, and the reason.
const SHARED: &[(&str, &str, &str)] = &[
    ("MatrixFeatures", "gpu/extensions/absent.rs", "the same type where there is no Vulkan"),
    ("Across", "ops/lines.rs", OPS),
    ("Axes", "ops/reduce/axes.rs", OPS),
    ("Content", "ops/elementwise/expr.rs", OPS),
    ("Form", "ops/loss/cross_entropy/kernel.rs", OPS),
    ("Function", "ops/elementwise/function.rs", OPS),
    ("Join", "ops/copy/call.rs", OPS),
    ("Operand", "plan/operands.rs", OPS),
    ("Operands", "ops/norm/channels/plan.rs", OPS),
    ("Sealed", "ops/elementwise/map.rs", OPS),
    ("Stage", "ops/cumsum/kernel.rs", OPS),
    ("Steps", "ops/reduce/problem.rs", OPS),
    ("Writer", "ops/elementwise/written.rs", OPS),
];

/// The reason for types of `src/ops`, and of the operands that its plans are described by.
const OPS: &str = "`src/ops` is moved next";

#[test]
fn a_name_of_a_type_means_one_thing() {
    let faults = faults(&sources(), SHARED);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Names that several types have, a line each, and exceptions that need none any more.
fn faults(files: &Files, shared: &[(&str, &str, &str)]) -> Vec<String> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in modules(files) {
        for name in type_names(&module) {
            types.entry(name).or_default().push(module.file.clone());
        }
    }
    let is_excepted =
        |name: &str, file: &str| shared.iter().any(|(known, of, _)| [*known, *of] == [name, file]);
    let mut faults = Vec::new();
    for (name, files) in types.iter().filter(|(_, files)| files.len() > 1) {
        let own: Vec<_> = files.iter().filter(|file| !is_excepted(name, file)).collect();
        if own.len() > 1 {
            let listed: String = own.iter().map(|file| format!("\n    src/{file}")).collect();
            faults.push(format!("`{name}` is several types; name each by what it is:{listed}"));
        }
    }
    for (name, file, _) in shared {
        let found = types.get(*name).map_or(&[][..], |files| files);
        if found.len() < 2 || found.iter().all(|own| own != file) {
            faults.push(format!(
                "`{name}` of src/{file} shares no name any more; take it out of tests/house/names.rs"
            ));
        }
    }
    faults
}

/// The names of the types that a module defines.
fn type_names(module: &Module) -> impl Iterator<Item = String> {
    module.items.iter().filter_map(|item| {
        let name = match item {
            Item::Enum(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            _ => return None,
        };
        Some(name.to_string())
    })
}

#[test]
fn names_that_types_share_are_found() {
    let files = [
        ("lib.rs", "mod plan; mod gpu;"),
        ("plan.rs", "pub struct Access; pub struct Plan; impl Iterator for Plan { type Item = u32; }"),
        ("gpu.rs", "mod inner { type Access = u32; } impl Iterator for Gpu { type Item = u32; } struct Gpu;"),
    ];
    let files: Files = files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    assert_eq!(
        faults(&files, &[]),
        ["`Access` is several types; name each by what it is:\n    src/plan.rs\n    src/gpu.rs"]
    );
    assert_eq!(faults(&files, &[("Access", "gpu.rs", "a reason")]), [""; 0]);
    assert_eq!(
        faults(&files, &[("Access", "gpu.rs", "a reason"), ("Plan", "plan.rs", "a reason")]),
        ["`Plan` of src/plan.rs shares no name any more; take it out of tests/house/names.rs"]
    );
    let tests = ("gpu.rs".to_owned(), "#[cfg(test)] mod tests { struct Access; }".to_owned());
    assert_eq!(faults(&files.into_iter().chain([tests]).collect(), &[]), [""; 0]);
}
