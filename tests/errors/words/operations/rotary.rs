//! Tables of angles that cannot be, and operands that they do not rotate.

use crate::words::said::Said;
use support::laid::flat;
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::planning::ops::{RotaryPass, RotaryProblem, RotaryTable};
use tilewise::{DType, Layout};

#[test]
fn tables_that_cannot_be() {
    let mut said = Said::new();
    let gpu = said.gpu.clone();
    let new = |rotary_dims, base| Rotary::new(&gpu, RotaryPairs::Halves, rotary_dims, base, 3);
    said.says(|| new(7, 1e4));
    said.says(|| new(0, 1e4));
    for base in [0.0, -1.5, f64::INFINITY, f64::NAN] {
        said.says(|| new(8, base));
    }
    let at = |base, positions: &[usize]| {
        Rotary::at_positions(&gpu, RotaryPairs::Interleaved, 200, base, positions)
    };
    said.says(|| at(1e-320, &[7, 5]));
    assert!(at(f64::MIN_POSITIVE, &[7]).is_ok() && at(f64::MAX, &[usize::MAX]).is_ok());
    said.says(|| Rotary::new(&gpu, RotaryPairs::Halves, 2, 1e4, 1 << 40));
    said.says(|| Rotary::new(&gpu, RotaryPairs::Halves, 8, 1e4, usize::MAX));
    said.compare();
}

#[test]
fn operands_that_a_table_does_not_rotate() {
    let mut said = Said::new();
    let rotary = Rotary::new(&said.gpu, RotaryPairs::Halves, 6, 1e4, 9).unwrap();
    let (x, short, row) = (said.tensor(&[2, 4, 8]), said.tensor(&[4, 5]), said.tensor(&[8]));
    said.says(|| rotary.apply(&row, 0));
    said.says(|| rotary.backward(&short, 0));
    said.says(|| rotary.apply(&x, 6));
    said.says(|| rotary.backward(&x, usize::MAX));
    // An empty operand must fit as well.
    let empty = x.slice(0, ..0).unwrap();
    said.says(|| rotary.apply(&empty, 6));
    let of = RotaryTable { pairs: RotaryPairs::Halves, rotary_dims: 6, positions: 9 };
    let rows = flat(&[4, 8]);
    let problem = |of, rows: &Layout, dtype| RotaryProblem::new(RotaryPass::Forward, of, rows, dtype);
    said.says(|| problem(of, &rows, DType::I32));
    said.says(|| problem(of, &rows.slice(0, ..0).unwrap(), DType::F32));
    said.says(|| problem(RotaryTable { rotary_dims: 5, ..of }, &rows, DType::F32));
    said.compare();
}
