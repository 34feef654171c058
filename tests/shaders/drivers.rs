//! What drivers compute otherwise than one would guess, and no shader asks of them. The book's page on drivers has what was
//! seen; `tests/device` checks the results of our own functions.

use super::rules::tokens;
use tilewise::planning::kernel::{INCLUDES, KERNELS};

/// Built-in functions that kernels replace by functions of this library: drivers may be far off, or wrong at infinities,
/// zeros and NaNs.
const REPLACED: [&str; 20] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "log",
    "log2",
    "pow",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "smoothstep",
    "quantizeToF16",
];

/// What a text has that no shader may have. `legal.rs` asks it of every kernel.
pub(super) fn found(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let words: Vec<&str> = tokens(&code).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = |ahead: usize| words.get(at + ahead).copied().unwrap_or_default();
        let is_defined = at > 0 && words[at - 1] == "fn";
        if REPLACED.contains(word) && next(1) == "(" && !is_defined {
            found.push(format!("{word}() of the driver"));
        }
        // naga writes an ordered comparison, which is false for a NaN.
        let is_whole = at == 0 || !matches!(words[at - 1], "." | "+" | "-" | "*" | "/" | "[");
        let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_name && is_whole && next(1) == "!=" && next(2) == *word && !matches!(next(3), "." | "[" | "(") {
            found.push(format!("{word} != {word}"));
        }
        // Mesa takes (a + b) - a for b, so that the rest of a rounded sum is 0.
        let of_sum = *word == "(" && next(2) == "+" && next(4) == ")" && next(5) == "-";
        if of_sum && (next(6) == next(1) || next(6) == next(3)) {
            found.push(format!("({} + {}) - {}", next(1), next(3), next(6)));
        }
        if matches!(*word, "subgroupElect" | "coherent" | "volatile")
            || *word == "enable" && next(1) == "subgroups"
        {
            found.push(format!("{word} {}", next(1)));
        }
        // naga rounds a literal of f16 twice, and refuses some. Short ones are exact.
        let is_long = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.len() > 4;
        if is_long(word) && !word.starts_with("0x") && word.ends_with('h') {
            found.push(format!("the literal {word}"));
        }
        if *word == "f16" && next(1) == "(" && is_long(next(2)) {
            found.push(format!("f16({})", next(2)));
        }
    }
    found
}

#[test]
fn shaders_ask_of_drivers_only_what_they_compute_alike() {
    for (name, text) in KERNELS.iter().chain(INCLUDES) {
        assert_eq!(found(text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_check_finds_what_it_looks_for() {
    for (text, want) in [
        ("let y = tanh(x);", "tanh() of the driver"),
        ("let y = a + pow (x, 2.0);", "pow() of the driver"),
        ("if x != x { return; }", "x != x"),
        ("let nan = v != v;", "v != v"),
        ("enable subgroups;", "enable subgroups"),
        ("@coherent var x: u32;", "coherent var"),
        ("let rest = b - ((a + b) - a);", "(a + b) - a"),
        ("let one = 1.000488282h;", "the literal 1.000488282h"),
        ("let one = f16(1.000488282);", "f16(1.000488282)"),
    ] {
        assert_eq!(found(text), [want], "{text}");
    }
    for text in [
        "fn exp(x: f32) -> f32 { return tanh_of(x); }",
        "let y = x; // tanh(x) is NaN on one driver, and x != x false",
        "let differs = a.x != x && x != a.x && x != x.y && b[x] != x;",
        "let h = f16(x) + f16(of_words[1]);",
        "let c = (a + b) - d;",
        "enable f16;",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}
