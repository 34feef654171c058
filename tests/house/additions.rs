//! What an addition costs: a function of elements takes three files, and an operation of its own six.
//!
//! Both are added to a copy of the tree, and rules read the copy. Without any one of its files, a rule fails and is named.

use crate::floors::{self, rust_files};
use crate::imports::Imports;
use crate::modules::Files;
use crate::{registered, surface};
use std::collections::BTreeSet;

mod compiled;
mod rules;

/// A change of a file: a text that goes before the first line with a mark, or a new file if there is no mark.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    path: &'static str,
    before: &'static str,
    text: &'static str,
}

const fn new(path: &'static str, text: &'static str) -> Change {
    Change { path, before: "", text }
}

const fn insert(path: &'static str, before: &'static str, text: &'static str) -> Change {
    Change { path, before, text }
}

/// `half`, a function of elements whose WGSL no built-in has. `TILEWISE_WRITE=1` writes the line of the book.
const FUNCTION: &[Change] = &[
    insert("src/ops/table/functions.rs", "            /// The absolute value", HALF),
    new("shaders/common/half.wgsl", include_str!("additions/half.wgsl")),
    insert("book/src/ops-reference.md", "| `abs` |", "| `half` | reals | exact | 1 | $g / 2$ |\n"),
];

const HALF: &str = "            /// Half of a value.
            Half: half(a) takes reals, within [0],
                wgsl [Real -> Real: shader(\"half\", \"half_of\", 1, [a])],
                value [0.5 * a] integers [] gradients [a => g * 0.5];

";

/// `double`, an operation with a kernel. `TILEWISE_WRITE=1` writes `tests/house/api.txt`, the line of the book and the records of plans.
const OPERATION: &[Change] = &[
    new("shaders/ops/double.wgsl", include_str!("additions/double.wgsl")),
    new("src/ops/double.rs", include_str!("additions/double.rs")),
    insert("src/ops/mod.rs", "pub(crate) mod elementwise;", "pub(crate) mod double;\n"),
    insert("src/ops/mod.rs", "pub(crate) use elementwise::broadcast_shape;", "pub use double::double;\n"),
    insert(
        "src/ops/mod.rs",
        "    pub use super::elementwise::calls::",
        "    pub use super::double::DoubleProblem;\n",
    ),
    insert("src/reference/shapes.rs", "/// A row-major tensor, repeated", DEFINITION),
    insert("tests/support/operations/shapes.rs", "        row(\"ops::one_hot\"", ROW),
    insert("tests/ops/shapes/padded.rs", "#[test]\nfn a_padded", TEST),
];

const DEFINITION: &str = "/// Doubles of integers, which wrap.
#[must_use]
pub fn double(x: &[i32]) -> Vec<i32> {
    x.iter().map(|x| x.wrapping_mul(2)).collect()
}

";

const ROW: &str =
    "        row(\"ops::double\", |it| ops::double(&it.at)).listed([\"i32\", \"exact\", \"1\", \"0\"]),\n";

const TEST: &str = include_str!("additions/double_test.txt");

/// The files that rules read: sources, shaders, tests of operations with their rows, and the book's table.
fn tree() -> Files {
    let mut tree = Files::new();
    for folder in ["src", "tests/support", "tests/ops"] {
        tree.extend(rust_files(folder).into_iter().map(|(file, text)| (format!("{folder}/{file}"), text)));
    }
    let root = support::root();
    for entry in std::fs::read_dir(root.join("shaders")).unwrap() {
        let folder = entry.unwrap().path();
        for entry in folder.read_dir().into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "wgsl") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                tree.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let page = "book/src/ops-reference.md";
    tree.insert(page.into(), std::fs::read_to_string(root.join(page)).unwrap());
    tree
}

/// The tree with these changes, without those of a file.
fn with(mut tree: Files, changes: &[Change], without: Option<&str>) -> Files {
    for Change { path, before, text } in changes.iter().filter(|change| Some(change.path) != without) {
        if before.is_empty() {
            assert!(tree.insert((*path).into(), (*text).into()).is_none(), "{path} is there already");
            continue;
        }
        let file = tree.get_mut(*path).unwrap_or_else(|| panic!("no file {path}"));
        let at =
            file.find(before).unwrap_or_else(|| panic!("{path} has no line `{before}`; change the addition"));
        file.insert_str(at, text);
    }
    tree
}

fn files(changes: &[Change]) -> BTreeSet<&'static str> {
    changes.iter().map(|change| change.path).collect()
}

#[test]
fn a_function_takes_three_files_and_an_operation_six() {
    let tree = tree();
    assert_eq!(rules::faults(&tree), Vec::<String>::new(), "the tree without additions");
    for (what, changes, most) in
        [("a function of elements", FUNCTION, 3), ("an operation of its own", OPERATION, 6)]
    {
        let files = files(changes);
        assert!(files.len() <= most, "{what} takes {} files, not {most}: {files:?}", files.len());
        assert_eq!(rules::faults(&with(tree.clone(), changes, None)), Vec::<String>::new(), "{what}");
        for file in &files {
            let faults = rules::faults(&with(tree.clone(), changes, Some(file)));
            assert!(!faults.is_empty(), "{what} passes every rule without {file}");
            println!("{what} without {file}: {}", faults[0]);
        }
        println!("{what} takes {} files", files.len());
    }
}
