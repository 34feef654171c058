//! Expands `//#unroll`: unrolls the loop below it, so that arrays of registers are indexed by literals, or decides the `if`.
//!
//! An index that becomes constant is written as its value. Compilers would compute it too, but naga's time for each expression
//! grows with the number of expressions in the function, and one index of a register tile has ten.

use super::identifiers::{is_identifier_char, tokens};
use std::collections::HashMap;

/// Limit of the unrolled characters. Those of nested loops count once for each level. No kernel needs nearly as many.
const MAX_CHARACTERS: usize = 1 << 23;
/// The deepest nesting of unrolled loops, and of parentheses in an expression. The code recurses into both.
const MAX_DEPTH: usize = 32;

/// Why a loop cannot be unrolled.
#[derive(Debug)]
pub struct UnrollError {
    /// The line of the loop's `for`, counted from 0.
    pub line: usize,
    /// The reason.
    pub why: String,
}

/// Unrolls every loop after a line `//#unroll`. In the result the loop's counter is a literal such as `3u`, and so is every index
/// of literals and the text's constants.
///
/// A loop must have the form `for (var i = FROM; i < TO; i++) {`. Instead of `i++` it may have `i += STEP` or `i *= STEP`.
/// `FROM`, `TO` and `STEP` are integer expressions of literals, of the text's constants and of the counters of unrolled loops
/// around this one. Outer loops are unrolled first. Instead of a loop there may be `if LEFT == RIGHT {` of such expressions without
/// an `else`: its block is kept or left out, so that no driver compiles a branch that is never taken.
///
/// # Errors
/// [`UnrollError`] if a loop has another form, is nested too deeply, or would become too long.
pub fn unroll(text: &str) -> Result<String, UnrollError> {
    let constants = constants(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::with_capacity(4 * text.len());
    let mut unroller = Unroller { constants: &constants, out: &mut out, left: MAX_CHARACTERS };
    unroller.unroll_lines(&lines, 0, MAX_DEPTH)?;
    Ok(out)
}

struct Unroller<'a> {
    constants: &'a HashMap<String, u64>,
    out: &'a mut String,
    /// The number of characters that may still be produced.
    left: usize,
}

impl Unroller<'_> {
    /// Unrolls the loops of consecutive lines and appends the result to `out`. `first` is the number of the first line.
    fn unroll_lines(&mut self, lines: &[&str], first: usize, depth: usize) -> Result<(), UnrollError> {
        let mut at = 0;
        while at < lines.len() {
            if lines[at].trim() != "//#unroll" {
                if depth == MAX_DEPTH {
                    self.out.push_str(lines[at]);
                } else {
                    push_with_indices(self.out, lines[at], self.constants);
                }
                self.out.push('\n');
                at += 1;
                continue;
            }
            let fault = |why| UnrollError { line: first + at + 1, why };
            let head = lines.get(at + 1).copied().unwrap_or_default();
            let header = Header::parse(head, self.constants).map_err(fault)?;
            let of_head = |why: &str| fault(format!("`{}` {why}", head.trim()));
            let deeper = depth.checked_sub(1).ok_or_else(|| of_head("is nested too deeply"))?;
            let body = lines.get(at + 2..closing_brace(lines, at + 1).map_err(fault)?);
            let body = body.ok_or_else(|| of_head("is closed on its own line"))?;
            let size: usize = body.iter().map(|line| line.len() + 1).sum();
            for i in header.values() {
                let left = self.left.checked_sub(size + 4);
                self.left = left.ok_or_else(|| of_head("is too long to unroll"))?;
                let body: Vec<String> =
                    body.iter().map(|line| substitute(line, &header.counter, i)).collect();
                let body: Vec<&str> = body.iter().map(String::as_str).collect();
                self.out.push_str("{\n");
                self.unroll_lines(&body, first + at + 2, deeper)?;
                self.out.push_str("}\n");
            }
            at += body.len() + 3;
        }
        Ok(())
    }
}

/// The parsed first line of a loop or of a condition.
struct Header {
    counter: String,
    from: u64,
    to: u64,
    step: CounterStep,
}

/// The change of a counter after each iteration.
#[derive(Clone, Copy)]
enum CounterStep {
    Plus(u64),
    Times(u64),
}

impl Header {
    fn parse(line: &str, constants: &HashMap<String, u64>) -> Result<Self, String> {
        let bad = || format!("cannot unroll `{}`", line.trim());
        let value = |text: &str| evaluate(text, constants).ok_or_else(bad);
        if let Some(condition) = line.trim().strip_prefix("if ").and_then(|s| s.strip_suffix(" {")) {
            let (left, right) = condition.split_once("==").ok_or_else(bad)?;
            let is_taken = value(left)? == value(right)?;
            // A loop of one turn or none, whose counter no line has.
            let (counter, step) = (String::new(), CounterStep::Plus(1));
            return Ok(Self { counter, from: 0, to: is_taken.into(), step });
        }
        let inside = line.trim().strip_prefix("for (").and_then(|s| s.strip_suffix(") {")).ok_or_else(bad)?;
        let parts: Vec<&str> = inside.split(';').map(str::trim).collect();
        let [start, condition, advance] = parts[..] else { return Err(bad()) };
        let (counter, from) = start.strip_prefix("var ").and_then(|s| s.split_once('=')).ok_or_else(bad)?;
        let counter = counter.trim().to_owned();
        let to = condition.strip_prefix(&format!("{counter} < ")).ok_or_else(bad)?;
        let advance = advance.strip_prefix(&counter).map(str::trim).ok_or_else(bad)?;
        let step = match (advance, advance.split_once('=')) {
            ("++", _) => CounterStep::Plus(1),
            (_, Some(("+", by))) => CounterStep::Plus(value(by)?.max(1)),
            (_, Some(("*", by))) => CounterStep::Times(value(by)?.max(2)),
            _ => return Err(bad()),
        };
        Ok(Self { from: value(from)?, to: value(to)?, step, counter })
    }

    /// The values of the counter.
    ///
    /// NOTE: a counter that is multiplied starts at 1 or above, because a loop from 0 would never end.
    fn values(&self) -> impl Iterator<Item = u64> + use<> {
        let (to, step) = (self.to, self.step);
        let first = if matches!(step, CounterStep::Times(_)) { self.from.max(1) } else { self.from };
        let next = move |&i: &u64| match step {
            CounterStep::Plus(by) => i.checked_add(by),
            CounterStep::Times(by) => i.checked_mul(by),
        };
        std::iter::successors(Some(first), next).take_while(move |&i| i < to)
    }
}

/// The index of the line whose brace closes the one at the end of line `open`.
fn closing_brace(lines: &[&str], open: usize) -> Result<usize, String> {
    let mut depth = 0i32;
    for (at, line) in lines.iter().enumerate().skip(open) {
        let code = line.split("//").next().unwrap_or_default();
        for c in code.chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
        }
        if depth == 0 {
            return Ok(at);
        }
    }
    Err(format!("`{}` is never closed", lines[open].trim()))
}

/// Replaces a counter by its value.
fn substitute(line: &str, counter: &str, value: u64) -> String {
    tokens(line).map(|token| if token == counter { format!("{value}u") } else { token.to_owned() }).collect()
}

/// Appends a line, in which each constant index is a literal.
fn push_with_indices(out: &mut String, line: &str, constants: &HashMap<String, u64>) {
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let (before, inside) = rest.split_at(open + 1);
        out.push_str(before);
        let end = inside.find(['[', ']']).unwrap_or(inside.len());
        let (index, after) = inside.split_at(end);
        match evaluate(index, constants) {
            Some(value) if after.starts_with(']') => out.push_str(&format!("{value}u")),
            _ => out.push_str(index),
        }
        rest = after;
    }
    out.push_str(rest);
}

/// The text's constants of u32: its lines `const NAME: u32 = expression;`, evaluated in order.
fn constants(text: &str) -> HashMap<String, u64> {
    let mut known = HashMap::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("const ") else { continue };
        let Some((head, value)) = rest.split_once('=') else { continue };
        let Some((name, "u32")) = head.split_once(':').map(|(name, of)| (name.trim(), of.trim())) else {
            continue;
        };
        let value = value.split(';').next().unwrap_or_default();
        if let Some(value) = evaluate(value, &known) {
            known.insert(name.to_owned(), value);
        }
    }
    known
}

/// The value of an integer expression of `+ - * / %`, parentheses, literals and names. None if it contains anything else, or if an
/// intermediate value does not fit in u32, which is an error in WGSL.
fn evaluate(text: &str, names: &HashMap<String, u64>) -> Option<u64> {
    let tokens: Vec<&str> = tokens(text).filter(|token| !token.trim().is_empty()).collect();
    let mut parser = Parser { tokens: &tokens, names, depth: MAX_DEPTH };
    let value = parser.sum()?;
    parser.tokens.is_empty().then_some(value)
}

/// A value that fits in u32.
fn of_u32(value: Option<u64>) -> Option<u64> {
    value.filter(|&value| u32::try_from(value).is_ok())
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    names: &'a HashMap<String, u64>,
    /// The number of parentheses that may still be opened inside the current ones.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn next_if(&mut self, among: &[&str]) -> Option<&'a str> {
        let (first, rest) = self.tokens.split_first()?;
        among.contains(first).then(|| {
            self.tokens = rest;
            *first
        })
    }

    fn sum(&mut self) -> Option<u64> {
        let mut value = self.product()?;
        while let Some(sign) = self.next_if(&["+", "-"]) {
            let rhs = self.product()?;
            value = of_u32(if sign == "+" { value.checked_add(rhs) } else { value.checked_sub(rhs) })?;
        }
        Some(value)
    }

    fn product(&mut self) -> Option<u64> {
        let mut value = self.factor()?;
        while let Some(sign) = self.next_if(&["*", "/", "%"]) {
            let rhs = self.factor()?;
            value = of_u32(match sign {
                "*" => value.checked_mul(rhs),
                "/" => value.checked_div(rhs),
                _ => value.checked_rem(rhs),
            })?;
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<u64> {
        if self.next_if(&["("]).is_some() {
            self.depth = self.depth.checked_sub(1)?;
            let value = self.sum()?;
            self.depth += 1;
            return self.next_if(&[")"]).map(|_| value);
        }
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        if first.starts_with(|c: char| c.is_ascii_digit()) {
            return of_u32(first.trim_end_matches('u').parse().ok());
        }
        first.starts_with(is_identifier_char).then(|| self.names.get(*first).copied()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::{UnrollError, unroll};

    #[test]
    fn nested_loops_are_unrolled_with_literal_counters() {
        let text = "const N: u32 = 4u;\nconst H: u32 = N / 2u;\n//#unroll\n\
                    for (var i = 0u; i < H; i++) {\nx[i] = 1;\n//#unroll\n\
                    for (var j = i; j < N; j += 2u) {\ny[i][j] = i_j;\n}\n}\nend\n";
        let want = "const N: u32 = 4u;\nconst H: u32 = N / 2u;\n{\nx[0u] = 1;\n{\ny[0u][0u] = i_j;\n}\n\
                    {\ny[0u][2u] = i_j;\n}\n}\n{\nx[1u] = 1;\n{\ny[1u][1u] = i_j;\n}\n{\ny[1u][3u] = i_j;\n}\n}\nend\n";
        assert_eq!(unroll(text).unwrap(), want);
    }

    #[test]
    fn constant_indices_are_literals() {
        let text = "const N: u32 = 4u;\nconst S: i32 = 1;\nx[N - 1u] = 0;\n//#unroll\nfor (var i = 1u; i < 2u; i++) {\n\
                    x[(i * N + 1u) % 3u][k * N] = y[z[i + N]] - w[N - 5u] + w[S] + w[65536u * 65536u / 8u] + v[]; u[i\n}\n";
        let want = "const N: u32 = 4u;\nconst S: i32 = 1;\nx[N - 1u] = 0;\n{\n\
                    x[2u][k * N] = y[z[5u]] - w[N - 5u] + w[S] + w[65536u * 65536u / 8u] + v[]; u[1u\n}\n";
        assert_eq!(unroll(text).unwrap(), want);
    }

    #[test]
    fn a_counter_may_double() {
        let text =
            "const N: u32 = 8u;\n//#unroll\nfor (var half = 1u; half < N; half *= 2u) {\nx[half] = 1;\n}\n";
        let want = "const N: u32 = 8u;\n{\nx[1u] = 1;\n}\n{\nx[2u] = 1;\n}\n{\nx[4u] = 1;\n}\n";
        assert_eq!(unroll(text).unwrap(), want);
    }

    #[test]
    fn a_condition_keeps_its_block_or_drops_it() {
        let text = "const N: u32 = 2u;\n//#unroll\nfor (var i = 0u; i < 2u; i++) {\n//#unroll\nif i * N == 2u {\nx[i] = 1;\n}\n}\n";
        assert_eq!(unroll(text).unwrap(), "const N: u32 = 2u;\n{\n}\n{\n{\nx[1u] = 1;\n}\n}\n");
        for head in ["if n == 1u {", "if 1u < 2u {"] {
            assert!(unroll(&format!("//#unroll\n{head}\n}}\n")).unwrap_err().why.contains(head));
        }
    }

    /// `tests/fuzz` found the first case, in which `unroll` never returned. The others were found by reading the code.
    #[test]
    fn a_loop_that_is_too_long_or_nested_too_deeply_is_an_error() {
        let of = |to: &str, body: &str| format!("//#unroll\nfor (var i = 0u; i < {to}; i++) {{\n{body}}}\n");
        assert!(unroll(&of("4294967295u", "x[i] = 1;\n")).unwrap_err().why.contains("too long"));
        let deep = (0..40).fold(String::new(), |body, _| of("1u", &body));
        assert!(unroll(&deep).unwrap_err().why.contains("too deeply"));
        assert!(unroll(&of(&format!("{}1u{}", "(".repeat(40), ")".repeat(40)), "")).is_err());
        let closed = "//#unroll\nfor (var }i = 0u; }i < 1u; }i++) {\n";
        assert!(unroll(closed).unwrap_err().why.contains("closed"));
    }

    #[test]
    fn a_loop_without_constant_bounds_is_an_error() {
        let text = "//#unroll\nfor (var i = 0u; i < 2u; i++) {\nx;\n//#unroll\nfor (var j = i; j < dims.k; j++) {\n}\n}\n";
        let UnrollError { line, why } = unroll(text).unwrap_err();
        assert!(line == 4 && why.contains("j < dims.k"), "{line}: {why}");
    }
}
