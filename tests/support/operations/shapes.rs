//! Operations that create tensors or change their shapes: their rows, their lines in the book, and a problem of each.
//!
//! The problems go to every test that loops over families: plans, kernels' texts, integer arithmetic, windows, pieces.

use super::super::families::{Family, Of};
use super::{Row, row};
use tilewise::ops;
use tilewise::planning::Plan;
use tilewise::{DType, Result};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("ops::one_hot", |it| ops::one_hot::<f32>(&it.at, 3)).listed(["all", "exact", "1", "0"]),
        row("ops::pad", |it| ops::pad(&it.a, &[(1, 0), (0, 1)], 0.0)).listed([
            "all",
            "every bit",
            "1",
            "`slice` of $g$",
        ]),
        row("ops::repeat", |it| ops::repeat(&it.a, 0, 2)).listed([
            "all",
            "every bit",
            "1",
            "`reshape` to (.., times, extent, ..), and `sum` over the axis of `times`",
        ]),
    ]
}

/// A problem of each operation, in every element type that it takes: `of.dtype`.
pub const PROBLEMS: [Family; 0] = [];

/// The problems in each type that they take. `of` makes a problem's size.
pub fn in_every_type<'a>(of: impl Fn(DType) -> Of<'a>) -> Vec<(&'static str, Result<Plan>)> {
    let planned = DType::ALL.into_iter().flat_map(|dtype| {
        let of = of(dtype);
        PROBLEMS.map(|(what, plan)| (what, plan(&of)))
    });
    planned.filter(|(_, plan)| !matches!(plan, Err(tilewise::Error::Input { .. }))).collect()
}
