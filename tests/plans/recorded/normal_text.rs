//! A shader's text in normal form: without comments and spaces, names replaced by their order, items sorted.
//!
//! Two texts with the same normal form are the same program. Renaming a variable, or moving a function, keeps it.

use std::collections::{HashMap, HashSet};

/// The normal form of a text in WGSL: an item in each line.
pub(super) fn normal(text: &str) -> String {
    let tokens = tokens(text);
    let items = items(&tokens);
    let declared = declared(&tokens);
    // What an item is, whatever the names in it stand for; and then, with the items that its names stand for.
    let shapes: HashMap<&str, String> = items
        .iter()
        .filter_map(|item| Some((name(item)?, renamed(item, &declared, &HashMap::new()))))
        .collect();
    let mut lines: Vec<String> = items.iter().map(|item| renamed(item, &declared, &shapes)).collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Words, numbers and single signs; no comments.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let mut rest = line.split("//").next().unwrap_or_default().trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = if is_word(first) {
                rest.find(|c| !is_word(c) && c != '.').unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            // A point belongs to a number, and parts a name from its member.
            let end = if first.is_ascii_digit() { end } else { rest[..end].find('.').unwrap_or(end).max(1) };
            tokens.push(&rest[..end]);
            rest = rest[end..].trim_start();
        }
    }
    tokens
}

/// The declarations of a module, each with its attributes.
fn items<'a>(tokens: &[&'a str]) -> Vec<Vec<&'a str>> {
    let (mut items, mut item, mut depth) = (Vec::new(), Vec::new(), 0);
    for &token in tokens {
        item.push(token);
        match token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(token, "}" | ";") {
            items.push(std::mem::take(&mut item));
        }
    }
    assert!(item.is_empty(), "a module ends with an item: {item:?}");
    items
}

/// The words that introduce a name.
const INTRODUCE: [&str; 6] = ["fn", "struct", "alias", "const", "let", "var"];

/// The name that an item declares.
fn name<'a>(item: &[&'a str]) -> Option<&'a str> {
    let at = item.iter().position(|token| INTRODUCE.contains(token))?;
    Some(introduced(&item[at..]))
}

/// The name after such a word, behind the address space of a `var<storage, read>`.
fn introduced<'a>(tokens: &[&'a str]) -> &'a str {
    let behind = match tokens[1] {
        "<" => 1 + tokens.iter().position(|token| *token == ">").expect("`<` is closed"),
        _ => 1,
    };
    tokens[behind]
}

/// All names that the text declares: items, locals, parameters and members.
fn declared<'a>(tokens: &[&'a str]) -> HashSet<&'a str> {
    let items = (0..tokens.len()).filter(|&at| INTRODUCE.contains(&tokens[at]));
    let items = items.map(|at| introduced(&tokens[at..]));
    let typed = tokens.windows(2).filter(|pair| pair[1] == ":" && !matches!(pair[0], ")" | "default"));
    items.chain(typed.map(|pair| pair[0])).collect()
}

/// An item whose declared names are numbers in the order of their first use, or the shapes of the items that they stand for.
fn renamed(item: &[&str], declared: &HashSet<&str>, shapes: &HashMap<&str, String>) -> String {
    let own = name(item);
    let mut numbers = HashMap::new();
    let words = item.iter().enumerate().map(|(at, &token)| {
        let is_member = at > 0 && item[at - 1] == ".";
        let is_swizzle = is_member && token.chars().all(|c| "xyzwrgba".contains(c));
        if !declared.contains(token) || token == "main" || is_swizzle {
            return token.to_owned();
        }
        match shapes.get(token).filter(|_| !is_member && own != Some(token)) {
            Some(shape) => format!("#{}", super::digest(shape)),
            None => {
                let next = numbers.len();
                format!("${}", numbers.entry((is_member, token)).or_insert(next))
            }
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn names_comments_and_the_order_of_items_do_not_count() {
    let text = "const N: u32 = 4u; // four\nfn twice(x: f32) -> f32 { let y = x * 2.5; return y; }\n\
        @compute @workgroup_size(N)\nfn main() { a[0] = twice(b.first); }\nvar<private> a: array<f32, N>;";
    let same = "var<private> out: array<f32,COUNT>;const COUNT: u32 = 4u;\n\
        @compute @workgroup_size(COUNT) fn main() { out[0] = double(b.first); }\n\
        fn double(value: f32) -> f32 {\n    let result = value * 2.5;\n    return result;\n}";
    assert_eq!(normal(text), normal(same));
    for (from, to) in
        [("2.5", "2.25"), ("4u", "5u"), ("x * ", "x + "), ("b.first", "b.second"), ("y = x", "x = y")]
    {
        assert_ne!(normal(text), normal(&text.replace(from, to)), "{from}");
    }
}
