//! Matrix products as large as they may be.

use super::launch::Launch;
use support::laid::view;
use support::{limits, wgsl};
use tilewise::gemm::{Accumulator, GemmKernel, SplitK, Tile};
use tilewise::gpu::MatrixOrder;
use tilewise::planning::Problem;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::{GemmProblem, GemmTypes, Pin, product_shape};
use tilewise::{Caps, DType};

/// The longest window, in bytes.
pub(crate) const WINDOW: usize = (1 << 31) - 512;

/// A device that binds as much as any, and runs every tile.
pub(crate) fn caps() -> Caps {
    let mut caps = fixtures::lavapipe();
    caps.rows.extend(fixtures::h200().rows);
    caps.limits = fixtures::h200().limits;
    caps
}

/// The same, with operands of cooperative matrices transposed to rows along k.
pub(crate) fn along_k() -> Caps {
    let mut caps = caps();
    caps.machine.matrix_order = MatrixOrder::AlongK;
    caps
}

/// The same without what a shader does without: f16, immediates, and subgroups.
pub(crate) fn bare() -> Caps {
    let mut caps = caps();
    (caps.f16, caps.limits.immediate_bytes, caps.subgroups) = (false, 0, None);
    caps
}

const TYPES: [GemmTypes; 5] = [
    GemmTypes::new(DType::F32, DType::F32),
    GemmTypes::new(DType::F16, DType::F32),
    GemmTypes::new(DType::Bf16, DType::Bf16),
    GemmTypes::new(DType::I8, DType::I32),
    GemmTypes::new(DType::F8E4M3, DType::F32),
];

/// A matrix or a batch of them: shape and strides.
type Matrix = (Vec<usize>, Vec<usize>);

fn plain(shape: &[usize]) -> Matrix {
    let strides = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect();
    (shape.to_vec(), strides)
}

/// Operands A and B, and the parts of k, of so many elements in a window of A and B, and in one of C.
fn problems([ab, c]: [usize; 2]) -> Vec<(&'static str, Matrix, Matrix, u32)> {
    let root = |n: usize| n.isqrt() / 32 * 32;
    let (edge, square) = (root(ab.min(c)), root(ab));
    let last = ab - 1;
    let t = |m: usize, n: usize| (vec![m, n], vec![1, m]);
    let batches = 8192;
    vec![
        ("square", plain(&[edge, edge]), plain(&[edge, edge]), 1),
        ("square, transposed", t(edge, edge - 1), t(edge - 1, edge), 1),
        ("long k", plain(&[3, ab / 4 - 3]), t(ab / 4 - 3, 3), 1),
        ("long k in parts", plain(&[3, ab / 16 * 4]), t(ab / 16 * 4, 3), 97),
        ("many rows", plain(&[c / 4 - 3, 2]), plain(&[2, 3]), 1),
        ("many columns", plain(&[3, 2]), plain(&[2, c / 4 - 3]), 1),
        ("rows far apart", (vec![2, 5], vec![last - 4, 1]), (vec![5, 2], vec![1, last - 4]), 1),
        ("k far apart", (vec![5, 2], vec![1, last - 4]), (vec![2, 5], vec![last - 4, 1]), 1),
        ("repeated k", (vec![7, (1 << 31) - 1], vec![1, 0]), (vec![(1 << 31) - 1, 7], vec![0, 1]), 1),
        (
            "three rows of k far apart",
            (vec![3, 3], vec![last / 4, last / 4]),
            (vec![3, 3], vec![last / 4, last / 4]),
            1,
        ),
        ("many matrices", plain(&[c / 64, 8, 1]), plain(&[1, 1, 8]), 1),
        ("many products of a matrix", (vec![c / 70, 8, 3], vec![0, 3, 1]), plain(&[1, 3, 8]), 1),
        ("two batches", plain(&[2, batches, 1, 33]), plain(&[2, 1, 33, c / 4 / batches / 4 * 2]), 2),
        (
            "many matrices in parts",
            plain(&[c / 4 / 64 / 5 / 8 * 8, 8, 130]).repeated(),
            plain(&[1, 130, 8]),
            5,
        ),
        (
            "as many parts as there may be",
            plain(&[square / 64, 33 * 64]),
            plain(&[33 * 64, c / (square / 64) / 66 - 1]),
            66,
        ),
    ]
}

trait Repeated {
    fn repeated(self) -> Self;
}

impl Repeated for Matrix {
    /// The same matrix in every place of its batch.
    fn repeated(mut self) -> Self {
        self.1[0] = 0;
        self
    }
}

/// The tiles of every kernel that is a text: naga reads no module with cooperative matrices.
pub(crate) fn tiles() -> impl Iterator<Item = &'static Tile> {
    let modules = [GemmKernel::CoopKhr, GemmKernel::CoopNv2];
    let texts = GemmKernel::ALL.iter().filter(move |kernel| !modules.contains(kernel));
    texts.flat_map(|kernel| kernel.tiles())
}

/// Every tile, each with every problem that it takes.
pub(crate) fn launches() -> Vec<Launch> {
    let devices = [caps(), bare(), along_k()];
    let mut launches = Vec::new();
    for (i, tile) in tiles().enumerate() {
        for (j, types) in TYPES.into_iter().enumerate() {
            let elements = [types.ab, types.c].map(|dtype| WINDOW / dtype.size());
            for (k, (what, a, b, parts)) in problems(elements).into_iter().enumerate() {
                for offset in [0, 63] {
                    if !support::is_full_sweep() && (i + j + k + offset) % 4 != 0 {
                        continue;
                    }
                    let case = i + j + k;
                    // Cooperative matrices are of f16.
                    let device = match (case % 2, tile.kernel) {
                        (0, _) => 0,
                        (_, GemmKernel::Coop) => 2,
                        _ => 1,
                    };
                    let is_bare = device == 1;
                    let mut types = types;
                    if types.ab == DType::F16 && !is_bare && case % 4 == 0 {
                        types.accumulator = Accumulator::F16;
                    }
                    // Loaded from the same places.
                    if types.ab == DType::F8E4M3 && case / 4 % 2 == 1 {
                        types.ab = DType::F8E5M2;
                    }
                    let caps = &devices[device];
                    // Steps that no number of epilogues divides, so that each meets every tile and type.
                    let which = 31 * i + 17 * j + 5 * k + offset;
                    launches.extend(product(caps, tile, types, what, [&a, &b], parts, [offset, which]));
                }
            }
        }
    }
    launches.extend(epilogues());
    launches.extend(quantised());
    launches
}

/// Every epilogue, of what is stored in vectors and of what is not, on one tile.
fn epilogues() -> Vec<Launch> {
    let tile = GemmKernel::Tiled.tiles().last().expect("there are tiles");
    let types = TYPES[0];
    let problems = problems([types.ab, types.c].map(|dtype| WINDOW / dtype.size()));
    let mut launches = Vec::new();
    for (i, (what, a, b, parts)) in problems.iter().take(2).enumerate() {
        for epilogue in 0..wgsl::epilogues().len() {
            launches.extend(product(&caps(), tile, types, what, [a, b], *parts, [63 * i, 3 * epilogue]));
        }
    }
    launches
}

/// Products of i8 with scales, on each kernel and type of result.
fn quantised() -> Vec<Launch> {
    let mut launches = Vec::new();
    for (i, (types, epilogue)) in wgsl::quantised_forms().into_iter().enumerate() {
        let problems = problems([types.ab, types.c].map(|dtype| WINDOW / dtype.size().max(4)));
        // Elements of all problems, from odd offsets too; whole vectors of squares.
        for (kernel, which, offset) in
            [(GemmKernel::Naive, i % 4, i % 2 * 63), (GemmKernel::Dot, 0, 0), (GemmKernel::Dot, 1, 63)]
        {
            let (what, a, b, _) = &problems[which];
            let layout = |(shape, strides): &Matrix| view(shape, strides, offset);
            let (a, b) = (layout(a), layout(b));
            let c = layout(&plain(&product_shape(&a, &b).expect("shapes that go together")));
            let Ok(problem) = GemmProblem::new(&a, &b, &c, types) else { continue };
            let apart = u32::try_from(WINDOW / 4 - 1).expect("31 bits") / problem.dims().n.max(2);
            let problem = limits::finished(problem, epilogue, apart).pinned(Pin::Tile(kernel.tiles()[0]));
            let Ok(plan) = problem.plan(&caps()) else { continue };
            let said = format!("quantised {what}, {types:?}, {:?}", problem.dims());
            launches.extend(Launch::steps(&said, &plan));
        }
    }
    assert!(launches.len() > 8, "there are launches");
    launches
}

fn product(
    caps: &Caps,
    tile: &Tile,
    types: GemmTypes,
    what: &str,
    [a, b]: [&Matrix; 2],
    parts: u32,
    [offset, which]: [usize; 2],
) -> Vec<Launch> {
    let layout = |matrix: &Matrix, offset: usize| view(&matrix.0, &matrix.1, offset);
    let (a, b) = (layout(a, offset), layout(b, offset));
    let Ok(shape) = product_shape(&a, &b) else { panic!("{what}: shapes") };
    let c = layout(&plain(&shape), offset);
    let Ok(problem) = GemmProblem::new(&a, &b, &c, types) else { return Vec::new() };
    let problem = problem.pinned(Pin::Tile(*tile)).split_k(SplitK::Splits(parts));
    let problem = if which.is_multiple_of(3) { finished(problem, which / 3) } else { problem };
    let Ok(plan) = problem.plan(caps) else { return Vec::new() };
    Launch::steps(&format!("{what}, {types:?}, offset {offset}, {:?}", problem.dims()), &plan)
}

/// A product with an epilogue: a bias whose elements are as far apart as they may be, and a residual that lies as C does.
fn finished(problem: GemmProblem, case: usize) -> GemmProblem {
    if !problem.types().ab.is_real() {
        return problem;
    }
    let epilogues = wgsl::epilogues();
    let apart = u32::try_from(WINDOW / 4 - 1).expect("31 bits") / problem.dims().n.max(2);
    limits::finished(problem, epilogues[case % epilogues.len()], apart)
}
