//! Elements by index, additions to them, and what makes tensors.

use super::{COMPUTED, On, REALS, Row, ahead, flat, view};
use tilewise::planning::ops::{
    GatherProblem, NormalProblem, OneHotProblem, PadProblem, ScatterProblem, Taken, Target,
};
use tilewise::{DType, Layout};

pub(super) const ROWS: [Row; 5] = [
    ("gather", &DType::ALL, |on| {
        let axis = on.axis();
        let (_, few) = few(on, axis);
        let (taken, indices) = on.choose(&[
            (Taken::Positions(axis), few),
            (Taken::Elements(axis), ahead(on.x.shape())?),
            (Taken::Rows, few),
        ]);
        on.plan(GatherProblem::new(taken, &on.x, &indices, on.dtype))
    }),
    ("scatter", COMPUTED, |on| {
        let (x, axis) = (on.x, on.axis());
        let (many, few) = few(on, axis);
        // Values of a result as large as may be, or one that is repeated.
        let mut shape = x.shape().to_vec();
        shape[axis] = many;
        let one = flat(&[])?;
        let (dense, repeated, same) =
            (flat(&shape)?, one.broadcast_to(&shape)?, one.broadcast_to(x.shape())?);
        let (target, indices, values) = on.choose(&[
            (Target::Positions(axis), few, dense),
            (Target::Positions(axis), few, repeated),
            (Target::Elements(axis), ahead(x.shape())?, same),
            (Target::Rows { padding: Some(1) }, few, dense),
        ]);
        on.plan(ScatterProblem::new(target, [&x, &indices, &values], on.dtype))
    }),
    ("pad", &DType::ALL, |on| {
        let (x, axis) = (on.x, on.axis());
        let mut padding = vec![(0, 0); x.rank()];
        padding[axis] = (x.shape()[axis] / 8, 7);
        on.plan(PadProblem::new(&x.slice(axis, ..x.shape()[axis].div_ceil(2))?, &padding, on.dtype))
    }),
    ("one-hot", &DType::ALL, |on| {
        let classes = on.choose(&[1, 7, 40]);
        on.plan(OneHotProblem::new(&ahead(&[(on.most / 30 / classes).max(1), 30])?, classes, on.dtype))
    }),
    ("normal", REALS, |on| {
        let count = on.choose(&[1, on.most - 1, on.most]);
        on.plan(NormalProblem::new(count, on.dtype))
    }),
];

/// As many indices along an axis as give the longest result, and where they lie: next to one another, or far apart.
fn few(on: &mut On<'_>, axis: usize) -> (usize, Layout) {
    let others = (on.x.len() / on.x.shape()[axis].max(1)).max(1);
    let many = (on.most / others).max(1);
    let far = (on.most * on.dtype.size() / 4 / many).max(1);
    (many, view(&[many], &[far], 63))
}
