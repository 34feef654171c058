//! Parsing multivectors such as `1 + 2e12`.

use super::multivector::Multivector;
use crate::clifford::algebra::blades::BladeOrder;
use crate::clifford::algebra::signature::Signature;
use crate::{Error, Result};
use std::fmt;

impl Multivector {
    /// Parses a sum of numbers and blades, such as `1 - 2.5e12 + 1e-3*e3`. It reads everything that [`fmt::Display`]
    /// writes.
    ///
    /// A blade is an `e` followed by the digits of its vectors, in any order: `e21` is `-e12`. `2e12` is always twice
    /// the blade `e12`, not a power of ten. An exponent has a sign: `2e+12` or `1e-3`. A number and its blade may be
    /// separated by a `*`.
    ///
    /// ```
    /// use tilewise::clifford::{Multivector, Signature};
    ///
    /// # fn main() -> tilewise::Result<()> {
    /// let x = Multivector::parse(Signature::CL3, "1 + 2e21")?;
    /// assert_eq!(x.to_string(), "1 - 2e12");
    /// let error = Multivector::parse(Signature::CL3, "1 + 2e14").unwrap_err().to_string();
    /// assert_eq!(error, "expression: it does not parse here
    ///   1 + 2e14
    ///        ^ Cl(3,0,0) has no vector e4");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Input`] if the text does not parse; [`parse_error`] describes its form.
    pub fn parse(signature: Signature, text: &str) -> Result<Self> {
        let mut coefficients = vec![0.0; signature.size()];
        let (mut joint, mut at) = (1.0, 0);
        loop {
            let (own, start) = sign(text, at);
            let Some((term, end)) = term(signature, text, start)? else {
                return Err(parse_error(text, start, "a number or a blade is expected"));
            };
            coefficients[usize::from(term.mask)] += joint * own * term.value;
            at = after_spaces(text, end);
            joint = match text[at..].bytes().next() {
                None => return Self::new(&signature.blades().ordered(BladeOrder::Ascending), &coefficients),
                Some(b'+') => 1.0,
                Some(b'-') => -1.0,
                Some(_) => return Err(parse_error(text, at, "`+` or `-` is expected")),
            };
            at += 1;
        }
    }

    /// Parses the literal at byte `at` of a text: a number, a blade, or a number followed by a blade. Returns its value
    /// and the index of the byte after it, or `None` if there is no literal. Parsers of larger expressions can use it.
    ///
    /// ```
    /// use tilewise::clifford::{Multivector, Signature};
    ///
    /// # fn main() -> tilewise::Result<()> {
    /// let read = |at| Multivector::literal(Signature::CL3, "norm(3e12)", at);
    /// assert_eq!(read(5)?, Some((Multivector::parse(Signature::CL3, "3e12")?, 9)));
    /// assert_eq!(read(0)?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Input`] for a blade with a repeated vector or a vector that the algebra lacks, and for a number too
    /// large for f64; [`parse_error`] describes its form.
    pub fn literal(signature: Signature, text: &str, at: usize) -> Result<Option<(Self, usize)>> {
        let Some(literal) = text.get(at..).map(|_| literal(signature, text, at)) else {
            return Ok(None);
        };
        let Some((Literal { value, mask }, end)) = literal? else {
            return Ok(None);
        };
        Ok(Some((Self::blade(signature, mask)?.scaled(value), end)))
    }
}

/// The error of a text that does not parse. It shows the text, a caret under the character at byte `at` or after the
/// last one, and the reason.
#[must_use]
pub fn parse_error(text: &str, at: usize, why: impl fmt::Display) -> Error {
    // Control characters, such as line breaks and tabs, would misplace the caret.
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let before = " ".repeat(text.char_indices().take_while(|&(place, _)| place < at).count());
    Error::input("expression", format!("it does not parse here\n  {shown}\n  {before}^ {why}"))
}

/// A number times a blade.
struct Literal {
    value: f64,
    mask: u8,
}

/// An optional sign, and the index after it and the following spaces.
fn sign(text: &str, at: usize) -> (f64, usize) {
    let at = after_spaces(text, at);
    match text[at..].bytes().next() {
        Some(b'-') => (-1.0, after_spaces(text, at + 1)),
        Some(b'+') => (1.0, after_spaces(text, at + 1)),
        _ => (1.0, at),
    }
}

/// A literal, or a number, `*` and a blade; and the index after it.
fn term(signature: Signature, text: &str, at: usize) -> Result<Option<(Literal, usize)>> {
    let Some((Literal { value, mask }, end)) = literal(signature, text, at)? else {
        return Ok(None);
    };
    let star = after_spaces(text, end);
    if !text[star..].starts_with('*') {
        return Ok(Some((Literal { value, mask }, end)));
    }
    if mask != 0 {
        return Err(parse_error(text, star, "`+` or `-` is expected"));
    }
    let start = after_spaces(text, star + 1);
    match blade(signature, text, start)? {
        Some((sign, mask, end)) => Ok(Some((Literal { value: sign * value, mask }, end))),
        None => Err(parse_error(text, start, "a blade is expected")),
    }
}

/// A literal, and the index after it.
fn literal(signature: Signature, text: &str, at: usize) -> Result<Option<(Literal, usize)>> {
    let length = number_length(&text[at..]);
    let end = at + length;
    if length == 0 {
        let blade = blade(signature, text, at)?;
        return Ok(blade.map(|(value, mask, end)| (Literal { value, mask }, end)));
    }
    let value = text[at..end].parse::<f64>().ok().filter(|value| value.is_finite());
    let Some(value) = value else {
        return Err(parse_error(text, at, format!("{} is too large a number", &text[at..end])));
    };
    Ok(Some(match blade(signature, text, after_spaces(text, end))? {
        Some((sign, mask, end)) => (Literal { value: sign * value, mask }, end),
        None => (Literal { value, mask: 0 }, end),
    }))
}

/// The sign, the bitmask and the end of a blade with its vectors in any order.
fn blade(signature: Signature, text: &str, at: usize) -> Result<Option<(f64, u8, usize)>> {
    let digits = digits(text[at..].strip_prefix('e').unwrap_or_default());
    if digits == 0 {
        return Ok(None);
    }
    let end = at + 1 + digits;
    let (mut sign, mut mask) = (1, 0);
    for digit in text[at + 1..end].chars() {
        let named = (0..signature.dimension()).find(|&i| signature.digit(i).to_string() == digit.to_string());
        let Some(vector) = named.map(|i| 1 << i) else {
            return Err(parse_error(text, at, format!("{signature} has no vector e{digit}")));
        };
        if mask & vector != 0 {
            return Err(parse_error(text, at, format!("{} has e{digit} twice", &text[at..end])));
        }
        sign *= signature.sign(mask, vector);
        mask |= vector;
    }
    Ok(Some((f64::from(sign), mask, end)))
}

/// The length in bytes of the number at the start of a text: digits, an optional fraction, and an optional signed
/// exponent.
fn number_length(text: &str) -> usize {
    let mut length = digits(text);
    if length == 0 {
        return 0;
    }
    let fraction = digits(text[length..].strip_prefix('.').unwrap_or_default());
    if fraction > 0 {
        length += 1 + fraction;
    }
    let exponent = text[length..].strip_prefix("e-").or_else(|| text[length..].strip_prefix("e+"));
    match digits(exponent.unwrap_or_default()) {
        0 => length,
        exponent => length + 2 + exponent,
    }
}

/// The number of digits at the start of a text.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The index after any spaces.
fn after_spaces(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

impl fmt::Display for Multivector {
    /// Writes `1 + 2e12 - e123`, in short-lex order. Numbers have the fewest digits that identify them, or the digits
    /// of a precision such as `{:.3}`. Terms that round to zero are omitted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        let magnitude = |x: f64| match precision {
            Some(digits) => format!("{:.digits$}", x.abs()),
            None => x.abs().to_string(),
        };
        let mut is_first = true;
        for &mask in self.signature().blades().masks() {
            let x = self.coefficient(mask);
            let number = magnitude(x);
            if number.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
                continue;
            }
            f.write_str(match (is_first, x < 0.0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            })?;
            match mask {
                0 => f.write_str(&number)?,
                _ if number == "1" => f.write_str(&self.signature().name(mask))?,
                _ => write!(f, "{number}{}", self.signature().name(mask))?,
            }
            is_first = false;
        }
        if is_first { f.write_str(&magnitude(0.0)) } else { Ok(()) }
    }
}
