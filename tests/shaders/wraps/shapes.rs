//! Elements by index, additions to them, padding, ones and zeros, and normal numbers, as large as they may be.

use super::gemm::{WINDOW, bare, caps};
use super::launch::Launch;
use super::ops::layouts;
use support::families::Of;
use support::laid;
use support::laid::flat;
use support::operations::shapes::in_every_type;
use tilewise::gpu::DeviceType;
use tilewise::planning::Plan;
use tilewise::planning::Problem;
use tilewise::planning::ops::{
    GatherProblem, NormalProblem, OneHotProblem, PadProblem, ReduceFunction, ReduceProblem, ScatterProblem,
    Taken, Target,
};
use tilewise::planning::peak::{MatrixPeakProblem, PeakNumber, PeakProblem};
use tilewise::{DType, Layout, Result};

pub(crate) fn launches() -> Vec<Launch> {
    let mut launches = Vec::new();
    let devices = [caps().planned_for(DeviceType::Discrete), bare()];
    let mut add = |what: &str, plan: Result<Plan>| {
        launches.extend(Launch::planned(what, plan));
    };
    for dtype in DType::ALL {
        let elements = WINDOW / dtype.size();
        // Rows of whole vectors.
        let rows = flat(&[elements / 64, 64]);
        for (at, view) in layouts(dtype).into_iter().chain([rows]).enumerate() {
            let caps = &devices[at % 2];
            let axis = (at + dtype.size()) % view.rank();
            // As many indices as give the longest result, next to one another or far apart.
            let others = (view.len() / view.shape()[axis]).max(1);
            let many = (elements / others).max(1);
            let few = which(&[many], (WINDOW / 4 / many).max(1));
            let each = which(view.shape(), 1);
            let problems = [(Taken::Positions(axis), few), (Taken::Elements(axis), each), (Taken::Rows, few)];
            for (taken, indices) in problems {
                let problem = GatherProblem::new(taken, &view, &indices, dtype);
                let what = format!("{taken:?} of {dtype} {view:?} by {indices:?}");
                add(&what, problem.and_then(|problem| problem.plan(caps)));
            }
            // Values that are repeated, of a result as large as may be; and the other way round.
            let mut of_values = view.shape().to_vec();
            of_values[axis] = many;
            let value = flat(&[]);
            let dense = flat(&of_values);
            let repeated = value.broadcast_to(&of_values).expect("one element");
            let same = value.broadcast_to(view.shape()).expect("one element");
            for (target, indices, values) in [
                (Target::Positions(axis), few, dense),
                (Target::Positions(axis), few, repeated),
                (Target::Elements(axis), each, same),
                (Target::Rows { padding: Some(1) }, few, dense),
            ] {
                let problem = ScatterProblem::new(target, [&view, &indices, &values], dtype);
                let what = format!("{target:?} of {dtype} {view:?} by {indices:?} and {values:?}");
                add(&what, problem.and_then(|problem| problem.plan(caps)));
            }
            let mut padding = vec![(0, 0); view.rank()];
            padding[axis] = (view.shape()[axis] / 8, 7);
            let part = view.slice(axis, ..view.shape()[axis].div_ceil(2)).expect("within the axis");
            let problem = PadProblem::new(&part, &padding, dtype);
            add(&format!("{part:?} padded"), problem.and_then(|problem| problem.plan(caps)));
            let classes = 1 + at * 3;
            let ids = which(&[elements / 30 / classes, 30], 1);
            let problem = OneHotProblem::new(&ids, classes, dtype);
            add(&format!("{classes} classes of {ids:?}"), problem.and_then(|problem| problem.plan(caps)));
        }
        // In two windows.
        let two = flat(&[elements / 64 * 2, 64]);
        let table = GatherProblem::new(Taken::Rows, &two, &which(&[30], 1), dtype);
        add(&format!("rows of {dtype} in two windows"), table.and_then(|problem| problem.plan(&devices[0])));
        for function in [ReduceFunction::ArgMax, ReduceFunction::Variance { correction: 1 }] {
            let problem = ReduceProblem::new(function, &two, &[0], dtype);
            let plan = problem.and_then(|problem| problem.plan(&devices[1]));
            add(&format!("{function:?} of {dtype} in two windows"), plan);
        }
        for count in [1, elements - 1, elements] {
            let problem = NormalProblem::new(count, dtype);
            add(
                &format!("{count} normal {dtype}"),
                problem.and_then(|problem| problem.plan(&devices[count % 2])),
            );
        }
    }
    for caps in &devices {
        let large = |dtype: DType| Of::large(WINDOW / dtype.size(), caps).of_type(dtype);
        let gaps = |dtype: DType| Of::large(WINDOW / dtype.size() / 2, caps).of_type(dtype).with_gaps();
        for (what, plan) in in_every_type(large).into_iter().chain(in_every_type(gaps)) {
            add(what, plan);
        }
    }
    // More iterations would be launched in more pieces than a plan may have.
    for (at, number) in [PeakNumber::F32, PeakNumber::I8, PeakNumber::F16].into_iter().enumerate() {
        let words = u32::try_from(WINDOW / 4).expect("no more than a window");
        let problem = PeakProblem::new(number, words, 100);
        add(&format!("multiply-adds of {number:?}"), problem.plan(&devices[at % 2]));
    }
    for size in [8u32, 16] {
        // C fills a window: each workgroup has two matrices of f32.
        let words = u32::try_from(WINDOW / 4).expect("no more than a window");
        let problem = MatrixPeakProblem::new(size, words / (2 * size * size), 100);
        add(&format!("products of matrices of {size}"), problem.plan(&devices[0]));
    }
    launches
}

/// Indices of this shape. The innermost ones are `stride` elements apart.
fn which(shape: &[usize], stride: usize) -> Layout {
    let strides: Vec<usize> =
        (0..shape.len()).map(|axis| stride * shape[axis + 1..].iter().product::<usize>()).collect();
    laid::view(shape, &strides, 63)
}
