//! Random operators, applied to the columns of a matrix.

use crate::case::{Case, Operator};
use crate::fits::{self, Patience};
use crate::planned::check_time;
use crate::ready::{Checked, Ready, ran};
use crate::sample::Sample;
use tilewise::reference::{self, compare, gamma};
use tilewise::sketch::{Direction, Sketch};
use tilewise::{Fill, Gpu, Real, Result};

/// The least normal f32: smaller numbers may be flushed to zero.
const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Makes a sketch ready.
pub(super) fn ready<T: Real>(gpu: &Gpu, case: &Case, patience: Patience) -> Result<Ready> {
    let [m, n, k] = case.shape;
    let operator = case.operator.unwrap_or(Operator::Gaussian);
    let sketch = Sketch::new(operator.kind(), [m, k], 1)?;
    let x = Fill::Uniform.values::<T>(k * n, 2);
    let turns = fits::turns(gpu, case)?;
    let operands = turns.sets(|| gpu.tensor(&x, [k, n]))?;
    let plan = sketch.plan(Direction::Forward, &operands[0], 0)?;
    check_time(&plan, patience)?;
    let (y, plan) = ran(gpu, plan, || sketch.apply(&operands[0], 0))?;
    let checked = check(&sketch, operator, &x, &y.to_vec()?, case.shape);
    Ready::new(gpu, plan, checked, turns, move |at| sketch.apply(&operands[at % operands.len()], 0).map(drop))
}

/// Compares the result with the product of the operator's entries and the operand.
fn check<T: Real>(sketch: &Sketch, operator: Operator, x: &[T], y: &[f32], [m, n, k]: [usize; 3]) -> Checked {
    let sample = Sample::new([m, n], k);
    let s: Vec<f32> =
        sample.rows.iter().flat_map(|&row| (0..k).map(move |column| sketch.entry(row, column))).collect();
    #[expect(clippy::cast_possible_truncation, reason = "each of these types is a part of f32")]
    let x: Vec<f32> = sample.columns_of(x, n).into_iter().map(|x| x.to_f64() as f32).collect();
    let size = [sample.rows.len(), sample.columns.len(), k];
    let want = reference::gemm(&s, &x, size);
    let roundings: Vec<usize> = s.chunks(k).map(|row| roundings(operator, row)).collect();
    let entries = sample.entries_of(y, n).into_iter().enumerate().map(|(at, got)| {
        let rounded = roundings[at / size[1]];
        // Sums, their scale, and the entries of the operator, which are rounded themselves.
        let bound = (gamma(rounded + 2) + gamma(1)) * want.magnitude[at] + rounded as f64 * LEAST_NORMAL;
        (f64::from(got), want.value[at], bound)
    });
    Checked { name: sample.name, found: compare(entries) }
}

/// The sums of an entry of the result that are rounded, one after the other.
fn roundings(operator: Operator, row: &[f32]) -> usize {
    match operator {
        Operator::Gaussian => row.len(),
        Operator::Hadamard => row.len().next_power_of_two().trailing_zeros() as usize,
        Operator::Sjlt => {
            // An element that was drawn twice has an entry of twice the unit, or none if the signs differ.
            let entries = || row.iter().map(|entry| f64::from(entry.abs())).filter(|&entry| entry > 0.0);
            let unit = entries().fold(f64::INFINITY, f64::min);
            let drawn: f64 = entries().map(|entry| (entry / unit).round()).sum();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let drawn = drawn as usize;
            drawn + 2
        }
    }
}
