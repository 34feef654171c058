//! Problems whose plans need every specialised shader.

use super::laid;
use super::laid::flat;
use super::operand::View;
use std::collections::HashSet;
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::gpu::DeviceType;
use tilewise::ops::{Function, TexelFormat};
use tilewise::planning::gemm::{
    Distribution, Epilogue, GemmDims, GemmProblem, GemmTypes, GeneratedOperand, HalfAxis, HalfPosition,
    OuterAxis, Pin, Previous, Scale, SeedSource, Side, SignHalf,
};
use tilewise::planning::kernel::{Kernel, Language};
use tilewise::planning::ops::{
    ColourScale, CopyProblem, Elementwise, ElementwiseProblem, ImageProblem, ImageTransfer, Longer,
};
use tilewise::planning::sketch::{HadamardPass, HadamardProblem, SparseProblem};
use tilewise::planning::{Plan, Problem, Step};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Activation, Caps, DType};

pub use super::limits::{capabilities, validate};
pub use super::wgsl_attention::{attention_kernels, coop_gradient_plans, coop_plans};
pub use super::wgsl_clifford::{clifford_kernels, connected_kernels, connected_products};
pub use super::wgsl_norms::norm_kernels;
pub use super::wgsl_quantised::{quantised_forms, quantised_products};
pub use super::wgsl_rows::{cumsum_problems, reduce_problems, rotary_problems, softmax_problems};
pub use super::wgsl_shapes::{shape_kernels, shape_plans};

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

/// The types that operations compute with. What moves bytes moves those of 8 bits with a fraction by the kernels of i8.
pub const COMPUTED: [DType; 5] = [DType::F32, DType::F16, DType::Bf16, DType::I8, DType::I32];

/// Elementwise functions: all functions and types, with rows that begin at even indices, rows that do
/// not, and rows that begin at whole vectors.
pub fn elementwise_problems() -> Vec<ElementwiseProblem> {
    let view = |shape: [usize; 2], row: usize| {
        let strides = [row, 1];
        laid::view(&shape, &strides, 0)
    };
    let mut of_elements = Vec::new();
    for dtype in COMPUTED {
        let functions: Vec<Elementwise> =
            Elementwise::all().into_iter().filter(|function| function.takes(dtype)).collect();
        for (at, view) in [view([3, 5], 6), view([3, 4], 5), view([3, 16], 16)].into_iter().enumerate() {
            // What is computed does not depend on the view: functions and views take turns.
            let turn =
                functions.iter().skip(at).step_by(3).chain([&Elementwise::ADD, &Elementwise::ADD_ASSIGN]);
            of_elements.extend(turn.map(|function| {
                let (function, operands) = (function.clone(), vec![&view; function.operands()]);
                ElementwiseProblem::of_one_type(function, &operands, &view, dtype).expect("a small view")
            }));
        }
        // Vectors with gaps between the rows.
        let gaps = view([3, 5], 8);
        let add = ElementwiseProblem::of_one_type(Elementwise::ADD, &[&gaps; 2], &gaps, dtype);
        of_elements.push(add.expect("a small view"));
    }
    let gaps = view([3, 5], 6);
    for (function, from, to) in
        [(Function::ToReal, DType::I32, DType::F32), (Function::ToInteger, DType::F32, DType::I8)]
    {
        let converted = ElementwiseProblem::new(function.into(), &[(&gaps, from)], (&gaps, to));
        of_elements.push(converted.expect("a small view"));
    }
    of_elements
}

/// Every kernel of elementwise functions, reductions, cumulative sums, softmax, rotations and losses on a device.
pub fn elementwise_kernels(caps: &Caps) -> Vec<Kernel> {
    let rows = [planned(reduce_problems(), caps), planned(softmax_problems(), caps)];
    let others = [planned(cumsum_problems(), caps), planned(rotary_problems(), caps)];
    let plans = [planned(elementwise_problems(), caps), rows.concat(), others.concat()].concat();
    kernels_of_all(plans.into_iter().chain(super::wgsl_losses::loss_plans(caps)))
}

/// Copies of every type in every unit, and of slices at a position that is in a tensor.
pub fn copy_problems() -> Vec<CopyProblem> {
    let layout = |strides: &[usize], offset| laid::view(&[8, 16], strides, offset);
    let views = [
        layout(&[32, 1], 16),
        layout(&[20, 1], 4),
        layout(&[18, 1], 2),
        layout(&[17, 1], 1),
        layout(&[1, 8], 0),
    ];
    let at = flat(&[1]);
    let of_type = |dtype| {
        views.into_iter().flat_map(move |view| {
            let slice = flat(&[3, 16]);
            let at_position = |longer, operands| {
                CopyProblem::at_position(longer, operands, 0, &at, dtype).expect("the slice is shorter")
            };
            [
                CopyProblem::new(&view, &view, dtype).expect("views of one shape"),
                at_position(Longer::C, [&slice, &view]),
                at_position(Longer::A, [&view, &slice]),
            ]
        })
    };
    COMPUTED.into_iter().flat_map(of_type).collect()
}

/// Every kernel that a copy may take on a device.
pub fn copy_kernels(caps: &Caps) -> Vec<Kernel> {
    kernels_of_all(planned(copy_problems(), caps))
}

/// Images of every format and type, read and written, with and without gaps, with three channels too.
pub fn image_problems() -> Vec<ImageProblem> {
    let mut problems = Vec::new();
    for transfer in [ImageTransfer::Read, ImageTransfer::Write] {
        for format in TexelFormat::ALL {
            for dtype in [DType::F32, DType::F16, DType::Bf16] {
                for scale in [ColourScale::Unscaled, ColourScale::Scaled] {
                    for (channels, strides, offset) in [
                        (format.channels(), [65 * format.channels(), format.channels(), 1], 0),
                        (format.channels().min(3), [250, 3, 1], 1),
                        (format.channels(), [65, 1, 400], 6),
                    ] {
                        let image = laid::view(&[5, 65, channels], &strides, offset);
                        let problem = ImageProblem::new(transfer, format, &image, dtype, scale);
                        problems.push(problem.expect("an image of the format"));
                    }
                }
            }
        }
    }
    problems
}

/// Every kernel that an image may take on a device.
pub fn image_kernels(caps: &Caps) -> Vec<Kernel> {
    kernels_of_all(planned(image_problems(), caps))
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

/// Every kernel with a generated operand on a device: both sides, both outer axes and all distributions.
pub fn generated_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for side in [Side::A, Side::B] {
        for outer in [OuterAxis::Rows, OuterAxis::Columns] {
            for entries in [Distribution::Normal, Distribution::Uniform, Distribution::Sign] {
                for seed in SEEDS {
                    let generated = GeneratedOperand { side, entries, outer, tag: 1, seed };
                    let problem =
                        plain([64, 65, 66], GemmTypes::new(DType::F16, DType::F32)).generated(generated);
                    kernels.extend(kernels_of(&problem.plan(caps).expect("the tiled kernel is everywhere")));
                }
            }
        }
    }
    kernels
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

/// Applications of sparse operators: both directions, all types, axes and numbers of nonzeros. Those with few columns are split.
pub fn sparse_problems() -> Vec<SparseProblem> {
    let mut problems = Vec::new();
    for dtype in REALS {
        for nonzeros in [1, 3, 64] {
            for (axis, shape) in [(0, [4096, 3]), (0, [4096, 300]), (1, [300, 4096])] {
                let sketch =
                    Sketch::new(SketchKind::Sjlt { nonzeros }, [4096; 2], 1).expect("a small operator");
                let x = flat(&shape);
                for direction in [Direction::Forward, Direction::Adjoint] {
                    let problem = SparseProblem::new(&sketch, direction, &x, axis, dtype);
                    let problem = problem.expect("they go together");
                    problems.extend(SEEDS.map(|seed| problem.seeded(seed)));
                }
            }
        }
    }
    problems
}

/// Every kernel of sparse operators on a device.
pub fn sparse_kernels(caps: &Caps) -> Vec<Kernel> {
    let discrete = caps.clone().planned_for(DeviceType::Discrete);
    kernels_of_all([caps, &discrete].into_iter().flat_map(|caps| planned(sparse_problems(), caps)))
}
