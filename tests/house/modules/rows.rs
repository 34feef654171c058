//! What macros make of the rows of tables (`src/ops/table`).
//!
//! A file gives the rows to one of its macros: `function_rows!(define);`. The macro is read as if the table had no rows: that leaves
//! the items that it makes whatever the rows are. Items for each row are known by the name of the row; the table lists them.

use super::Files;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Item;

/// Macros that give the rows of a table to another.
const TABLES: [&str; 3] = ["activation_rows", "function_rows", "reduction_rows"];

/// Tables, and the macros that make a public function of each of their rows.
const FUNCTIONS: [(&str, &str, &[&str]); 2] = [
    ("function_rows", "ops/table/functions.rs", &["functions"]),
    ("reduction_rows", "ops/table/reductions.rs", &["functions", "definitions"]),
];

/// The items that macros of a file make if there are no rows, and the names of those that they make of rows.
pub(super) fn made(files: &Files, items: &[Item]) -> (Vec<Item>, Vec<String>) {
    let (mut made, mut names) = (Vec::new(), Vec::new());
    for item in items {
        let Item::Macro(call) = item else { continue };
        let is_table = TABLES.iter().any(|table| call.mac.path.is_ident(table));
        if !is_table || call.ident.is_some() {
            continue;
        }
        let writer = call.mac.tokens.to_string();
        let of_each = FUNCTIONS
            .iter()
            .find(|(table, _, writers)| call.mac.path.is_ident(table) && writers.contains(&writer.as_str()));
        if let Some((_, file, _)) = of_each {
            names.extend(rows(files[*file].parse().expect("the table has tokens")));
        }
        let defines = |item: &&Item| matches!(item, Item::Macro(item) if item.ident.as_ref().is_some_and(|it| *it == writer));
        if let Some(Item::Macro(rules)) = items.iter().find(defines) {
            let without = without_rows(last_group(rules.mac.tokens.clone()));
            let parsed = syn::parse2::<syn::File>(without).unwrap_or_else(|why| panic!("{writer}!: {why}"));
            made.extend(parsed.items);
        }
    }
    (made, names)
}

/// What the last arm of a macro writes.
fn last_group(rules: TokenStream) -> TokenStream {
    let groups = rules
        .into_iter()
        .filter_map(|token| if let TokenTree::Group(group) = token { Some(group) } else { None });
    groups.last().map_or(TokenStream::new(), |group| group.stream())
}

/// The text of a macro without its repetitions. `$name` becomes `name`.
fn without_rows(tokens: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '$' => {
                let is_repetition = matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                if is_repetition {
                    let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if "*+?".contains(p.as_char()));
                    tokens.by_ref().find(is_end);
                }
            }
            TokenTree::Group(group) => {
                kept.push(TokenTree::Group(Group::new(group.delimiter(), without_rows(group.stream()))));
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

/// The names of rows: `Variant: name takes ..`, or `Variant: name(operands) takes ..`.
fn rows(tokens: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut names = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let name = tokens[..at].iter().rev().find(|token| !matches!(token, TokenTree::Group(_)));
        match (token, name) {
            (TokenTree::Ident(takes), Some(TokenTree::Ident(name))) if takes == "takes" => {
                names.push(name.to_string());
            }
            (TokenTree::Group(group), _) => names.extend(rows(group.stream())),
            _ => {}
        }
    }
    names
}
