//! Operands in several windows, the problems of the rows of operations, and multiply-adds that are timed, as large as they may be.

use super::gemm::{WINDOW, bare, caps};
use super::launch::Launch;
use support::families::Of;
use support::laid::flat;
use support::operations::shapes::in_every_type;
use tilewise::gpu::DeviceType;
use tilewise::planning::ops::{GatherProblem, ReduceFunction, ReduceProblem, Taken};
use tilewise::planning::peak::{MatrixPeakProblem, PeakNumber, PeakProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::{DType, Result};

pub(crate) fn launches() -> Vec<Launch> {
    let mut launches = Vec::new();
    let devices = [caps().planned_for(DeviceType::Discrete), bare()];
    let mut add = |what: &str, plan: Result<Plan>| {
        launches.extend(Launch::planned(what, plan));
    };
    for dtype in DType::ALL {
        let two = flat(&[WINDOW / dtype.size() / 64 * 2, 64]);
        let table = GatherProblem::new(Taken::Rows, &two, &flat(&[30]), dtype);
        add(&format!("rows of {dtype} in two windows"), table.and_then(|problem| problem.plan(&devices[0])));
        for function in [ReduceFunction::ArgMax, ReduceFunction::Variance { correction: 1 }] {
            let problem = ReduceProblem::new(function, &two, &[0], dtype);
            let plan = problem.and_then(|problem| problem.plan(&devices[1]));
            add(&format!("{function:?} of {dtype} in two windows"), plan);
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
    let words = u32::try_from(WINDOW / 4).expect("no more than a window");
    for (at, number) in [PeakNumber::F32, PeakNumber::I8, PeakNumber::F16].into_iter().enumerate() {
        let problem = PeakProblem::new(number, words, 100);
        add(&format!("multiply-adds of {number:?}"), problem.plan(&devices[at % 2]));
    }
    for size in [8u32, 16] {
        // C fills a window: each workgroup has two matrices of f32.
        let problem = MatrixPeakProblem::new(size, words / (2 * size * size), 100);
        add(&format!("products of matrices of {size}"), problem.plan(&devices[0]));
    }
    launches
}
