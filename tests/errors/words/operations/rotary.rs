//! Tables of angles that cannot be, and operands that they do not rotate.

use super::Said;
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::planning::ops::{RotaryPass, RotaryProblem, RotaryTable};
use tilewise::{DType, Layout};

#[test]
fn tables_that_cannot_be() {
    let mut said = Said::new();
    let gpu = said.gpu.clone();
    let new = |rotary_dims, base| Rotary::new(&gpu, RotaryPairs::Halves, rotary_dims, base, 3);
    let even = "there must be an even number of them, and at least 2, not";
    said.says(|| new(7, 1e4), &format!("Rotary::new: the rotary dims: {even} 7"), "");
    said.says(|| new(0, 1e4), &format!("Rotary::new: the rotary dims: {even} 0"), "");
    for base in [0.0, -1.5, f64::INFINITY, f64::NAN] {
        let words = format!("Rotary::new: the base: it must be finite and above 0, not {base}");
        said.says(|| new(8, base), &words, "");
    }
    let at = |base, positions: &[usize]| {
        Rotary::at_positions(&gpu, RotaryPairs::Interleaved, 200, base, positions)
    };
    said.says(
        || at(1e-320, &[7, 5]),
        "Rotary::at_positions: the base: with 1e-320, position 7 has an angle that is not finite",
        "",
    );
    assert!(at(f64::MIN_POSITIVE, &[7]).is_ok() && at(f64::MAX, &[usize::MAX]).is_ok());
    said.says(
        || Rotary::new(&gpu, RotaryPairs::Halves, 2, 1e4, 1 << 40),
        "Rotary::new: an extent or stride in elements is 2199023255552, but this device allows 2147483647",
        "",
    );
    said.says(
        || Rotary::new(&gpu, RotaryPairs::Halves, 8, 1e4, usize::MAX),
        "Rotary::new: the number of elements must not overflow",
        "[2, 18446744073709551615, 4] and [576460752303423487]",
    );
    said.none();
}

#[test]
fn operands_that_a_table_does_not_rotate() {
    let mut said = Said::new();
    let rotary = Rotary::new(&said.gpu, RotaryPairs::Halves, 6, 1e4, 9).unwrap();
    let (x, short, row) = (said.tensor(&[2, 4, 8]), said.tensor(&[4, 5]), said.tensor(&[8]));
    said.says(
        || rotary.apply(&row, 0),
        "Rotary::apply: x must have at least two axes, (.., length, dim)",
        "[8]",
    );
    said.says(
        || rotary.backward(&short, 0),
        "Rotary::backward: the last axis of x must be at least as long as the rotary dims",
        "[4, 5] and [6]",
    );
    said.says(
        || rotary.apply(&x, 6),
        "Rotary::apply: the start: x takes the positions 6..10 of the table, which has 9",
        "",
    );
    said.says(
        || rotary.backward(&x, usize::MAX),
        &format!(
            "Rotary::backward: the start: x takes the positions {max}..{max} of the table, which has 9",
            max = usize::MAX
        ),
        "",
    );
    // An empty operand must fit as well.
    let empty = x.slice(0, ..0).unwrap();
    said.says(
        || rotary.apply(&empty, 6),
        "Rotary::apply: the start: x takes the positions 6..10 of the table, which has 9",
        "",
    );
    let of = RotaryTable { pairs: RotaryPairs::Halves, rotary_dims: 6, positions: 9 };
    let rows = Layout::contiguous("test", &[4, 8]).unwrap();
    let problem = |of, rows: &Layout, dtype| RotaryProblem::new(RotaryPass::Forward, of, rows, dtype);
    said.says(
        || problem(of, &rows, DType::I32),
        "Rotary::apply: the elements: they must be reals, not i32",
        "",
    );
    said.says(
        || problem(of, &rows.slice(0, ..0).unwrap(), DType::F32),
        "Rotary::apply: x must have an element",
        "[0, 8]",
    );
    said.says(
        || problem(RotaryTable { rotary_dims: 5, ..of }, &rows, DType::F32),
        "Rotary::apply: the rotary dims: there must be an even number of them, and at least 2, not 5",
        "",
    );
    said.none();
}
