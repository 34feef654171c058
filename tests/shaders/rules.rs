//! Rules for shaders that naga does not check: what the grammar of WGSL refuses, operators side by side that have no order; and
//! what drivers compute slowly.

use std::collections::BTreeSet;
use tilewise::planning::kernel::{INCLUDES, KERNELS};

#[test]
fn shaders_put_parentheses_where_wgsl_has_no_order_of_operators() {
    // Every file as it is: what kernels paste stands in one of them. `legal.rs` looks at what becomes of them.
    for (name, text) in KERNELS.iter().chain(INCLUDES) {
        assert_eq!(mixes(text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn shaders_take_the_number_of_an_invocation_from_its_first_coordinate() {
    for (name, text) in KERNELS.iter().chain(INCLUDES) {
        // Lavapipe computes it from three coordinates, with a division of integers for each and for each invocation.
        assert!(!text.contains("local_invocation_index"), "{name}");
        let sizes = text.matches("@workgroup_size(").count();
        assert_eq!(
            text.matches("@workgroup_size(LANES)\n").count(),
            sizes,
            "{name} has workgroups of one axis"
        );
    }
}

/// `of_k` may be an offset, a vector or a range of k: a name begins with what the thing is, as `k_base` does.
#[test]
fn names_in_shaders_say_what_they_are() {
    let uniform = ["of_group"]; // of `ChannelDims`
    for (name, text) in KERNELS.iter().chain(INCLUDES) {
        let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let words = code.flat_map(|line| line.split(|c: char| !is_word(c)));
        let vague: BTreeSet<&str> =
            words.filter(|word| word.starts_with("of_") && !uniform.contains(word)).collect();
        assert_eq!(vague, BTreeSet::new(), "{name}");
    }
}

#[test]
fn the_check_for_operators_without_order_finds_them() {
    for bad in [
        "a & b == c",
        "a << 1u | b",
        "a + 1u << 2u",
        "a << 1u + b",
        "a | b & c",
        "a ^ b | c",
        "a & b && c",
        "a * b & c",
        "a >> 1u >> 2u",
        "a && b || c",
        "a < b == c",
        "!a & ~b + c",
        "f(a, x[i & 1u << 2u])",
        "vec2<u32>(a >> vec2<u32>(8u) & vec2<u32>(15u))",
        "array<vec4<u32>, N << 1u | 1u>()",
        "-a | b << (c)",
    ] {
        for place in ["let v = ?;", "fn f() { if ? { return; } }", "v += ?;", "return ?;"] {
            assert_eq!(mixes(&place.replace('?', bad)).len(), 1, "{place} {bad}");
        }
    }
    for good in [
        "a",
        "-a - -b * ~c",
        "a & b & ~c",
        "(a << 1u) | b",
        "a | (b & c) | f(d ^ e)",
        "(a & b) == c && !d",
        "a << 1u < b",
        "a + b * c >= d % 2u && (e || f) && g != h >> 1u",
        "bitcast<vec2<u32>>(v) >> vec2<u32>(16u)",
        "array<vec4<u32>, N / 4u>()[(i << 1u) + 1u].x & 1u",
        "select(vec4<f32>(), e, vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(n))",
        "1e-5f + 0x1eu - f(*p, &q[i - 1u])",
    ] {
        for place in ["let v = ?; // a | b & c", "for (var i = ?; i < n; i++) {}", "return ?;"] {
            assert_eq!(mixes(&place.replace('?', good)), Vec::<String>::new(), "{place} {good}");
        }
    }
}

/// What stands between two operands, and `-`, `*` and `&` before one.
const OPERATORS: [&str; 18] =
    ["<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">"];

/// What else has several characters.
const OTHERS: [&str; 13] = ["<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "->"];

/// Words behind which an operand comes.
const KEYWORDS: [&str; 7] = ["return", "if", "while", "case", "switch", "const_assert", "else"];

/// What is read of an expression between two brackets: inner brackets are operands.
#[derive(Default)]
struct Expression<'a> {
    text: String,
    operators: Vec<&'a str>,
    ends_in_operand: bool,
}

/// The expressions of a text whose operators the grammar has no order for.
pub(super) fn mixes(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = templates_as_brackets(&code.join("\n"));
    let mut mixes = Vec::new();
    let mut close = |expression: Expression| {
        if !is_ordered(&expression.operators) {
            mixes.push(expression.text);
        }
    };
    let mut open = vec![Expression::default()];
    for token in tokens(&code) {
        let top = open.last_mut().expect("every bracket that closes was opened");
        if token != "]" && token != ")" {
            top.text.push_str(token);
            top.text.push(' ');
        }
        match token {
            "(" | "[" => open.push(Expression::default()),
            ")" | "]" => {
                let inner = open.pop().expect("there is a top");
                let outer = open.last_mut().expect("every bracket that closes was opened");
                outer.text.push_str(&format!("{}{token} ", inner.text));
                outer.ends_in_operand = true;
                close(inner);
            }
            // Before an operand it is a sign, an address or what is behind one.
            _ if OPERATORS.contains(&token) => {
                if std::mem::take(&mut top.ends_in_operand) {
                    top.operators.push(token);
                }
            }
            "!" | "~" | "." => {}
            word if word.starts_with(is_word) && !KEYWORDS.contains(&word) => top.ends_in_operand = true,
            _ => close(std::mem::take(top)),
        }
    }
    open.into_iter().for_each(close);
    mixes
}

/// Whether the grammar has an expression of operands with these operators between them.
fn is_ordered(operators: &[&str]) -> bool {
    let any = |of: &[&str]| operators.iter().any(|operator| of.contains(operator));
    if any(&["&", "|", "^"]) {
        return operators.iter().all(|operator| *operator == operators[0]);
    }
    let shifts = |operator: &&str| matches!(*operator, "<<" | ">>");
    let comparison = |term: &[&str]| {
        let sides: Vec<&[&str]> =
            term.split(|operator| matches!(*operator, "<" | ">" | "<=" | ">=" | "==" | "!=")).collect();
        sides.len() <= 2 && sides.iter().all(|side| side.len() <= 1 || !side.iter().any(shifts))
    };
    !(any(&["&&"]) && any(&["||"]))
        && operators.split(|operator| matches!(*operator, "&&" | "||")).all(comparison)
}

/// The text with the `<` and `>` of template lists as brackets, found as the specification's "template list discovery"
/// says.
fn templates_as_brackets(code: &str) -> String {
    let mut brackets = BTreeSet::new();
    let mut pending: Vec<(usize, usize)> = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    let mut before = ""; // the token before this one
    while let Some(token) = code.get(at..).and_then(|rest| tokens(rest).next()) {
        let start = at + code[at..].find(token).expect("it is a part");
        at = start + token.len();
        match token {
            "<" if before.starts_with(char::is_alphabetic) => pending.push((start, depth)),
            // Several may close at once.
            ">" | ">>" | ">=" | ">>=" if pending.last().is_some_and(|(_, d)| *d == depth) => {
                let (opened, _) = pending.pop().expect("there is one");
                brackets.extend([opened, start]);
                at = start + 1;
            }
            "(" | "[" => depth += 1,
            ")" | "]" => {
                pending.retain(|(_, d)| *d < depth);
                depth = depth.saturating_sub(1);
            }
            "&&" | "||" => pending.retain(|(_, d)| *d < depth),
            "=" | ";" | "{" | ":" => {
                pending.clear();
                depth = 0;
            }
            _ => {}
        }
        before = token;
    }
    let bracket = |at: &usize| brackets.contains(at);
    let replaced = code.char_indices().map(|(at, c)| match c {
        '<' if bracket(&at) => '(',
        '>' if bracket(&at) => ')',
        _ => c,
    });
    replaced.collect()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The words, numbers, operators and other characters of a text.
pub(super) fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let length = if first.is_ascii_digit() {
            number_length(rest)
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            let of_several = OTHERS.iter().chain(&OPERATORS).find(|token| rest.starts_with(**token));
            of_several.map_or(first.len_utf8(), |token| token.len())
        };
        let (token, tail) = rest.split_at(length);
        rest = tail;
        Some(token)
    })
}

/// Digits, point and exponent: its sign is no operator.
fn number_length(rest: &str) -> usize {
    let exponent = if rest.starts_with("0x") { ['p', 'P'] } else { ['e', 'E'] };
    let mut before = ' ';
    rest.find(|c| {
        let within = is_word(c) || c == '.' || (matches!(c, '+' | '-') && exponent.contains(&before));
        before = c;
        !within
    })
    .unwrap_or(rest.len())
}
