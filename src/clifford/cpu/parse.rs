//! Multivectors as text, `1 + 2e12`: written and read.

use super::multivector::Multivector;
use crate::clifford::algebra::blades::Order;
use crate::clifford::algebra::signature::Signature;
use crate::{Error, Result};
use std::fmt;

impl Multivector {
    /// Reads a sum of numbers and blades, `1 - 2.5e12 + 1e-3*e3`: what [`fmt::Display`] writes, and more.
    ///
    /// A blade is an `e` with its vectors' digits behind it, in any order: `e21` is `-e12`. Always: `2e12` is twice the
    /// blade `e12`, and no power of ten. An exponent has a sign, `2e+12` or `1e-3`. Between number and blade there may be
    /// a `*`.
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
    /// [`Error::Input`] if the text is none, with its place, as [`misread`] shows it.
    pub fn parse(signature: Signature, text: &str) -> Result<Self> {
        let mut coefficients = vec![0.0; signature.size()];
        let (mut joint, mut at) = (1.0, 0);
        loop {
            let (own, start) = sign(text, at);
            let Some((term, end)) = term(signature, text, start)? else {
                return Err(misread(text, start, "a number or a blade is expected"));
            };
            coefficients[usize::from(term.mask)] += joint * own * term.value;
            at = after_spaces(text, end);
            joint = match text[at..].bytes().next() {
                None => return Self::new(&signature.blades().ordered(Order::Ascending), &coefficients),
                Some(b'+') => 1.0,
                Some(b'-') => -1.0,
                Some(_) => return Err(misread(text, at, "`+` or `-` is expected")),
            };
            at += 1;
        }
    }

    /// The literal of [`Multivector::parse`] that starts at a byte of a text, a number, a blade, or a blade right behind
    /// a number, and the byte behind it; none where neither starts. What parsers of larger expressions are built on.
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
    /// [`Error::Input`], as [`misread`] shows it, of a blade that has a vector twice or one that the algebra lacks, and of
    /// a number too large for f64.
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

/// The error of a text that is no expression, which shows the place: a caret under the character that starts at byte
/// `at`, or behind the last, and why.
#[must_use]
pub fn misread(text: &str, at: usize, why: impl fmt::Display) -> Error {
    // What ends a line or jumps along it would put the caret elsewhere.
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let before = " ".repeat(text.char_indices().take_while(|&(place, _)| place < at).count());
    Error::input("expression", format!("it does not parse here\n  {shown}\n  {before}^ {why}"))
}

/// A number times a blade.
struct Literal {
    value: f64,
    mask: u8,
}

/// A sign that may be there, and the byte behind it and spaces.
fn sign(text: &str, at: usize) -> (f64, usize) {
    let at = after_spaces(text, at);
    match text[at..].bytes().next() {
        Some(b'-') => (-1.0, after_spaces(text, at + 1)),
        Some(b'+') => (1.0, after_spaces(text, at + 1)),
        _ => (1.0, at),
    }
}

/// A literal, or a number, `*` and a blade.
fn term(signature: Signature, text: &str, at: usize) -> Result<Option<(Literal, usize)>> {
    let Some((Literal { value, mask }, end)) = literal(signature, text, at)? else {
        return Ok(None);
    };
    let star = after_spaces(text, end);
    if !text[star..].starts_with('*') {
        return Ok(Some((Literal { value, mask }, end)));
    }
    if mask != 0 {
        return Err(misread(text, star, "`+` or `-` is expected"));
    }
    let start = after_spaces(text, star + 1);
    match blade(signature, text, start)? {
        Some((sign, mask, end)) => Ok(Some((Literal { value: sign * value, mask }, end))),
        None => Err(misread(text, start, "a blade is expected")),
    }
}

fn literal(signature: Signature, text: &str, at: usize) -> Result<Option<(Literal, usize)>> {
    let length = number_length(&text[at..]);
    let behind = at + length;
    if length == 0 {
        let blade = blade(signature, text, at)?;
        return Ok(blade.map(|(value, mask, end)| (Literal { value, mask }, end)));
    }
    let value = text[at..behind].parse::<f64>().ok().filter(|value| value.is_finite());
    let Some(value) = value else {
        return Err(misread(text, at, format!("{} is too large a number", &text[at..behind])));
    };
    Ok(Some(match blade(signature, text, after_spaces(text, behind))? {
        Some((sign, mask, end)) => (Literal { value: sign * value, mask }, end),
        None => (Literal { value, mask: 0 }, behind),
    }))
}

/// The sign, the bitmask and the end of a blade whose vectors may be in any order.
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
            return Err(misread(text, at, format!("{signature} has no vector e{digit}")));
        };
        if mask & vector != 0 {
            return Err(misread(text, at, format!("{} has e{digit} twice", &text[at..end])));
        }
        sign *= signature.sign(mask, vector);
        mask |= vector;
    }
    Ok(Some((f64::from(sign), mask, end)))
}

/// Bytes of the number that a text starts with: digits, perhaps a point and digits, perhaps an exponent with a sign.
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

/// Digits that a text starts with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn after_spaces(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}
