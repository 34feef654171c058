//! Operations that create tensors or change their shapes: their rows, their lines in the book, and a problem of each.
//!
//! The problems go to every test that loops over families: plans, kernels' texts, integer arithmetic, windows, pieces.

use super::super::families::{Family, Of};
use super::images;
use super::{Row, row};
use tilewise::ops;
use tilewise::ops::PoolDivisor;
use tilewise::planning::ops::{BandProblem, ByIndex, ByIndexProblem, PlaneFunction};
use tilewise::planning::{Plan, Problem};
use tilewise::{DType, Result};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("Gpu::arange", |it| it.gpu.arange(0, 9, 2)),
        row("Gpu::eye", |it| it.gpu.eye::<f32>([3, 3])),
        row("Gpu::full", |it| it.gpu.full([3, 3], 2.0f32)),
        row("Gpu::linspace", |it| it.gpu.linspace(0.0f32, 1.0, 9)),
        row("Gpu::ones", |it| it.gpu.ones::<f32>([3, 3])),
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
        row("ops::tril", |it| ops::tril(&it.a, 0)).listed(["all", "every bit", "1", "`tril` of $g$"]),
        row("ops::triu", |it| ops::triu(&it.a, 1)).listed(["all", "every bit", "1", "`triu` of $g$"]),
    ]
}

/// A problem of each operation, in every element type that it takes: `of.dtype`.
pub const PROBLEMS: [Family; 15] = [
    ("full", |of| by_index(ByIndex::Value, of)),
    ("eye", |of| by_index(ByIndex::Diagonal(37), of)),
    ("arange", |of| by_index(ByIndex::Steps, of)),
    ("linspace", |of| by_index(ByIndex::Between, of)),
    ("band", |of| BandProblem::new("band", &of.rows(65, &[9, 31])?, [-3, 17], of.dtype)?.plan(of.caps)),
    ("max pool", |of| images::pooled(PlaneFunction::Largest, of)),
    ("max pool with indices", |of| images::pooled(PlaneFunction::LargestAndIndices, of)),
    ("max pool, backward", |of| images::pooled(PlaneFunction::LargestBackward, of)),
    ("average pool", |of| images::pooled(PlaneFunction::Mean(PoolDivisor::WithPadding), of)),
    ("average pool, backward", |of| {
        images::pooled(PlaneFunction::MeanBackward(PoolDivisor::WithPadding), of)
    }),
    ("adaptive pool", |of| images::adaptive(PlaneFunction::LargestAndIndices, of)),
    ("adaptive pool, backward", |of| {
        images::adaptive(PlaneFunction::MeanBackward(PoolDivisor::WithoutPadding), of)
    }),
    ("nearest pixels", |of| images::resized(PlaneFunction::Nearest, of)),
    ("bilinear pixels", |of| images::resized(PlaneFunction::Bilinear, of)),
    ("bilinear pixels, backward", |of| images::resized(PlaneFunction::BilinearBackward, of)),
];

fn by_index(element: ByIndex, of: &Of<'_>) -> Result<Plan> {
    ByIndexProblem::new("by index", element, of.many(1003, 1), of.dtype)?.plan(of.caps)
}

/// The problems in each type that they take. `of` makes a problem's size.
pub fn in_every_type<'a>(of: impl Fn(DType) -> Of<'a>) -> Vec<(&'static str, Result<Plan>)> {
    let planned = DType::ALL.into_iter().flat_map(|dtype| {
        let of = of(dtype);
        PROBLEMS.map(|(what, plan)| (what, plan(&of)))
    });
    planned.filter(|(_, plan)| !matches!(plan, Err(tilewise::Error::Input { .. }))).collect()
}
