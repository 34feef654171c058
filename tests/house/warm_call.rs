//! The files that a cached product passes, as CONTRIBUTING lists them: few, and each is called from one before it.

use support::root;

/// The most files.
const MOST: usize = 12;

#[test]
fn a_cached_product_passes_the_listed_files() {
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the page");
    let section = page.split("### What a cached product passes").nth(1).expect("its section");
    let table = section.split("\n\n").find(|part| part.starts_with("| file |")).expect("its table");
    let rows: Vec<(&str, Vec<&str>)> = table.lines().skip(2).filter_map(row).collect();
    assert!((2..=MOST).contains(&rows.len()), "{} files", rows.len());
    let mut passed = String::new();
    for (file, functions) in rows {
        let text =
            std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for function in functions {
            let is_defined = [format!("fn {function}("), format!("fn {function}<")];
            assert!(is_defined.iter().any(|head| code.contains(head)), "{file} has no `{function}`");
            let is_called = [format!(".{function}("), format!("::{function}("), format!(" {function}(")];
            let is_first = passed.is_empty();
            assert!(
                is_first || is_called.iter().any(|call| passed.contains(call)),
                "no file above {file} calls `{function}`"
            );
        }
        // A function may call another one of its own file.
        passed += &code;
    }
}

/// The file of a row, and its functions.
fn row(line: &str) -> Option<(&str, Vec<&str>)> {
    let mut cells = line.split('|').skip(1).map(str::trim);
    let file = cells.next()?.trim_matches('`');
    Some((file, cells.next()?.split(", ").map(|name| name.trim_matches('`')).collect()))
}
