//! No step keeps a device for longer than its watchdog waits: of the largest problems of every family, on every device.

use crate::support::wgsl;
use tilewise::clifford::layer::{
    ConnectedBackward, ConnectedForward, ConnectedProblem, FeatureFunction, FeaturesProblem, GradeNorm,
    LayerProduct, Multiplied, RowFunction, RowLayouts, RowProblem,
};
use tilewise::clifford::{BladeAxis, CliffordProblem, Function, Placed, Product, Signature};
use tilewise::gemm::{Entries, GemmProblem, GemmTypes, Generated, HalvesProblem, Outer, Pin, Side};
use tilewise::gpu::{DeviceType, fixtures};
use tilewise::ops::{CastProblem, Elementwise, ElementwiseProblem, Overflow, Rows, RowsProblem};
use tilewise::plan::{Plan, Problem, Step};
use tilewise::sketch::{DenseProblem, HadamardProblem, Sketch, SketchKind, SparseProblem, Way};
use tilewise::{Activation, Caps, DType, Error, Layout, Precision, Result};

/// Seconds that a step may take.
const LONGEST: f64 = 0.5;

/// A problem whose largest operand has about so many elements of f32, planned.
type Family = (&'static str, fn(usize, &Caps) -> Result<Plan>);

const FAMILIES: [Family; 27] = [
    ("product", |n, caps| product(cube(n), F32)?.plan(caps)),
    ("product of f16", |n, caps| product(cube(2 * n), GemmTypes::new(DType::F16, DType::F32))?.plan(caps)),
    ("product of i8", |n, caps| product(cube(n), wgsl::I8)?.plan(caps)),
    ("scalar product", |n, caps| product([1, 1, n], F32)?.plan(caps)),
    ("outer product", |n, caps| product([cube(n)[0], cube(n)[0], 1], F32)?.plan(caps)),
    ("product of a row", |n, caps| product([1, cube(n)[0], cube(n)[0]], F32)?.plan(caps)),
    ("product of a column", |n, caps| product([cube(n)[0], 1, cube(n)[0]], F32)?.plan(caps)),
    ("product of two narrow ones", |n, caps| product([64, 64, n / 64], F32)?.plan(caps)),
    ("fast product", |n, caps| product(cube(n), F32)?.precision(Precision::Fast).plan(caps)),
    ("split product", |n, caps| product(cube(n), F32)?.precision(Precision::Split).plan(caps)),
    ("product of what is made", |n, caps| {
        let generated = Generated { side: Side::B, entries: Entries::Normal, outer: Outer::Rows, tag: 1 };
        product(cube(n), F32)?.generated(generated).plan(caps)
    }),
    ("halves", |n, caps| {
        HalvesProblem::new(&flat(&[n / 4096, 4096])?, Side::A, Precision::Split)?.plan(caps)
    }),
    ("addition", |n, caps| {
        let x = flat(&[n])?;
        ElementwiseProblem::new(Elementwise::Add, &[&x, &x], &x, DType::F32)?.plan(caps)
    }),
    ("activation", |n, caps| {
        let x = flat(&[n])?;
        ElementwiseProblem::new(Elementwise::Activate(Activation::Gelu), &[&x], &x, DType::F32)?.plan(caps)
    }),
    ("sum", |n, caps| RowsProblem::new(Rows::Sum, &flat(&[1, n])?, 1, DType::F32)?.plan(caps)),
    ("softmax", |n, caps| RowsProblem::new(Rows::Softmax, &flat(&[n / 64, 64])?, 1, DType::F32)?.plan(caps)),
    ("cast", |n, caps| {
        CastProblem::new(&flat(&[n])?, DType::F32, DType::F16, Overflow::Saturate)?.plan(caps)
    }),
    ("dense sketch", |n, caps| {
        let rows = cube(n)[0];
        let sketch = Sketch::new(SketchKind::Gaussian, [rows / 2, rows], 1)?;
        DenseProblem::new(&sketch, Way::Forward, &flat(&[rows, rows])?, 0, DType::F32)?.plan(caps)
    }),
    ("sparse sketch", |n, caps| {
        let sketch = Sketch::new(SketchKind::Sjlt { nonzeros: 64 }, [4096, n / 64], 1)?;
        SparseProblem::new(&sketch, Way::Forward, &flat(&[n / 64, 64])?, 0, DType::F32)?.plan(caps)
    }),
    ("hadamard", |n, caps| {
        let rows = (n / 16).min(1 << 24);
        let sketch = Sketch::new(SketchKind::Hadamard, [rows / 2, rows], 1)?;
        HadamardProblem::new(&sketch, Way::Forward, &flat(&[rows, n / rows])?, 0, DType::F32)?.plan(caps)
    }),
    ("geometric product", |n, caps| multivectors(Signature::CL3, n, caps)),
    ("geometric product by a table", |n, caps| multivectors(Signature::new(8, 0, 0)?, n, caps)),
    ("steerable layer", |n, caps| rows(RowFunction::Steerable, n, caps)),
    ("steerable layer, backward", |n, caps| rows(RowFunction::SteerableBackward, n, caps)),
    ("features, backward", |n, caps| {
        let (blades, features) = (Signature::CL3.blades(), 256);
        let x = flat(&[8, n / 8 / features, features])?;
        let function = FeatureFunction::ALL[0];
        let parameter = flat(&[features, function.parts(&blades)])?;
        let parameters = vec![&parameter; function.parameters()];
        FeaturesProblem::new(function, &blades, &x, Some(&x), &parameters, DType::F32)?.plan(caps)
    }),
    ("connected layer", |n, caps| connected(n)?.plan(caps)),
    ("connected layer, backward", |n, caps| {
        let forward = connected(n)?;
        let features = 1024;
        ConnectedBackward { forward, g: flat(&[4, n / 4 / features, features])? }.plan(caps)
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
    let placed = Placed { layout: &x, blades: &blades };
    let function = Function::Product(Product::Geometric);
    CliffordProblem::new(function, &[placed, placed], placed, BladeAxis::First, DType::F32)?.plan(caps)
}

fn rows(function: RowFunction, n: usize, caps: &Caps) -> Result<Plan> {
    let product = LayerProduct::new(Signature::CL3).norm(GradeNorm::Rms);
    let (blades, features) = (product.blades(), 512);
    let x = flat(&[blades.len(), n / blades.len() / features, features])?;
    let w = flat(&[features, Signature::CL3.paths().len()])?;
    let layouts = RowLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
    RowProblem::new(function, product, &blades, layouts, DType::F32)?.plan(caps)
}

fn connected(n: usize) -> Result<ConnectedForward> {
    let product = LayerProduct::new(Signature::CL2);
    let (blades, features) = (product.blades(), 1024);
    let x = flat(&[blades.len(), n / blades.len() / features, features])?;
    let weight = flat(&[Signature::CL2.paths().len(), features, features])?;
    let product = ConnectedProblem::new(product, &blades, [&x, &x], &weight, DType::F32)?;
    Ok(ConnectedForward { product, multiplied: Multiplied::AsTheyAre, pin: Pin::Free })
}

#[test]
fn no_step_of_the_largest_problems_is_predicted_to_take_longer_than_half_a_second() {
    let (mut in_pieces, mut too_long) = (0, 0);
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
            let Some((n, Ok(plan))) = largest else {
                println!("{name}, {what}: none");
                continue;
            };
            let longest = plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
            let longest = longest.expect("there is something to compute");
            // A workgroup is not cut: one that has a row to itself takes as long as it takes, where no watchdog waits.
            let is_one = longest.grid == [1; 3] && caps.device_type == DeviceType::Software;
            assert!(longest.seconds <= LONGEST || is_one, "{name}, {what} of {n}: {longest}");
            too_long += usize::from(longest.seconds > LONGEST);
            let pieces: Vec<&Step> = plan.steps().iter().filter(|step| step.kernel.is_in_pieces()).collect();
            in_pieces += usize::from(!pieces.is_empty());
            for pair in pieces.windows(2) {
                let [a, b] = [pair[0], pair[1]];
                let next = a.first_block + a.grid.iter().product::<u32>();
                assert!(b.first_block == 0 || b.first_block == next, "{name}, {what}: {a}, then {b}");
            }
        }
    }
    assert_eq!(too_long, 2, "the rows that a workgroup has to itself");
    assert!(in_pieces > 20, "{in_pieces} of the plans are cut");
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
