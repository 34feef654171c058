//! Problems whose plans need every specialised shader.

use super::laid;
use super::laid::flat;
use super::operand::View;
use std::collections::HashSet;
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::gpu::DeviceType;
use tilewise::planning::gemm::{
    Epilogue, GemmDims, GemmProblem, GemmTypes, HalfAxis, HalfPosition, OuterAxis, Pin, Previous, Scale,
    SeedSource, SignHalf,
};
use tilewise::planning::kernel::{Kernel, Language};
use tilewise::planning::sketch::{HadamardPass, HadamardProblem};
use tilewise::planning::{Plan, Problem, Step};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Activation, Caps, DType};

pub use super::limits::{capabilities, validate};
pub use super::wgsl_attention::{attention_kernels, coop_gradient_plans, coop_plans};
pub use super::wgsl_clifford::{connected_kernels, connected_products};
pub use super::wgsl_quantised::{quantised_forms, quantised_products};

/// Every combination of real types.
pub const TYPES: [GemmTypes; 8] = [
    GemmTypes::new(DType::F32, DType::F32),
    GemmTypes::new(DType::F16, DType::F32),
    GemmTypes::new(DType::F16, DType::F16),
    GemmTypes::new(DType::F32, DType::F16),
    GemmTypes::new(DType::Bf16, DType::F32),
    GemmTypes::new(DType::Bf16, DType::Bf16),
    GemmTypes::new(DType::F16, DType::Bf16),
    GemmTypes::new(DType::F32, DType::Bf16),
];

/// The real types.
pub const REALS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

/// The only combination of integer types.
pub const I8: GemmTypes = GemmTypes::new(DType::I8, DType::I32);

/// The types of 8 bits with a fraction.
pub const FP8: [GemmTypes; 2] =
    [GemmTypes::new(DType::F8E4M3, DType::F32), GemmTypes::new(DType::F8E5M2, DType::Bf16)];

/// A product whose operands and result have the layouts `views`.
pub fn problem([m, n, k]: [usize; 3], types: GemmTypes, views: [View; 3]) -> GemmProblem {
    let [a, b, c] = [([m, k], views[0]), ([k, n], views[1]), ([m, n], views[2])].map(|(shape, view)| {
        let (strides, offset) = view.strides(shape);
        laid::view(&shape, &strides, offset)
    });
    GemmProblem::new(&a, &b, &c, types).expect("the shapes go together")
}

/// A product of matrices without gaps.
pub fn plain(shape: [usize; 3], types: GemmTypes) -> GemmProblem {
    problem(shape, types, [View::Plain; 3])
}

/// Epilogues that need every variant of the slot: operands of each type, all activations and all scales.
pub fn epilogues() -> Vec<Epilogue> {
    let mut epilogues = vec![
        Epilogue { scale: Scale::Back, ..Epilogue::default() },
        Epilogue { scale: Scale::BackWithCross, bias: Some(DType::F32), ..Epilogue::default() },
        Epilogue { previous: Previous::Added, residual: Some(DType::F32), ..Epilogue::default() },
    ];
    for (i, activation) in Activation::ALL.into_iter().enumerate() {
        let dtype = [DType::F32, DType::F16, DType::Bf16][i % 3];
        let previous = if i % 2 == 0 { Previous::Added } else { Previous::Overwritten };
        epilogues.push(Epilogue {
            scale: Scale::Alpha,
            previous,
            bias: Some(dtype),
            residual: (i % 3 > 0).then_some(dtype),
            activation,
            ..Epilogue::default()
        });
    }
    epilogues
}

/// The kernels of a plan's steps that are texts. CI validates modules when it builds them.
pub fn kernels_of(plan: &Plan) -> impl Iterator<Item = Kernel> {
    let kernels = plan.steps().iter().map(|step| step.kernel.clone());
    kernels.filter(|kernel| kernel.language() == Language::Wgsl)
}

/// The plans of problems that the device can run.
pub fn planned(problems: impl IntoIterator<Item = impl Problem>, caps: &Caps) -> Vec<Plan> {
    problems.into_iter().map(|problem| problem.plan(caps).expect("it fits")).collect()
}

/// The kernels in WGSL of plans, each once.
pub fn kernels_of_all(plans: impl IntoIterator<Item = Plan>) -> Vec<Kernel> {
    let kernels = plans.into_iter().flat_map(|plan| kernels_of(&plan).collect::<Vec<_>>());
    kernels.collect::<HashSet<_>>().into_iter().collect()
}

/// The number of splits of a plan for one product.
pub fn parts_of(plan: &Plan) -> u32 {
    let steps: Vec<&Step> = plan.steps().iter().filter(|step| step.first_block == 0).collect();
    match steps[..] {
        [_, reduce] if reduce.kernel.shader() == "gemm/reduce_splits" => {
            bytemuck::pod_read_unaligned::<GemmDims>(&reduce.dims[..size_of::<GemmDims>()]).splits
        }
        _ => 1,
    }
}

/// Kernels of products with each epilogue, with and without split-k, including the reductions of split-k.
pub fn form_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    let smallest = GemmKernel::ALL.iter().filter_map(|kernel| kernel.tiles().last());
    for tile in smallest {
        for types in TYPES {
            for (i, epilogue) in epilogues().into_iter().enumerate() {
                for (view, parts) in [(View::Plain, 1), (View::Gaps, 1), (View::Plain, 2), (View::Gaps, 2)] {
                    let thin = problem([4, 128, 128], types, [View::Plain, View::Plain, view]);
                    let problem = super::limits::finished(thin, epilogue, 1);
                    let problem = problem.pinned(Pin::Tile(*tile)).split_k(SplitK::Splits(parts));
                    // Other tests cover problems that a device cannot run. One type of result is enough for each epilogue.
                    let Ok(plan) = problem.plan(caps) else { continue };
                    if i > 2 && types.c != TYPES[i % TYPES.len()].c {
                        continue;
                    }
                    kernels.extend(kernels_of(&plan));
                }
            }
        }
    }
    kernels.extend(kernels_of_all(planned(quantised_products(), caps)));
    kernels.sort_by_key(ToString::to_string);
    kernels.dedup();
    kernels
}

/// Where kernels find the seed of a random operator: in the dims, or in a tensor.
pub const SEEDS: [SeedSource; 2] = [SeedSource::Scalars, SeedSource::Tensor([5, 8])];

/// Applications of Hadamard operators: all types, both directions, lengths of one pass and of several, and few and many columns.
pub fn hadamard_problems() -> Vec<HadamardProblem> {
    let mut problems = Vec::new();
    for (n, columns) in [(1usize, 3), (3, 100), (40, 1), (500, 9), (4096, 1), (5000, 100), (1 << 21, 2)] {
        for (direction, dtype) in [Direction::Forward, Direction::Adjoint]
            .into_iter()
            .flat_map(|direction| REALS.map(|dtype| (direction, dtype)))
        {
            let s = Sketch::new(SketchKind::Hadamard, [n.div_ceil(3), n], 1).expect("a small operator");
            let rows = if direction == Direction::Forward { n } else { n.div_ceil(3) };
            let x = flat(&[rows, columns]);
            let problem = HadamardProblem::new(&s, direction, &x, 0, dtype).expect("a small view");
            problems.extend(SEEDS.map(|seed| problem.seeded(seed)));
        }
    }
    problems
}

/// Every pass of Hadamard operators on a device, including those that other devices would choose.
pub fn hadamard_passes(caps: &Caps) -> Vec<HadamardPass> {
    let mut chosen = Vec::new();
    for device_type in [DeviceType::Software, DeviceType::Discrete] {
        let like = caps.clone().planned_for(device_type);
        let pieces =
            hadamard_problems().into_iter().flat_map(|problem| problem.pieces(&like).expect("they fit"));
        chosen.extend(pieces.flat_map(|piece| piece.passes(&like)));
    }
    chosen
}

/// Every kind of sign half of operand B.
pub fn sign_half() -> impl Iterator<Item = SignHalf> {
    (0..8).map(|i| SignHalf {
        axis: [HalfAxis::Outer, HalfAxis::K][i % 2],
        half: [HalfPosition::First, HalfPosition::Second][i / 2 % 2],
        outer: [OuterAxis::Rows, OuterAxis::Columns][i / 4],
        tag: 3,
    })
}

/// A product of [`problem`] with a sign half of B. The other half has the layout `view`.
pub fn halved(whole: GemmProblem, signs: SignHalf, view: View) -> GemmProblem {
    let [k, n] = [whole.dims().k, whole.dims().n].map(|extent| extent as usize);
    let shape = if signs.axis == HalfAxis::Outer { [k, n / 2] } else { [k / 2, n] };
    let (strides, offset) = view.strides(shape);
    let half = laid::view(&shape, &strides, offset);
    whole.sign_half(signs, &half).expect("it is half of B")
}

/// Kernels with a sign half on a device, and their tiles: every tile, method of staging, kind of sign half, and type.
pub fn half_kernels(caps: &Caps) -> Vec<(Tile, GemmProblem, Kernel)> {
    let mut kernels = Vec::new();
    for (i, tile) in
        [GemmKernel::Tiled, GemmKernel::Coop].iter().flat_map(|kernel| kernel.tiles()).enumerate()
    {
        // The smallest register tiles with every kind of sign half, others with two kinds that have nothing in common.
        let taken = |&(j, _): &(usize, _)| [tile.tm, tile.tn] == [4, 4] || j == i % 4 || j == 7 - i % 4;
        for (j, signs) in sign_half().enumerate().filter(taken) {
            let view = [View::Plain, View::Transposed][(i + j) % 2];
            let types = if tile.kernel == GemmKernel::Coop { TYPES[1 + j % 2] } else { TYPES[(i + j) % 8] };
            let problem = halved(plain([64, 66, 70], types), signs, view);
            // Other tests cover problems that a device cannot run.
            let Ok(plan) = problem.pinned(Pin::Tile(*tile)).plan(caps) else { continue };
            kernels.push((*tile, problem, plan.steps()[0].kernel.clone()));
        }
    }
    kernels
}
