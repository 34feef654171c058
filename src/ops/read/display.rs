//! Prints a tensor: type, shape, device, and the elements of a corner.

use crate::Result;
use crate::layout::Element;
use crate::tensor::Tensor;
use std::fmt;

/// The largest number of printed elements along an axis.
const MOST: usize = 6;

/// The type, shape and device of a tensor, and a corner of its elements: the first six along each of its last two axes, of the
/// first matrix. Floating-point numbers have four digits after the point, or the number in the format (`{:.2}`). If that would
/// not show their first digit, they are printed in scientific notation.
///
/// It reads these elements, so it submits all recorded launches and waits, as [`to_vec`](Tensor::to_vec) does. If they
/// cannot be read, it prints the error instead. In a browser, which allows no waiting, no elements are printed.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[1.0f32, -0.5, 0.25, 10.0], [2, 2])?;
/// let text = x.to_string();
/// assert!(text.starts_with("f32 [2, 2] on "));
/// assert!(text.ends_with("\n    1.0000  -0.5000\n    0.2500  10.0000"));
/// # Ok(())
/// # }
/// ```
impl<T: Element> fmt::Display for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} on {}", T::DTYPE, self.shape(), self.gpu().known_caps().adapter)?;
        if self.is_empty() || cfg!(target_arch = "wasm32") {
            return Ok(());
        }
        match self.corner() {
            Ok(corner) => corner.print(f, self.shape()),
            Err(error) => write!(f, "\n  {error}"),
        }
    }
}

/// The elements of a corner, row-major.
struct Corner<T> {
    elements: Vec<T>,
    cols: usize,
}

impl<T: Element> Tensor<T> {
    fn corner(&self) -> Result<Corner<T>> {
        let axes = self.shape().len();
        let mut corner = self.clone();
        for axis in 0..axes {
            let most = if axis + 2 < axes { 1 } else { MOST };
            corner = corner.slice(axis, ..most.min(self.shape()[axis]))?;
        }
        let cols = corner.shape().last().copied().unwrap_or(1);
        #[cfg(not(target_arch = "wasm32"))]
        let elements = corner.to_vec()?;
        #[cfg(target_arch = "wasm32")]
        let elements = Vec::new();
        Ok(Corner { elements, cols })
    }
}

impl<T: Element> Corner<T> {
    fn print(&self, f: &mut fmt::Formatter<'_>, shape: &[usize]) -> fmt::Result {
        let words = self.words(f.precision());
        let width = words.iter().map(String::len).max().unwrap_or(0);
        let [more_rows, more_cols] = [shape.len().checked_sub(2), shape.len().checked_sub(1)]
            .map(|axis| axis.is_some_and(|axis| shape[axis] > MOST));
        for row in words.chunks(self.cols) {
            f.write_str("\n ")?;
            row.iter().try_for_each(|word| write!(f, "  {word:>width$}"))?;
            if more_cols {
                f.write_str("  ...")?;
            }
        }
        if more_rows {
            f.write_str("\n   ...")?;
        }
        match shape.split_last_chunk::<2>().map(|(outer, _)| outer.iter().product::<usize>()) {
            Some(matrices) if matrices > 1 => write!(f, "\n  (the first of {matrices} matrices)"),
            _ => Ok(()),
        }
    }

    /// The printed elements.
    fn words(&self, precision: Option<usize>) -> Vec<String> {
        let digits = precision.unwrap_or(4);
        let numbers = self.elements.iter().map(|x| x.to_f64());
        if !T::DTYPE.is_float() {
            return numbers.map(|x| x.to_string()).collect();
        }
        // With four digits after the point every number but 0 shows its first digit; none has more than five before it.
        let is_plain = |x: f64| x == 0.0 || !x.is_finite() || (10f64.powi(-3)..1e5).contains(&x.abs());
        if numbers.clone().all(is_plain) {
            numbers.map(|x| format!("{x:.digits$}")).collect()
        } else {
            numbers.map(|x| format!("{x:.digits$e}")).collect()
        }
    }
}
