//! The plans to compile: problems with sizes and types as in networks and solvers, by names.
//!
//! The list is written out, because names stay: limits and tables of the book are of these rows. It is not where a new
//! operation is added: [`sweep`] has every family of the rows of tests, and [`all`] a large problem of each operation that
//! makes tensors or changes their shapes.

#[path = "plans/networks.rs"] // the same from the tests of shaders, which read this file too
mod networks;

use support::families::{Family, Of, PROBLEMS};
use support::operand::View;
use support::{limits, plans, wgsl};
use tilewise::clifford::layer::{FeatureFunction, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Blades, Product, Signature, Unary};
use tilewise::gemm::{Accumulator, GemmKernel, SplitK};
use tilewise::ops::{Overflow, TexelFormat};
use tilewise::planning::clifford::{CliffordProblem, Function, LogBranch, MvLayout};
use tilewise::planning::clifford_layer::{
    ConnectedBackward, ConnectedForward, ConnectedProblem, FeaturesProblem, OperandRounding, RowFunction,
    RowOperandLayouts, RowProblem,
};
use tilewise::planning::gemm::{
    BiasAxis, Distribution, Epilogue, F16SplitProblem, GemmProblem, GemmTypes, GeneratedOperand, OuterAxis,
    Pin, Previous, Scale, SeedSource, Side,
};
use tilewise::planning::ops::{
    CastProblem, ColourScale, CopyProblem, Elementwise, ElementwiseProblem, GatherProblem, ImageProblem,
    ImageTransfer, Longer, NormalProblem, PadProblem, ReduceFunction, ReduceProblem, ScatterProblem,
    SoftmaxFunction, SoftmaxProblem, Taken, Target,
};
use tilewise::planning::sketch::{DenseProblem, HadamardProblem, SparseProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Activation, Caps, DType, Layout, Precision, Result};

/// A plan to compile, or the error of planning.
pub struct Named {
    /// A short description for tables.
    pub name: String,
    /// The family of operations.
    pub family: &'static str,
    /// The plan.
    pub plan: Result<Plan>,
}

use DType::{Bf16, F16, F32};

/// Plans of all operations for a device, each in its most different variants.
#[must_use]
pub fn all(caps: &Caps) -> Vec<Named> {
    let mut plans = List { caps, plans: Vec::new() };
    products(&mut plans);
    elements(&mut plans);
    networks::add(&mut plans);
    sketches(&mut plans);
    multivectors(&mut plans);
    layers(&mut plans);
    for dtype in [F32, F16] {
        let of = Of::large(1 << 24, caps).of_type(dtype);
        let plan =
            |(what, plan): Family| Named { name: format!("{what} {dtype}"), family: what, plan: plan(&of) };
        plans.plans.extend(PROBLEMS.map(plan));
    }
    plans.plans
}

/// Plans of every kernel in all variants and tiles: those of the library's tests, and a product of 4096^3 for each tile.
#[must_use]
pub fn sweep(caps: &Caps) -> Vec<Named> {
    let mut plans = List { caps, plans: Vec::new() };
    for kernel in [GemmKernel::Tiled, GemmKernel::Coop, GemmKernel::Dot] {
        let types: &[GemmTypes] = match kernel {
            GemmKernel::Tiled => &[SINGLE, HALF],
            GemmKernel::Dot => &[wgsl::I8],
            _ => &[HALF],
        };
        for (tile, types) in
            kernel.tiles().iter().flat_map(|tile| types.iter().map(move |types| (tile, *types)))
        {
            let name = format!("tile {tile} of {}", types.ab);
            plans.add("gemm", &name, &product(CUBE, types).pinned(Pin::Tile(*tile)));
        }
    }
    plans.plans.extend(plans::every(caps).into_iter().enumerate().map(|(i, planned)| {
        let limits::Planned { what, plan } = planned;
        Named { name: format!("{what} {i}"), family: what, plan }
    }));
    plans.plans
}

/// A list of plans under construction.
struct List<'a> {
    caps: &'a Caps,
    plans: Vec<Named>,
}

impl List<'_> {
    fn add(&mut self, family: &'static str, name: &str, problem: &impl Problem) {
        self.plans.push(Named { name: name.into(), family, plan: problem.plan(self.caps) });
    }
}

/// The reason why creating the problems of this file cannot fail.
const FITS: &str = "these shapes go together";

const CUBE: [usize; 3] = [4096; 3];
const SINGLE: GemmTypes = GemmTypes::new(F32, F32);
const HALF: GemmTypes = GemmTypes::new(F16, F16);
const MIXED: GemmTypes = GemmTypes::new(F16, F32);

fn flat(shape: &[usize]) -> Layout {
    Layout::contiguous("isa", shape).expect(FITS)
}

fn product(shape: [usize; 3], types: GemmTypes) -> GemmProblem {
    wgsl::plain(shape, types)
}

/// A product with the bias and the activation of a layer.
fn layer_of(types: GemmTypes, kernel: GemmKernel) -> GemmProblem {
    let biased = product(CUBE, types).bias(BiasAxis::Columns, &flat(&[CUBE[1]]), types.c).expect(FITS);
    biased.activation(Activation::Gelu).pinned(Pin::Kernel(kernel))
}

fn products(plans: &mut List<'_>) {
    let whole = product(CUBE, GemmTypes::new(Bf16, Bf16)).pinned(Pin::Staged);
    let signs = wgsl::halved(whole, wgsl::sign_half().next().expect("there are some"), View::Plain);
    use View::{Plain, Transposed};
    let layer = Epilogue {
        scale: Scale::Alpha,
        bias: Some(F16),
        residual: Some(F16),
        activation: Activation::Gelu,
        ..Epilogue::default()
    };
    let sums_of_f16 = GemmTypes { accumulator: Accumulator::F16, ..HALF };
    for (name, problem) in [
        ("f16", product(CUBE, HALF)),
        ("f16 to f32", product(CUBE, MIXED)),
        ("f16, A transposed", wgsl::problem(CUBE, HALF, [Transposed, Plain, Plain])),
        ("f16, B transposed", wgsl::problem(CUBE, HALF, [Plain, Transposed, Plain])),
        ("f16, sums of f16", product(CUBE, sums_of_f16)),
        ("f16, a layer", limits::finished(product(CUBE, HALF), layer, 1)),
        ("f16, odd sizes", product([4095, 4093, 4091], HALF)),
        ("f16, split-k", product([256, 256, 65_536], HALF).split_k(SplitK::Splits(8))),
    ] {
        plans.add("gemm", name, &problem);
        for kernel in [GemmKernel::Tiled, GemmKernel::Coop] {
            plans.add("gemm", &format!("{kernel} {name}"), &problem.pinned(Pin::Kernel(kernel)));
        }
    }
    let added = Epilogue { scale: Scale::Alpha, previous: Previous::Added, ..Epilogue::default() };
    let generated = |entries| GeneratedOperand {
        side: Side::B,
        entries,
        outer: OuterAxis::Rows,
        tag: 1,
        seed: SeedSource::Scalars,
    };
    for (name, problem) in [
        ("f32", product(CUBE, SINGLE)),
        ("f32, B transposed", wgsl::problem(CUBE, SINGLE, [Plain, Transposed, Plain])),
        ("f32, odd sizes", product([4095, 4093, 4091], SINGLE)),
        ("f32, added to C", limits::finished(product(CUBE, SINGLE), added, 1)),
        ("f32, naive", product(CUBE, SINGLE).pinned(Pin::Kernel(GemmKernel::Naive))),
        ("f32, fast", product(CUBE, SINGLE).precision(Precision::Fast)),
        ("f32, split", product(CUBE, SINGLE).precision(Precision::Split)),
        ("f32 by normal numbers", product(CUBE, SINGLE).generated(generated(Distribution::Normal))),
        ("f32 by signs", product(CUBE, SINGLE).generated(generated(Distribution::Sign))),
        ("f16 by signs", product(CUBE, MIXED).generated(generated(Distribution::Sign))),
        ("bf16", product(CUBE, GemmTypes::new(Bf16, Bf16))),
        ("i8", product(CUBE, wgsl::I8)),
        ("e4m3", product(CUBE, wgsl::FP8[0])),
        ("e5m2 to bf16", product(CUBE, wgsl::FP8[1])),
        ("e4m3, tiled", product(CUBE, wgsl::FP8[0]).pinned(Pin::Kernel(GemmKernel::Tiled))),
        ("e5m2, a row", product([1, 4096, 4096], wgsl::FP8[1]).pinned(Pin::Kernel(GemmKernel::Gemv))),
        ("i8, dot", product(CUBE, wgsl::I8).pinned(Pin::Kernel(GemmKernel::Dot))),
        ("f16, coop_khr", product(CUBE, MIXED).pinned(Pin::Kernel(GemmKernel::CoopKhr))),
        ("bf16, coop_khr, a layer", layer_of(GemmTypes::new(Bf16, Bf16), GemmKernel::CoopKhr)),
        ("i8 to f16, coop_khr, a layer", layer_of(GemmTypes::new(DType::I8, F16), GemmKernel::CoopKhr)),
        ("bf16, signs", signs),
        ("f16, coop_nv2, a layer", layer_of(HALF, GemmKernel::CoopNv2)),
        ("f16, coop_nv2", product(CUBE, MIXED).pinned(Pin::Kernel(GemmKernel::CoopNv2))),
        (
            "bf16, coop_nv2",
            product(CUBE, GemmTypes::new(Bf16, Bf16)).pinned(Pin::Kernel(GemmKernel::CoopNv2)),
        ),
        ("i8, coop_nv2", product(CUBE, wgsl::I8).pinned(Pin::Kernel(GemmKernel::CoopNv2))),
        ("sums of f16, coop_khr", product(CUBE, sums_of_f16).pinned(Pin::Kernel(GemmKernel::CoopKhr))),
    ] {
        plans.add("gemm", name, &problem);
    }
    for types in [SINGLE, HALF, GemmTypes::new(Bf16, Bf16)] {
        for (name, shape) in
            [("a row", [1, 4096, 4096]), ("a column", [4096, 1, 4096]), ("4 rows", [4, 4096, 4096])]
        {
            let problem = product(shape, types).pinned(Pin::Kernel(GemmKernel::Gemv));
            plans.add("gemm", &format!("gemv {}, {name}", types.ab), &problem);
        }
    }
}

fn elements(plans: &mut List<'_>) {
    let plane = flat(&[4096, 4096]);
    for dtype in [F32, F16, Bf16] {
        for (name, function) in [
            ("add", Elementwise::ADD),
            ("div", tilewise::ops::Function::Div.into()),
            ("exp", tilewise::ops::Function::Exp.into()),
            ("gelu", Elementwise::Activate(Activation::Gelu)),
            ("silu", Elementwise::Activate(Activation::Silu)),
        ] {
            let operands = vec![&plane; function.operands()];
            let problem = ElementwiseProblem::of_one_type(function, &operands, &plane, dtype).expect(FITS);
            plans.add("elementwise", &format!("{name} {dtype}"), &problem);
        }
        for (along, axis) in [("rows", 1), ("columns", 0)] {
            for (name, function) in [
                ("softmax", SoftmaxFunction::Softmax),
                ("softmax backward", SoftmaxFunction::SoftmaxBackward),
            ] {
                let m = function.is_backward().then_some(&plane);
                let problem = SoftmaxProblem::new(function, &plane, m, axis, dtype).expect(FITS);
                plans.add("rows", &format!("{name} {dtype}, along {along}"), &problem);
            }
            for (name, function) in [
                ("sum", ReduceFunction::Sum),
                ("max", ReduceFunction::Max),
                ("argmax", ReduceFunction::ArgMax),
                ("var", ReduceFunction::Variance { correction: 0 }),
            ] {
                let problem = ReduceProblem::new(function, &plane, &[axis], dtype).expect(FITS);
                plans.add("rows", &format!("{name} {dtype}, along {along}"), &problem);
            }
        }
    }
    for (from, to) in [(F32, F16), (F16, F32), (F32, Bf16), (Bf16, F32), (F32, DType::I8)] {
        let problem = CastProblem::new(&plane, from, to, Overflow::Saturate).expect(FITS);
        plans.add("cast", &format!("cast {from} to {to}"), &problem);
    }
    let columns =
        Layout::new("test", plane.shape(), &[2 * plane.shape()[1], 1], plane.shape()[1], usize::MAX)
            .expect(FITS);
    let odd = Layout::new("test", plane.shape(), &[plane.shape()[1] + 1, 1], 1, usize::MAX).expect(FITS);
    for (name, c) in [("into columns", columns), ("at odd offsets", odd)] {
        for dtype in [F32, F16, DType::I8] {
            let problem = CopyProblem::new(&plane, &c, dtype).expect(FITS);
            plans.add("copy", &format!("copy {dtype}, {name}"), &problem);
        }
    }
    for dtype in [F32, F16] {
        let (row, cache, at) = (flat(&[8, 32, 1, 128]), flat(&[8, 32, 4096, 128]), flat(&[1]));
        let problem = CopyProblem::at_position(Longer::C, [&row, &cache], 2, &at, dtype).expect(FITS);
        plans.add("copy", &format!("copy {dtype}, to a position"), &problem);
        let problem = CopyProblem::at_position(Longer::A, [&cache, &row], 2, &at, dtype).expect(FITS);
        plans.add("copy", &format!("copy {dtype}, from a position"), &problem);
    }
    let (table, ids, scores, labels) = (flat(&[50_257, 768]), flat(&[8, 1024]), plane, flat(&[4096, 1]));
    for dtype in [F32, F16] {
        let problem = GatherProblem::new(Taken::Rows, &table, &ids, dtype).expect(FITS);
        plans.add("gather", &format!("embedding {dtype}"), &problem);
        let problem = GatherProblem::new(Taken::Elements(1), &scores, &labels, dtype).expect(FITS);
        plans.add("gather", &format!("gather {dtype}"), &problem);
        let layouts = [&table, &ids, &flat(&[8, 1024, 768])];
        let problem = ScatterProblem::new(Target::Rows { padding: None }, layouts, dtype).expect(FITS);
        plans.add("scatter", &format!("embedding {dtype}, backward"), &problem);
        let problem = PadProblem::new(&flat(&[8, 56, 56, 64]), &[(0, 0), (1, 1), (1, 1), (0, 0)], dtype);
        plans.add("pad", &format!("pad {dtype}"), &problem.expect(FITS));
        plans.add("normal", &format!("normal {dtype}"), &NormalProblem::new(1 << 24, dtype).expect(FITS));
    }
    let frame = flat(&[1080, 1920, 4]);
    for (name, transfer) in [("read", ImageTransfer::Read), ("written", ImageTransfer::Write)] {
        for (format, dtype) in
            [(TexelFormat::Rgba8Unorm, F32), (TexelFormat::Rgba8Unorm, F16), (TexelFormat::Rgba16Float, F16)]
        {
            let problem =
                ImageProblem::new(transfer, format, &frame, dtype, ColourScale::Unscaled).expect(FITS);
            plans.add("image", &format!("image {name}, {format:?} {dtype}").to_lowercase(), &problem);
        }
    }
    for precision in [Precision::Fast, Precision::Split] {
        let problem = F16SplitProblem::new(&plane, Side::A, precision).expect(FITS);
        plans.add("f16_split", &format!("halves, {precision:?}").to_lowercase(), &problem);
    }
}

fn sketches(plans: &mut List<'_>) {
    let (rows, columns, sketched) = (16_384, 512, 1024);
    for (name, kind) in [
        ("gaussian", SketchKind::Gaussian),
        ("count sketch", SketchKind::CountSketch),
        ("sjlt 4", SketchKind::Sjlt { nonzeros: 4 }),
        ("hadamard", SketchKind::Hadamard),
    ] {
        let sketch = Sketch::new(kind, [sketched, rows], 1).expect(FITS);
        for (direction, x, what) in [
            (Direction::Forward, flat(&[rows, columns]), ""),
            (Direction::Adjoint, flat(&[sketched, columns]), ", adjoint"),
        ] {
            for dtype in [F32, F16] {
                let name = format!("{name} {dtype}{what}");
                match kind {
                    SketchKind::Gaussian => {
                        let problem = DenseProblem::new(&sketch, direction, &x, 0, dtype).expect(FITS);
                        plans.add("dense sketch", &name, &problem);
                    }
                    SketchKind::Hadamard => {
                        let problem = HadamardProblem::new(&sketch, direction, &x, 0, dtype).expect(FITS);
                        plans.add("hadamard", &name, &problem);
                    }
                    _ => {
                        let problem = SparseProblem::new(&sketch, direction, &x, 0, dtype).expect(FITS);
                        plans.add("sparse sketch", &name, &problem);
                    }
                }
            }
        }
    }
}

fn multivectors(plans: &mut List<'_>) {
    let geometric = Function::Product(Product::Geometric);
    let mut add = |name: &str, function: Function, [x, c]: [&Blades; 2], axis: BladeAxis, dtype: DType| {
        let layout = |blades: &Blades| match axis {
            BladeAxis::First => flat(&[blades.len(), 4096, 64]),
            BladeAxis::Last => flat(&[4096, 64, blades.len()]),
        };
        let (of_x, of_c) = (layout(x), layout(c));
        let operands = vec![MvLayout { layout: &of_x, blades: x }; function.operands()];
        let c = MvLayout { layout: &of_c, blades: c };
        let problem = CliffordProblem::new(function, &operands, c, axis, dtype).expect(FITS);
        plans.add("clifford", &format!("{name} {dtype}"), &problem);
    };
    let [cl3, pga] = [Signature::CL3, Signature::PGA3D].map(|signature| signature.blades());
    let (even, turns) = (Signature::PGA3D.even(), Signature::PGA3D.bivectors());
    let six = Signature::new(6, 0, 0).expect("six vectors").blades();
    for dtype in [F32, F16] {
        add("geometric product Cl(3)", geometric, [&cl3; 2], BladeAxis::First, dtype);
        add("geometric product Cl(3), blades last", geometric, [&cl3; 2], BladeAxis::Last, dtype);
    }
    for (name, function, blades) in [
        ("geometric product PGA", geometric, [&pga; 2]),
        ("geometric product Cl(6)", geometric, [&six; 2]),
        ("reverse Cl(3)", Function::Unary(Unary::Reverse), [&cl3; 2]),
        ("inverse Cl(3)", Function::Inverse, [&cl3; 2]),
        ("sandwich of motors", Function::Sandwich, [&even; 2]),
        ("normalised motors", Function::Normalize, [&even; 2]),
        ("exponential of lines", Function::Exp, [&turns, &even]),
        ("logarithm of motors", Function::Log(LogBranch::Shortest), [&even, &turns]),
        ("between motors", Function::LogBetween, [&even, &turns]),
    ] {
        add(name, function, blades, BladeAxis::First, F32);
    }
}

fn layers(plans: &mut List<'_>) {
    let (rows, features) = (4096, 64);
    for signature in [Signature::CL2, Signature::CL3] {
        let layer = LayerProduct::new(signature).norm(GradeNorm::Rms).gate(Gate::Gelu);
        let (blades, paths) = (signature.blades(), signature.paths().len());
        let (x, w) = (flat(&[blades.len(), rows, features]), flat(&[features, paths]));
        let weight = flat(&[paths, features, features]);
        for dtype in [F32, F16] {
            for function in [
                RowFunction::Steerable,
                RowFunction::SteerableBackward,
                RowFunction::Normalize,
                RowFunction::NormalizeBackward,
            ] {
                let layouts = RowOperandLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
                let problem = RowProblem::new(function, layer, &blades, layouts, dtype).expect(FITS);
                plans.add("layer rows", &format!("{} {signature} {dtype}", function.name()), &problem);
            }
            let product = ConnectedProblem::new(layer, &blades, [&x, &x], &weight, dtype).expect(FITS);
            let forward = ConnectedForward::new(product, OperandRounding::None, Pin::Free).expect(FITS);
            plans.add("connected", &format!("connected layer {signature} {dtype}"), &forward);
            let backward = ConnectedBackward::new(forward, &x).expect(FITS);
            plans.add("connected", &format!("connected layer, backward {signature} {dtype}"), &backward);
        }
    }
    let (algebra, blades) = (Signature::CL3, Signature::CL3.blades());
    let [x, weight] = [[blades.len(), rows, features], [algebra.paths().len(), features, features]];
    let product = LayerProduct::new(algebra).gate(Gate::Gelu);
    let product = ConnectedProblem::new(product, &blades, [&flat(&x); 2], &flat(&weight), Bf16).expect(FITS);
    let forward = ConnectedForward::new(product, OperandRounding::None, Pin::Free).expect(FITS);
    plans.add("connected", "connected layer bf16", &forward);
    let x = flat(&[blades.len(), rows, features]);
    for (function, (what, g)) in FeatureFunction::ALL
        .into_iter()
        .flat_map(|function| [("", None), (", backward", Some(&x))].map(|pass| (function, pass)))
    {
        let parameter = flat(&[features, function.parts(&blades)]);
        let parameters = vec![&parameter; function.parameters()];
        let problem = FeaturesProblem::new(function, &blades, &x, g, &parameters, F32).expect(FITS);
        plans.add("features", &format!("{function:?}{what} Cl(3) f32").to_lowercase(), &problem);
    }
}
