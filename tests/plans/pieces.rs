//! No step keeps a device for longer than its watchdog waits: of the largest problems of every family, on every device.

use support::families::{F32, Of, growing, slowed};
use support::wgsl;
use tilewise::gpu::DeviceType;
use tilewise::planning::gemm::{
    Distribution, GemmProblem, GemmTypes, GeneratedOperand, OuterAxis, SeedSource, Side,
};
use tilewise::planning::kernel::Language;
use tilewise::planning::sketch::DenseProblem;
use tilewise::planning::{Plan, Problem, Step, fixtures};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Caps, DType, Error, Layout, Precision, Result};

/// Seconds that a step may take.
const LONGEST: f64 = 0.5 + 100e-6; // with its launch

/// What is cut along k as well, since its workgroups take too long, or is launched once by another kernel: on a faster device it is
/// another plan.
const OTHERWISE: [(&str, &str); 11] = [
    ("t4", "product of i8"),
    ("intel-xe2", "product of f16"),
    ("intel-xe2", "product of i8"),
    ("intel-xe2", "fast product"),
    ("intel-xe2", "split product"),
    ("lavapipe", "narrow connected layer, backward"),
    ("swiftshader", "scalar product"),
    ("swiftshader", "product of two narrow ones"),
    ("swiftshader", "connected layer, backward"),
    ("swiftshader", "convolution, gradient of the weight"),
    ("swiftshader", "narrow connected layer, backward"),
];

/// A product whose largest operand has about so many elements of f32, planned.
type Product = (&'static str, fn(usize, &Caps) -> Result<Plan>);

/// A product, or a family that grows.
enum Planner {
    Product(fn(usize, &Caps) -> Result<Plan>),
    Grown(fn(&Of<'_>) -> Result<Plan>),
}

const PRODUCTS: [Product; 15] = [
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
    ("square dense sketch", |n, caps| {
        let rows = cube(n)[0];
        let sketch = Sketch::new(SketchKind::Gaussian, [rows / 2, rows], 1)?;
        DenseProblem::new(&sketch, Direction::Forward, &flat(&[rows, rows])?, 0, DType::F32)?.plan(caps)
    }),
    ("square dense sketch, adjoint", |n, caps| {
        let rows = cube(n)[0];
        let sketch = Sketch::new(SketchKind::Sign, [rows / 2, rows], 1)?;
        DenseProblem::new(&sketch, Direction::Adjoint, &flat(&[rows / 2, rows])?, 0, DType::F32)?.plan(caps)
    }),
];

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
    let families = growing();
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let grown = families.iter().map(|(what, plan)| (*what, Planner::Grown(*plan)));
        for (what, planner) in
            PRODUCTS.map(|(what, plan)| (what, Planner::Product(plan))).into_iter().chain(grown)
        {
            let plan = |n: usize, caps: &Caps| match planner {
                Planner::Product(plan) => plan(n, caps),
                Planner::Grown(plan) => plan(&Of::large(n, caps)),
            };
            let elements = usize::try_from(caps.limits.buffer_bytes / 4).expect("64 bits");
            let sizes = std::iter::successors(Some(elements), |n| (*n > 1 << 16).then_some(n / 2));
            let largest = sizes.map(|n| (n, plan(n, &caps))).find(|(_, plan)| match plan {
                Ok(_) => true,
                Err(Error::Limit { .. } | Error::Shape { .. } | Error::Unsupported { .. }) => false,
                Err(error) => panic!("{name}, {what}: {error}"),
            });
            let Some((n, Ok(planned))) = largest else {
                let small = plan(1 << 12, &caps);
                assert!(matches!(small, Err(Error::Unsupported { .. })), "{name}, {what}: {small:?}");
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
    assert!(
        none.iter().all(|(name, _)| *name == "bare-vulkan"),
        "four storage bindings do not suffice: {none:?}"
    );
    // Where no watchdog waits, as asserted for each.
    println!("one workgroup takes longer: {too_long:?}");
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
