//! Reductions, cumulative sums, softmax and rotations whose plans need every specialised shader of theirs.

use super::laid;
use tilewise::DType;
use tilewise::ops::RotaryPairs;
use tilewise::planning::ops::{
    CumsumProblem, ReduceFunction, ReduceProblem, RotaryPass, RotaryProblem, RotaryTable, SoftmaxFunction,
    SoftmaxProblem,
};

const REALS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

/// Softmax, its logarithm and their gradients of every type: with rows that begin at even indices, rows that do not, and rows that
/// begin at whole vectors; along rows and across columns, with a mask and without; and few long columns, which invocations share.
pub fn softmax_problems() -> Vec<SoftmaxProblem> {
    let mut problems = Vec::new();
    for dtype in REALS {
        for (i, row) in [6, 5, 8].into_iter().enumerate() {
            let view = laid::view(&[3, 4], &[row, 1], 0);
            for (j, function) in SoftmaxFunction::ALL.into_iter().enumerate() {
                for axis in 0..2 {
                    let second = function.is_backward() || (i + j + axis) % 2 == 0;
                    let second = second.then_some(&view);
                    let problem = SoftmaxProblem::new(function, &view, second, axis, dtype);
                    problems.push(problem.expect("a small view"));
                }
            }
        }
        let long = laid::view(&[300, 4], &[8, 1], 0);
        problems.extend(SoftmaxFunction::ALL.map(|function| {
            let second = function.is_backward().then_some(&long);
            SoftmaxProblem::new(function, &long, second, 0, dtype).expect("a small view")
        }));
    }
    problems
}

/// Cumulative sums of every type: along rows and across columns, by elements and by vectors, in one step and in three.
pub fn cumsum_problems() -> Vec<CumsumProblem> {
    let long = 1 << 17;
    let forms: [([usize; 2], usize); 9] = [
        ([3, 5], 7),
        ([3, 4], 6),
        ([3, 8], 8),
        ([2, long], long),
        ([2, long], long + 1),
        ([2, long], long + 2),
        ([long, 8], 8),
        ([long, 7], 7),
        ([long, 6], 6),
    ];
    let mut problems = Vec::new();
    for dtype in REALS {
        for (shape, row) in forms {
            let view = laid::view(&shape, &[row, 1], 0);
            problems
                .extend([0, 1].map(|axis| CumsumProblem::new(&view, axis, dtype).expect("a view of reals")));
        }
    }
    problems
}

/// Rotations of every type and pairing: of rows of whole vectors, of rows that begin at even indices, and others.
pub fn rotary_problems() -> Vec<RotaryProblem> {
    let forms: [([usize; 2], usize, usize); 5] =
        [([3, 64], 64, 64), ([3, 40], 48, 16), ([3, 12], 13, 8), ([3, 12], 12, 6), ([3, 7], 7, 4)];
    let mut problems = Vec::new();
    for (i, dtype) in REALS.into_iter().enumerate() {
        for (j, pairs) in RotaryPairs::ALL.into_iter().enumerate() {
            for (k, (shape, row, rotary_dims)) in forms.into_iter().enumerate() {
                let view = laid::view(&shape, &[row, 1], 0);
                let (of, pass) =
                    (RotaryTable { pairs, rotary_dims, positions: 9 }, RotaryPass::ALL[(i + j + k) % 2]);
                let problem = RotaryProblem::new(pass, of, &view, dtype).expect("rows of reals");
                problems.push(problem);
                // The position has a buffer of its own in every form; one of each pairing shows it.
                if k == i {
                    let at = laid::view(&[1], &[1], 3);
                    problems.push(problem.at_position(&at).expect("one element"));
                }
            }
        }
    }
    problems
}

/// Reductions of every type: along lines and across columns, by elements and by vectors, in one step and in two.
pub fn reduce_problems() -> Vec<ReduceProblem> {
    let view = |shape: &[usize], strides: &[usize]| laid::view(shape, strides, 0);
    let long = 1 << 20;
    let forms = [
        (view(&[3, 5], &[7, 1]), vec![1]),
        (view(&[3, 16], &[16, 1]), vec![1]),
        (view(&[5, 3], &[3, 1]), vec![0]),
        (view(&[16, 16], &[16, 1]), vec![0]),
        (view(&[3, long], &[long + 1, 1]), vec![1]),
        (view(&[3, long], &[long, 1]), vec![1]),
        (view(&[long, 3], &[3, 1]), vec![0]),
        (view(&[long, 16], &[16, 1]), vec![0]),
        (view(&[4, 3, 16], &[48, 16, 1]), vec![0, 2]),
    ];
    let mut problems = Vec::new();
    for dtype in DType::ALL {
        for (view, axes) in &forms {
            let functions = ReduceFunction::ALL.into_iter().filter(|function| function.takes(dtype));
            problems.extend(
                functions.filter_map(|function| ReduceProblem::new(function, view, axes, dtype).ok()),
            );
        }
    }
    problems
}
