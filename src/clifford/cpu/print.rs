//! Printing multivectors, as in `1 + 2e12`.

use super::multivector::Multivector;
use std::fmt;

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
