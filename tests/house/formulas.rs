//! Formulas of doc comments survive Markdown: `src/formulas.html` shows what is left of them on docs.rs.

use crate::floors::sources;

#[test]
fn formulas_survive_markdown() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (file, text) in sources() {
        for formula in docs(&text).iter().flat_map(|doc| formulas(doc)) {
            count += 1;
            faults.extend(fault(&formula).map(|why| format!("{file}: ${formula}$: {why}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 1000, "{count} formulas");
}

/// The docs of items: lines of comments that follow each other, without code.
fn docs(text: &str) -> Vec<String> {
    let (mut docs, mut doc, mut is_code) = (Vec::new(), String::new(), false);
    for line in text.lines().chain([""]) {
        let line = line.trim_start();
        match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            Some(line) if line.trim_start().starts_with("```") => is_code = !is_code,
            Some(line) if !is_code => doc += &format!("{line}\n"),
            Some(_) => {}
            None => {
                docs.push(std::mem::take(&mut doc));
                is_code = false;
            }
        }
    }
    docs.iter().map(|doc| doc.split('`').step_by(2).collect::<Vec<_>>().join("code")).collect()
}

fn formulas(doc: &str) -> Vec<String> {
    doc.replace("$$", "$").split('$').skip(1).step_by(2).map(String::from).collect()
}

/// What Markdown would do to a formula, if anything.
fn fault(formula: &str) -> Option<&'static str> {
    let chars: Vec<char> = formula.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let next = chars.get(at + 1).copied();
        match chars[at] {
            '\\' if next.is_some_and(|next| next == '\\' || next == '_') => at += 1,
            '\\' if next.is_some_and(|next| next.is_ascii_punctuation()) => {
                return Some("a backslash before punctuation is lost; write two");
            }
            '_' if before.is_none_or(|before| !before.is_alphanumeric()) => {
                return Some("an underscore after punctuation may begin emphasis; write \\_");
            }
            '*' => return Some("an asterisk may begin emphasis; write \\cdot or \\ast"),
            _ => {}
        }
        at += 1;
    }
    None
}

#[test]
fn what_markdown_would_change_is_found() {
    let docs = docs(
        "/// $a\\,b$ and `$c\\,d$`, $x_{i}$.\n/// ```\n/// $e\\,f$\n/// ```\nfn f() {}\n//! $$(g)_{i}$$\n",
    );
    let found: Vec<String> = docs.iter().flat_map(|doc| formulas(doc)).collect();
    assert_eq!(found, ["a\\,b", "x_{i}", "(g)_{i}"]);
    assert_eq!(found.iter().filter_map(|formula| fault(formula)).count(), 2);
    assert_eq!(["a\\\\,b", "\\tilde x_{i}", "(g)\\_{i}", "\\ x"].map(fault), [None; 4]);
    assert!(fault("a * b").is_some());
}

#[test]
fn the_documentation_is_found_where_docs_rs_has_it() {
    let root = format!("html_root_url = \"https://docs.rs/tilewise/{}\"", env!("CARGO_PKG_VERSION"));
    assert!(sources()["lib.rs"].contains(&root), "{root}");
}
