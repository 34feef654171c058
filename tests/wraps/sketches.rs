//! Hadamard transforms and sparse operators as large as they may be.

use super::gemm::{WINDOW, bare, caps, is_full};
use super::launch::{Launch, Operand};
use tilewise::gpu::DeviceType;
use tilewise::sketch::{
    HADAMARD_AT_MOST, HadamardPass, HadamardProblem, HadamardSource, HadamardTarget, Sketch, SketchKind,
    SparseAxis, SparseProblem, Way, plan_hadamard, plan_sparse,
};
use tilewise::{Caps, DType, Layout};

/// Rows and columns of what an operator is applied to, and the length of the axis that its result has.
fn shapes(elements: usize) -> Vec<[usize; 3]> {
    let long = HADAMARD_AT_MOST.min(elements / 4);
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
    let mut gpu = caps();
    gpu.device_type = DeviceType::Discrete;
    let devices = [caps(), gpu, bare()];
    let mut case = 0;
    for [n, columns, d] in shapes(WINDOW / 4) {
        for way in [Way::Forward, Way::Adjoint] {
            let rows = if way == Way::Forward { n } else { d };
            let plain = |shape: &[usize]| Layout::contiguous("test", shape).expect("few axes");
            let across = Layout::new("test", &[rows, columns], &[1, rows], 63, 1 << 40).expect("a view");
            // The last has three axes beside the operator's, which do not step as one.
            let beside = plain(&[3, rows, 2, columns.div_ceil(6)]);
            for (x, axis) in
                [(plain(&[rows, columns]), 0), (across, 0), (plain(&[columns, rows]), 1), (beside, 1)]
            {
                let all = is_full();
                for i in 0..if all { TYPES.len() * KINDS.len() * devices.len() } else { 1 } {
                    let (caps, dtype) = (&devices[(case + i) % 3], TYPES[(case / 2 + i) % 3]);
                    hadamard(caps, [d, n], way, &x, axis, dtype, &mut launches);
                    sparse(caps, KINDS[(case + i) % 5], [d, n], way, &x, axis, dtype, &mut launches);
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
    way: Way,
    x: &Layout,
    axis: usize,
    dtype: DType,
    launches: &mut Vec<Launch>,
) {
    let Ok(sketch) = Sketch::new(SketchKind::Hadamard, shape, 1) else { return };
    let Ok(problem) = HadamardProblem::new(&sketch, way, x, axis, dtype) else { return };
    let Ok(pieces) = problem.pieces(caps) else { return };
    let mut ends = vec![pieces[0]];
    ends.extend(pieces.last().filter(|_| pieces.len() > 1));
    let what = format!("Hadamard {way:?}, {shape:?} along {axis} of {dtype} {x:?}");
    for (piece, pass) in
        ends.iter().flat_map(|piece| piece.passes(caps).into_iter().map(move |pass| (piece, pass)))
    {
        let Ok(plan) = plan_hadamard(&pass, caps) else { continue };
        let between = Operand::of(piece.scratch_elements(), 4);
        let from =
            if pass.source == HadamardSource::Pass { between.clone() } else { Operand::of_view(x, dtype) };
        let y = Operand::of(problem.binding_elements()[1], 4);
        let to = if pass.target == HadamardTarget::Pass { between } else { y };
        let operands = if HadamardPass::is_in_place(&pass) { vec![to] } else { vec![from, to] };
        launches.push(Launch::new(&what, &plan, bytemuck::bytes_of(&pass.dims), operands));
    }
}

#[expect(clippy::too_many_arguments, reason = "a case of the sweep")]
fn sparse(
    caps: &Caps,
    kind: SketchKind,
    shape: [usize; 2],
    way: Way,
    x: &Layout,
    axis: usize,
    dtype: DType,
    launches: &mut Vec<Launch>,
) {
    let Ok(sketch) = Sketch::new(kind, shape, 1) else { return };
    let Ok(problem) = SparseProblem::new(&sketch, way, x, axis, dtype) else { return };
    let Ok(plan) = plan_sparse(&problem, caps) else { return };
    let (dims, together) = problem.dims_on(caps);
    let what = format!("{kind:?} {way:?}, {shape:?} along {axis} of {dtype} {x:?}");
    let operand = Operand::of(problem.operand_elements(), dtype.size());
    let y = Operand::of(problem.elements(), 4);
    let sums = Operand::of(problem.elements() * u64::from(dims.parts), 4);
    let first = if together.is_some() { &sums } else { &y };
    launches.push(Launch::new(&what, &plan, bytemuck::bytes_of(&dims), vec![operand, first.clone()]));
    if let (Some(then), Some(dims)) = (&plan.then, together) {
        launches.push(Launch::new(&what, then, bytemuck::bytes_of(&dims), vec![sums, y]));
    }
}
