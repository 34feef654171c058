//! No step keeps a device for longer than its watchdog waits: of the largest problems of every family, on every device.

use support::families::slowed;
use support::wgsl;
use tilewise::clifford::layer::{FeatureFunction, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Product, Signature};
use tilewise::gpu::DeviceType;
use tilewise::ops::Overflow;
use tilewise::ops::TexelFormat;
use tilewise::planning::clifford::{CliffordProblem, Function, MvLayout};
use tilewise::planning::clifford_layer::{
    ConnectedBackward, ConnectedForward, ConnectedProblem, FeaturesProblem, GatesProblem, OperandRounding,
    RowFunction, RowOperandLayouts, RowProblem,
};
use tilewise::planning::fixtures;
use tilewise::planning::gemm::{
    Distribution, F16SplitProblem, GemmProblem, GemmTypes, GeneratedOperand, OuterAxis, Pin, SeedSource, Side,
};
use tilewise::planning::kernel::Language;
use tilewise::planning::ops::{
    CastProblem, ColourScale, CopyProblem, Elementwise, ElementwiseProblem, GatherProblem, ImageProblem,
    ImageTransfer, Longer, NormalProblem, OneHotProblem, PadProblem, ReduceFunction, ReduceProblem,
    ScatterProblem, SoftmaxFunction, SoftmaxProblem, Taken, Target,
};
use tilewise::planning::sketch::{DenseProblem, HadamardProblem, SparseProblem};
use tilewise::planning::{Plan, Problem, Step};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Activation, Caps, DType, Error, Layout, Precision, Result};

/// Seconds that a step may take.
const LONGEST: f64 = 0.5 + 100e-6; // with its launch

/// What one workgroup has to itself and takes longer for, on devices whose watchdog does not wait: a row, or a range of places,
/// for which it draws all lines of a sparse operator.
const TOO_LONG: [(&str, &str); 6] = [
    ("lavapipe", "sparse sketch"),
    ("swiftshader", "sparse sketch"),
    ("swiftshader", "steerable layer"),
    ("swiftshader", "steerable layer, backward"),
    ("swiftshader", "norm, backward"),
    ("swiftshader", "connected layer, backward"),
];

/// What a device cannot run in any size, for want of storage bindings: it has four.
const NONE: [(&str, &str); 6] = [
    ("bare-vulkan", "steerable layer"),
    ("bare-vulkan", "steerable layer, backward"),
    ("bare-vulkan", "features, backward"),
    ("bare-vulkan", "features of rows, backward"),
    ("bare-vulkan", "connected layer"),
    ("bare-vulkan", "connected layer, backward"),
];

/// What is cut along k as well, since its workgroups take too long, or is launched once by another kernel: on a faster device it is
/// another plan.
const OTHERWISE: [(&str, &str); 8] = [
    ("t4", "product of i8"),
    ("intel-xe2", "product of f16"),
    ("intel-xe2", "product of i8"),
    ("intel-xe2", "fast product"),
    ("intel-xe2", "split product"),
    ("swiftshader", "scalar product"),
    ("swiftshader", "product of two narrow ones"),
    ("swiftshader", "connected layer, backward"),
];

/// A problem whose largest operand has about so many elements of f32, planned.
type Family = (&'static str, fn(usize, &Caps) -> Result<Plan>);

const FAMILIES: [Family; 52] = [
    ("product", |n, caps| product(cube(n), F32)?.plan(caps)),
    ("product of f16", |n, caps| product(cube(2 * n), GemmTypes::new(DType::F16, DType::F32))?.plan(caps)),
    ("product of i8", |n, caps| product(cube(n), wgsl::I8)?.plan(caps)),
    ("scalar product", |n, caps| product([1, 1, n], F32)?.plan(caps)),
    ("outer product", |n, caps| product([cube(n)[0], cube(n)[0], 1], F32)?.plan(caps)),
    ("product of a row", |n, caps| product([1, cube(n)[0], cube(n)[0]], F32)?.plan(caps)),
    ("product of a column", |n, caps| product([cube(n)[0], 1, cube(n)[0]], F32)?.plan(caps)),
    ("product of two narrow ones", |n, caps| product([64, 64, n / 64], F32)?.plan(caps)),
    ("products in a batch", |n, caps| {
        let a = flat(&[n / 4096, 64, 64])?;
        GemmProblem::new(&a, &a, &a, F32)?.plan(caps)
    }),
    ("products of f16 in a batch of batches", |n, caps| {
        let [a, b, c] =
            [[16, 64], [64, 16], [16, 16]].map(|[rows, columns]| flat(&[n / 4096, 8, rows, columns]));
        let (a, b, c) = (a?, b?, c?);
        GemmProblem::new(&a, &b, &c, GemmTypes::new(DType::F16, DType::F32))?.plan(caps)
    }),
    ("fast product", |n, caps| product(cube(n), F32)?.precision(Precision::Fast).plan(caps)),
    ("split product", |n, caps| product(cube(n), F32)?.precision(Precision::Split).plan(caps)),
    ("product with a generated operand", |n, caps| {
        let generated = GeneratedOperand {
            side: Side::B,
            entries: Distribution::Normal,
            outer: OuterAxis::Rows,
            tag: 1,
            seed: SeedSource::Scalars,
        };
        product(cube(n), F32)?.generated(generated).plan(caps)
    }),
    ("f16_split", |n, caps| {
        F16SplitProblem::new(&flat(&[n / 4096, 4096])?, Side::A, Precision::Split)?.plan(caps)
    }),
    ("addition", |n, caps| {
        let x = flat(&[n])?;
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&x, &x], &x, DType::F32)?.plan(caps)
    }),
    ("activation", |n, caps| {
        let x = flat(&[n])?;
        ElementwiseProblem::of_one_type(Elementwise::Activate(Activation::Gelu), &[&x], &x, DType::F32)?
            .plan(caps)
    }),
    ("sum", |n, caps| ReduceProblem::new(ReduceFunction::Sum, &flat(&[1, n])?, &[1], DType::F32)?.plan(caps)),
    ("sum across", |n, caps| {
        ReduceProblem::new(ReduceFunction::Sum, &flat(&[n / 1024, 1024])?, &[0], DType::F32)?.plan(caps)
    }),
    ("sums in a batch", |n, caps| {
        ReduceProblem::new(ReduceFunction::MaxAbs, &flat(&[n / 1024, 64, 16])?, &[1], DType::F32)?.plan(caps)
    }),
    ("softmax", |n, caps| {
        SoftmaxProblem::new(SoftmaxFunction::Softmax, &flat(&[n / 64, 64])?, None, 1, DType::F32)?.plan(caps)
    }),
    ("cast", |n, caps| {
        CastProblem::new(&flat(&[n])?, DType::F32, DType::F16, Overflow::Saturate)?.plan(caps)
    }),
    ("copy", |n, caps| CopyProblem::new(&flat(&[n])?, &flat(&[n])?, DType::F16)?.plan(caps)),
    ("copy to a position", |n, caps| {
        let [a, c, at] = [flat(&[n])?, flat(&[n + 8])?, flat(&[1])?];
        CopyProblem::at_position(Longer::C, [&a, &c], 0, &at, DType::F16)?.plan(caps)
    }),
    ("copy from a position", |n, caps| {
        let [a, c, at] = [flat(&[n + 1])?, flat(&[n])?, flat(&[1])?];
        CopyProblem::at_position(Longer::A, [&a, &c], 0, &at, DType::F32)?.plan(caps)
    }),
    ("rows by index", |n, caps| {
        GatherProblem::new(Taken::Rows, &flat(&[4096, 64])?, &flat(&[n / 64])?, DType::F32)?.plan(caps)
    }),
    ("elements by index", |n, caps| {
        let scores = flat(&[n / 1024, 1024])?;
        GatherProblem::new(Taken::Elements(1), &scores, &scores, DType::F16)?.plan(caps)
    }),
    ("added to a table", |n, caps| {
        let [c, ids, values] = [flat(&[4096, 64])?, flat(&[n / 64])?, flat(&[n / 64, 64])?];
        ScatterProblem::new(Target::Rows { padding: None }, [&c, &ids, &values], DType::F32)?.plan(caps)
    }),
    ("padded", |n, caps| {
        PadProblem::new(&flat(&[n / 2048, 1024])?, &[(1, 2), (3, 4)], DType::F32)?.plan(caps)
    }),
    ("one-hot", |n, caps| OneHotProblem::new(&flat(&[n / 1024])?, 1000, DType::F32)?.plan(caps)),
    ("normal", |n, caps| NormalProblem::new(n, DType::F32)?.plan(caps)),
    ("image read", |n, caps| {
        let image = flat(&[n / 4096, 1024, 4])?;
        let (format, scale) = (TexelFormat::Rgba8Unorm, ColourScale::Unscaled);
        ImageProblem::new(ImageTransfer::Read, format, &image, DType::F16, scale)?.plan(caps)
    }),
    ("image written", |n, caps| {
        let image = flat(&[n / 4096, 1024, 4])?;
        let (format, scale) = (TexelFormat::Rgba8Unorm, ColourScale::Unscaled);
        ImageProblem::new(ImageTransfer::Write, format, &image, DType::F16, scale)?.plan(caps)
    }),
    ("dense sketch", |n, caps| {
        let rows = cube(n)[0];
        let sketch = Sketch::new(SketchKind::Gaussian, [rows / 2, rows], 1)?;
        DenseProblem::new(&sketch, Direction::Forward, &flat(&[rows, rows])?, 0, DType::F32)?.plan(caps)
    }),
    ("dense sketch, adjoint", |n, caps| {
        let rows = cube(n)[0];
        let sketch = Sketch::new(SketchKind::Sign, [rows / 2, rows], 1)?;
        DenseProblem::new(&sketch, Direction::Adjoint, &flat(&[rows / 2, rows])?, 0, DType::F32)?.plan(caps)
    }),
    ("sparse sketch", |n, caps| {
        let sketch = Sketch::new(SketchKind::Sjlt { nonzeros: 64 }, [4096, n / 64], 1)?;
        SparseProblem::new(&sketch, Direction::Forward, &flat(&[n / 64, 64])?, 0, DType::F32)?.plan(caps)
    }),
    ("sparse sketch, adjoint", |n, caps| {
        let sketch = Sketch::new(SketchKind::Sjlt { nonzeros: 64 }, [4096, n / 64], 1)?;
        SparseProblem::new(&sketch, Direction::Adjoint, &flat(&[4096, 64])?, 0, DType::F32)?.plan(caps)
    }),
    ("hadamard", |n, caps| hadamard(Direction::Forward, n, caps)),
    ("hadamard, adjoint", |n, caps| hadamard(Direction::Adjoint, n, caps)),
    ("geometric product", |n, caps| multivectors(Signature::CL3, n, caps)),
    ("geometric product by a table", |n, caps| multivectors(Signature::new(8, 0, 0)?, n, caps)),
    ("sandwich", |n, caps| {
        let (motors, points) = (Signature::PGA3D.even(), Signature::PGA3D.points());
        let [m, x] = [flat(&[motors.len(), n / 8])?, flat(&[points.len(), n / 8])?];
        let [m, x] = [(&m, &motors), (&x, &points)].map(|(layout, blades)| MvLayout { layout, blades });
        CliffordProblem::new(Function::Sandwich, &[m, x], x, BladeAxis::First, DType::F32)?.plan(caps)
    }),
    ("steerable layer", |n, caps| rows(RowFunction::Steerable, n, caps)),
    ("steerable layer, backward", |n, caps| rows(RowFunction::SteerableBackward, n, caps)),
    ("norm", |n, caps| rows(RowFunction::Normalize, n, caps)),
    ("norm, backward", |n, caps| rows(RowFunction::NormalizeBackward, n, caps)),
    ("features", |n, caps| features(FeatureFunction::Silu, false, n, caps)),
    ("features, backward", |n, caps| features(FeatureFunction::Normalization, true, n, caps)),
    ("features of rows", |n, caps| features(FeatureFunction::LayerNorm, false, n, caps)),
    ("features of rows, backward", |n, caps| features(FeatureFunction::LayerNorm, true, n, caps)),
    ("gates", |n, caps| {
        let x = flat(&[1, n / 1024, 1024])?;
        GatesProblem::new(Gate::Gelu, [&x, &x], DType::F32)?.plan(caps)
    }),
    ("connected layer", |n, caps| connected(n)?.plan(caps)),
    ("connected layer, backward", |n, caps| {
        let forward = connected(n)?;
        let features = 1024;
        ConnectedBackward::new(forward, &flat(&[4, n / 4 / features, features])?)?.plan(caps)
    }),
];

const F32: GemmTypes = GemmTypes::new(DType::F32, DType::F32);

fn flat(shape: &[usize]) -> Result<Layout> {
    Layout::contiguous("test", shape)
}

/// Square matrices of so many elements.
fn cube(n: usize) -> [usize; 3] {
    [n.isqrt(); 3]
}

fn product([m, n, k]: [usize; 3], types: GemmTypes) -> Result<GemmProblem> {
    GemmProblem::new(&flat(&[m, k])?, &flat(&[k, n])?, &flat(&[m, n])?, types)
}

fn multivectors(signature: Signature, n: usize, caps: &Caps) -> Result<Plan> {
    let blades = signature.blades();
    let x = flat(&[blades.len(), n / blades.len()])?;
    let placed = MvLayout { layout: &x, blades: &blades };
    let function = Function::Product(Product::Geometric);
    CliffordProblem::new(function, &[placed, placed], placed, BladeAxis::First, DType::F32)?.plan(caps)
}

fn rows(function: RowFunction, n: usize, caps: &Caps) -> Result<Plan> {
    let product = LayerProduct::new(Signature::CL3).norm(GradeNorm::Rms);
    let (blades, features) = (product.blades(), 512);
    let x = flat(&[blades.len(), n / blades.len() / features, features])?;
    let w = flat(&[features, Signature::CL3.paths().len()])?;
    let layouts = RowOperandLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
    RowProblem::new(function, product, &blades, layouts, DType::F32)?.plan(caps)
}

fn features(function: FeatureFunction, is_backward: bool, n: usize, caps: &Caps) -> Result<Plan> {
    let (blades, features) = (Signature::CL3.blades(), 256);
    let x = flat(&[8, n / 8 / features, features])?;
    let parameter = flat(&[features, function.parts(&blades)])?;
    let parameters = vec![&parameter; function.parameters()];
    let g = is_backward.then_some(&x);
    FeaturesProblem::new(function, &blades, &x, g, &parameters, DType::F32)?.plan(caps)
}

fn hadamard(direction: Direction, n: usize, caps: &Caps) -> Result<Plan> {
    let rows = (n / 16).min(1 << 24);
    let sketch = Sketch::new(SketchKind::Hadamard, [rows / 2, rows], 1)?;
    let x = flat(&[if direction == Direction::Forward { rows } else { rows / 2 }, n / rows])?;
    HadamardProblem::new(&sketch, direction, &x, 0, DType::F32)?.plan(caps)
}

fn connected(n: usize) -> Result<ConnectedForward> {
    let product = LayerProduct::new(Signature::CL2);
    let (blades, features) = (product.blades(), 1024);
    let x = flat(&[blades.len(), n / blades.len() / features, features])?;
    let weight = flat(&[Signature::CL2.paths().len(), features, features])?;
    let product = ConnectedProblem::new(product, &blades, [&x, &x], &weight, DType::F32)?;
    ConnectedForward::new(product, OperandRounding::None, Pin::Free)
}

/// A step as it is launched: at once, or in several pieces.
struct Whole<'p> {
    pieces: Vec<&'p Step>,
}

impl<'p> Whole<'p> {
    /// All of a plan.
    fn all(plan: &'p Plan) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for step in plan.steps() {
            match all.last_mut() {
                Some(whole) if step.first_block > 0 => whole.pieces.push(step),
                _ => all.push(Self { pieces: vec![step] }),
            }
        }
        all
    }

    fn seconds(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.seconds).sum()
    }

    /// What runs: kernel, tile and sizes. Behind those of a piece is where it begins.
    fn what(&self) -> (&str, &str, &[u8]) {
        let Step { kernel, tile, dims, .. } = self.pieces[0];
        let sizes = if self.pieces.len() > 1 { dims.len() - size_of::<u32>() } else { dims.len() };
        (kernel.shader(), tile, &dims[..sizes])
    }

    /// Bytes that it reads and writes.
    fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.work.bytes()).sum()
    }

    /// Asserts that each piece begins where the one before ends, and the last ends where `at_once`, which is not cut, does: its
    /// grid, but for idle workgroups at the end of a fold, and its work, to the byte.
    fn assert_reaches_the_end_of(&self, at_once: &Self, what: &str) {
        let mut next = 0;
        for piece in &self.pieces {
            assert_eq!(piece.first_block, next, "{what}: {piece}");
            next += piece.grid.iter().product::<u32>();
        }
        let [whole] = at_once.pieces[..] else { panic!("{what}: it is cut on a fast device too") };
        let is_text = whole.kernel.language() == Language::Wgsl;
        assert!(!is_text || !whole.kernel.is_launched_in_pieces(), "{what}: {whole}");
        let [x, y, z] = whole.grid;
        assert!(next.abs_diff(x * y * z) < y * z, "{what}: {next} of {:?}", whole.grid);
        assert_eq!(self.bytes(), at_once.bytes(), "{what}: {whole}");
    }
}

#[test]
fn no_step_of_the_largest_problems_is_predicted_to_take_longer_than_half_a_second() {
    let (mut cut, mut none, mut too_long, mut otherwise) = (0, Vec::new(), Vec::new(), Vec::new());
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        for (what, plan) in FAMILIES {
            let elements = usize::try_from(caps.limits.buffer_bytes / 4).expect("64 bits");
            let sizes = std::iter::successors(Some(elements), |n| (*n > 1 << 16).then_some(n / 2));
            let largest = sizes.map(|n| (n, plan(n, &caps))).find(|(_, plan)| match plan {
                Ok(_) => true,
                Err(Error::Limit { .. } | Error::Shape { .. } | Error::Unsupported { .. }) => false,
                Err(error) => panic!("{name}, {what}: {error}"),
            });
            let Some((n, Ok(planned))) = largest else {
                none.push((name, what));
                continue;
            };
            let longest = planned.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
            let longest = longest.expect("there is something to compute");
            // A workgroup is not cut: one that has a row to itself takes as long as it takes, where no watchdog waits.
            let is_one = longest.grid == [1; 3] && caps.device_type == DeviceType::Software;
            assert!(longest.seconds <= LONGEST || is_one, "{name}, {what} of {n}: {longest}");
            if longest.seconds > LONGEST {
                too_long.push((name, what));
            }
            let wholes = Whole::all(&planned);
            let in_pieces = wholes.iter().filter(|whole| whole.pieces.len() > 1).count();
            if in_pieces == 0 {
                continue;
            }
            // The same on a device that is so fast that nothing is cut.
            let seconds = wholes.iter().map(Whole::seconds).fold(0.0, f64::max);
            let fast = plan(n, &slowed(&caps, 0.4 / seconds)).expect("it is planned for the slow device");
            let at_once = Whole::all(&fast);
            if !wholes.iter().map(Whole::what).eq(at_once.iter().map(Whole::what)) {
                otherwise.push((name, what));
                continue;
            }
            for (whole, at_once) in wholes.iter().zip(&at_once).filter(|(whole, _)| whole.pieces.len() > 1) {
                whole.assert_reaches_the_end_of(at_once, &format!("{name}, {what} of {n}"));
                cut += 1;
            }
        }
    }
    println!("{cut} steps are cut");
    assert_eq!(none, NONE);
    assert_eq!(too_long, TOO_LONG);
    assert_eq!(otherwise, OTHERWISE);
    assert!(cut > 100, "{cut} steps are cut");
}

#[test]
fn what_has_no_room_for_one_more_immediate_takes_its_dims_from_the_ring() {
    let mut caps = fixtures::swiftshader();
    let problem = product([16_384; 3], F32).expect("a large product");
    let whole = plan_of(&problem, &caps);
    let dims = u32::try_from(whole.steps()[0].dims.len()).expect("few") - 4;
    for (room, from) in [(dims, "var<uniform> dims"), (dims + 4, "var<immediate> dims")] {
        caps.limits.immediate_bytes = room;
        let plan = plan_of(&problem, &caps);
        assert!(plan.steps()[1].first_block > 0, "{plan}");
        let text = plan.steps()[1].kernel.specialize().expect("it has dims");
        assert!(text.contains(from) && text.contains("first_block: u32"), "{room}: {text}");
    }
}

fn plan_of(problem: &GemmProblem, caps: &Caps) -> Plan {
    problem.plan(caps).expect("it is cut into panels and pieces")
}
