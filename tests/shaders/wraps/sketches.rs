//! Hadamard transforms and sparse operators as large as they may be.

use super::gemm::{WINDOW, bare, caps};
use super::launch::Launch;
use support::is_full_sweep;
use support::laid::{flat, view};
use support::wgsl::SEEDS;
use tilewise::gpu::DeviceType;
use tilewise::planning::Problem;
use tilewise::planning::sketch::{HadamardProblem, SparseProblem};
use tilewise::sketch::{Direction, MAX_HADAMARD_LENGTH, Sketch, SketchKind, SparseAxis};
use tilewise::{Caps, DType, Layout};

/// Rows and columns of what an operator is applied to, and the length of the axis that its result has.
fn shapes(elements: usize) -> Vec<[usize; 3]> {
    let long = MAX_HADAMARD_LENGTH.min(elements / 4);
    vec![
        [long, 3, long / 3],
        [5, elements / 8, 4],
        [4096, elements / 4096 - 1, 1000],
        [elements.isqrt() - 1, elements.isqrt(), 97],
        [1 << 20, 100, 1 << 20],
        [1, elements / 3, 1],
    ]
}

const TYPES: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

const KINDS: [SketchKind; 5] = [
    SketchKind::CountSketch,
    SketchKind::Sjlt { nonzeros: 3 },
    SketchKind::Sjlt { nonzeros: 64 },
    SketchKind::SparseSign { axis: SparseAxis::Short, nonzeros: 2 },
    SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros: 4 },
];

/// Every shape, way and layout, each with some type, device and kind; with all of them in the full sweep.
pub(crate) fn launches() -> Vec<Launch> {
    let mut launches = Vec::new();
    let gpu = caps().planned_for(DeviceType::Discrete);
    let devices = [caps(), gpu, bare()];
    let mut case = 0;
    for [n, columns, d] in shapes(WINDOW / 4) {
        for direction in [Direction::Forward, Direction::Adjoint] {
            let rows = if direction == Direction::Forward { n } else { d };
            let across = view(&[rows, columns], &[1, rows], 63);
            // The last has three axes beside the operator's, which do not step as one.
            let beside = flat(&[3, rows, 2, columns.div_ceil(6)]);
            for (x, axis) in
                [(flat(&[rows, columns]), 0), (across, 0), (flat(&[columns, rows]), 1), (beside, 1)]
            {
                let all = is_full_sweep();
                for i in 0..if all { TYPES.len() * KINDS.len() * devices.len() } else { 1 } {
                    let (caps, dtype) = (&devices[(case + i) % 3], TYPES[(case / 2 + i) % 3]);
                    hadamard(caps, [d, n], direction, &x, axis, dtype, &mut launches);
                    sparse(caps, KINDS[(case + i) % 5], [d, n], direction, &x, axis, dtype, &mut launches);
                }
                case += 1;
            }
        }
    }
    launches
}

fn hadamard(
    caps: &Caps,
    shape: [usize; 2],
    direction: Direction,
    x: &Layout,
    axis: usize,
    dtype: DType,
    launches: &mut Vec<Launch>,
) {
    let Ok(sketch) = Sketch::new(SketchKind::Hadamard, shape, 1) else { return };
    let Ok(problem) = HadamardProblem::new(&sketch, direction, x, axis, dtype) else { return };
    let Ok(plan) = problem.seeded(SEEDS[launches.len() % 2]).plan(caps) else { return };
    let what = format!("Hadamard {direction:?}, {shape:?} along {axis} of {dtype} {x:?}");
    // Of many pieces the first and the last: those between them differ in where they begin alone.
    let steps = Launch::steps(&what, &plan);
    let ends = steps.len().min(2 * ENDS);
    launches.extend_from_slice(&steps[..ends.div_ceil(2)]);
    launches.extend_from_slice(&steps[steps.len() - ends / 2..]);
}

/// Steps of the first piece of a transform, and of the last, that are run.
const ENDS: usize = 8;

#[expect(clippy::too_many_arguments, reason = "a case of the sweep")]
fn sparse(
    caps: &Caps,
    kind: SketchKind,
    shape: [usize; 2],
    direction: Direction,
    x: &Layout,
    axis: usize,
    dtype: DType,
    launches: &mut Vec<Launch>,
) {
    let Ok(sketch) = Sketch::new(kind, shape, 1) else { return };
    let plan = SparseProblem::new(&sketch, direction, x, axis, dtype)
        .and_then(|problem| problem.seeded(SEEDS[launches.len() % 2]).plan(caps));
    let what = format!("{kind:?} {direction:?}, {shape:?} along {axis} of {dtype} {x:?}");
    launches.extend(Launch::planned(&what, plan));
}
