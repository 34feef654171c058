//! The book's tables of operations: functions of elements and other operations, which their rows write, and activations.

use std::sync::Mutex;
use support::operations;
use tilewise::ops::{Activation, Function};
use tilewise::planning::ops::{described, gradient_formulas};
use tilewise::reference;

#[test]
fn the_book_lists_the_functions_of_the_table() {
    holds("functions", &functions());
}

#[test]
fn the_book_lists_the_operations_that_are_rows() {
    let rows = operations::all();
    let listed = rows.iter().filter_map(|row| Some((row.name.strip_prefix("ops::")?, row.book?)));
    let line = |(name, cells): (&str, [&str; 4])| format!("| `{name}` | {} |\n", cells.join(" | "));
    holds("shapes", &listed.map(line).collect::<String>());
}

/// Compares the lines between the marks of this name with a table, or writes it.
fn holds(name: &str, table: &str) {
    let start = format!("<!-- {name}: written by `TILEWISE_WRITE=1 cargo test --test house` -->\n");
    let end = format!("<!-- end of {name} -->");
    let path = support::root().join("book/src/ops-reference.md");
    let lock = WRITES.lock().expect("no test of a table has failed");
    let text = std::fs::read_to_string(&path).expect("the chapter on operations");
    let lines = || format!("book/src/ops-reference.md needs the lines\n{start}{end}");
    let from = text.find(&start).unwrap_or_else(|| panic!("{}", lines())) + start.len();
    let to = from + text[from..].find(&end).unwrap_or_else(|| panic!("{}", lines()));
    if std::env::var_os("TILEWISE_WRITE").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &text[..from], &text[to..])).unwrap();
        return;
    }
    drop(lock);
    assert!(
        text[from..to] == *table,
        "book/src/ops-reference.md lists other {name} than the rows; write it with \
         TILEWISE_WRITE=1 cargo test --test house\n{table}"
    );
}

/// The tests of tables write one file.
static WRITES: Mutex<()> = Mutex::new(());

/// The functions of tensors, a row each.
fn functions() -> String {
    let rows = Function::ALL.into_iter().filter_map(|function| {
        let (takes, units) = described(function);
        let types = match takes {
            "reals" => "reals",
            "all" => "all",
            "compared" => "all, to a mask",
            "masks" => "masks",
            _ if function == Function::Select => "a mask, and all",
            _ => return None,
        };
        let bound = match units {
            0 => "exact".to_owned(),
            1 => "$u$".to_owned(),
            units => format!("${units}u$"),
        };
        let gradient = gradient_formulas(function).unwrap_or_else(|| "0".to_owned());
        Some(format!("| `{function}` | {types} | {bound} | 1 | {gradient} |\n"))
    });
    let head = "| operation | types | bound | launches | gradient |\n|---|---|---|---|---|\n";
    head.to_owned() + &rows.collect::<String>()
}

/// With its Lipschitz constant in two digits, or as a fraction.
#[test]
fn the_book_lists_every_activation() {
    let read = |page: &str| std::fs::read_to_string(support::root().join("book/src").join(page)).unwrap();
    let (forms, operations) = (read("forms.md"), read("ops.md"));
    for activation in Activation::ALL {
        let name = format!("`{activation:?}`");
        assert!(operations.contains(&name), "ops.md does not name {name}");
        let row = forms.lines().find(|line| line.starts_with(&format!("| {name} |")));
        let row = row.unwrap_or_else(|| panic!("forms.md has no row of {name}"));
        let constant = row.trim_end_matches('|').rsplit('|').next().unwrap().trim();
        let constant: f64 = match constant.split_once('/') {
            Some((a, b)) => a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap(),
            None => constant.parse().unwrap(),
        };
        let want = reference::activation_lipschitz(activation);
        assert!((constant - want).abs() <= 0.005, "{row}: {want}");
    }
}
