//! Problems of operations that change shapes, and multiply-adds to time, whose plans need all of their kernels.

use super::families::Of;
use super::laid::{flat, view};
use super::operations::shapes::in_every_type;
use super::wgsl::{COMPUTED, kernels_of_all};
use tilewise::gpu::CoopScalar;
use tilewise::planning::kernel::Kernel;
use tilewise::planning::ops::{
    GatherProblem, NormalProblem, OneHotProblem, PadProblem, ReduceFunction, ReduceProblem, ScatterProblem,
    Taken, Target,
};

use tilewise::planning::peak::{MatrixPeakProblem, PeakNumber, PeakProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::{Caps, DType, Layout, Result};

/// Elements by index: all types, rows of whole vectors, of whole quads, and others.
pub fn gather_problems() -> Vec<GatherProblem> {
    let of_type = |dtype| {
        [
            (Taken::Rows, view(&[8, 16], &[32, 1], 16), flat(&[300])),
            (Taken::Rows, view(&[8, 16], &[17, 1], 1), flat(&[3, 5])),
            (Taken::Elements(1), view(&[8, 16], &[16, 1], 0), flat(&[8, 5])),
            (Taken::Positions(1), view(&[8, 16], &[1, 8], 0), flat(&[7])),
        ]
        .map(|(taken, a, indices)| GatherProblem::new(taken, &a, &indices, dtype).expect("they go together"))
    };
    COMPUTED.into_iter().flat_map(of_type).collect()
}

/// Additions to what indices name: all types, rows of pairs and others, several blocks and chunks.
pub fn scatter_problems() -> Vec<ScatterProblem> {
    let of = |target, layouts: [Layout; 3], dtype| {
        ScatterProblem::new(target, layouts.each_ref(), dtype).expect("they go together")
    };
    let of_type = |dtype: DType| {
        let (many, few) = (flat(&[1500]), flat(&[3]));
        let rows = [flat(&[8, 16]), many, flat(&[1500, 16])];
        [
            Some(of(Target::Positions(0), [view(&[8, 16], &[17, 1], 1), many, flat(&[1500, 16])], dtype)),
            Some(of(Target::Positions(0), [view(&[8, 16], &[20, 1], 4), few, flat(&[3, 16])], dtype)),
            Some(of(Target::Elements(1), [view(&[8, 16], &[20, 1], 4), flat(&[8, 5]), flat(&[8, 5])], dtype)),
            dtype.is_real().then(|| of(Target::Rows { padding: Some(3) }, rows, dtype)),
        ]
    };
    COMPUTED.into_iter().flat_map(of_type).flatten().collect()
}

/// Padded views of all types: rows of whole quads, and others.
pub fn pad_problems() -> Vec<PadProblem> {
    let of_type = |dtype| {
        [(view(&[8, 16], &[16, 1], 0), [(1, 1), (0, 4)]), (view(&[8, 16], &[1, 8], 0), [(2, 0), (1, 2)])]
            .map(|(a, padding)| PadProblem::new(&a, &padding, dtype).expect("a pair for each axis"))
    };
    COMPUTED.into_iter().flat_map(of_type).collect()
}

/// What plans of a device are called, and the plans.
pub fn shape_plans(caps: &Caps) -> Vec<(&'static str, Result<Plan>)> {
    let mut plans: Vec<_> = gather_problems().iter().map(|problem| ("gather", problem.plan(caps))).collect();
    plans.extend(scatter_problems().iter().map(|problem| ("scatter", problem.plan(caps))));
    plans.extend(pad_problems().iter().map(|problem| ("pad", problem.plan(caps))));
    for dtype in COMPUTED {
        plans.push(("one-hot", OneHotProblem::new(&flat(&[3, 5]), 7, dtype).and_then(|p| p.plan(caps))));
        if dtype.is_real() {
            plans.push(("normal", NormalProblem::new(1003, dtype).and_then(|p| p.plan(caps))));
        }
    }
    plans.extend(in_every_type(|dtype| Of::small(caps).of_type(dtype)));
    plans.extend(in_every_type(|dtype| Of::small(caps).of_type(dtype).with_gaps()));
    // Operands in windows.
    let mut small = caps.clone();
    small.limits.binding_bytes = 4096;
    for dtype in COMPUTED {
        let table = GatherProblem::new(Taken::Rows, &flat(&[256, 64]), &flat(&[7]), dtype);
        plans.push(("gather", table.and_then(|problem| problem.plan(&small))));
        for function in [ReduceFunction::ArgMax, ReduceFunction::Variance { correction: 1 }] {
            if function.takes(dtype) {
                let problem = ReduceProblem::new(function, &flat(&[1 << 14]), &[0], dtype);
                plans.push(("rows", problem.and_then(|problem| problem.plan(&small))));
            }
        }
    }
    let f16 = caps.f16.then_some(PeakNumber::F16);
    for number in [PeakNumber::F32, PeakNumber::I8].into_iter().chain(f16) {
        plans.push(("multiply-adds", PeakProblem::new(number, 1000, 3).plan(caps)));
    }
    for size in [8, 16] {
        if caps.coop(size, CoopScalar::F16, CoopScalar::F32).is_ok() {
            plans.push(("multiply-adds", MatrixPeakProblem::new(size, 100, 3).plan(caps)));
        }
    }
    plans
}

/// Every kernel of these plans.
pub fn shape_kernels(caps: &Caps) -> Vec<Kernel> {
    let plans =
        shape_plans(caps).into_iter().map(|(what, plan)| plan.unwrap_or_else(|e| panic!("{what}: {e}")));
    kernels_of_all(plans)
}
