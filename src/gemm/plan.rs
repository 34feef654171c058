//! How to compute a matrix product: the one choice.

use super::problem::{GemmProblem, OP, Pin};
use crate::gpu::{Caps, DeviceType};
use crate::kernel::{self, Kernel, Plan, Seconds};
use crate::tensor::DType;
use crate::{Error, Result};
use std::fmt;

/// A way to compute matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GemmKernel {
    /// Every element by one invocation: needs nothing.
    Naive,
    /// Blocks staged in shared memory, patches in registers.
    Tiled,
}

/// A kernel with the sizes of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The kernel.
    pub kernel: GemmKernel,
    /// Rows of C per workgroup.
    pub bm: u32,
    /// Columns of C per workgroup.
    pub bn: u32,
    /// Depth of the staged blocks.
    pub bk: u32,
    /// Rows of C per invocation.
    pub tm: u32,
    /// Columns of C per invocation.
    pub tn: u32,
}

const fn tile(kernel: GemmKernel, [bm, bn, bk]: [u32; 3], [tm, tn]: [u32; 2]) -> Tile {
    Tile { kernel, bm, bn, bk, tm, tn }
}

const NAIVE: [Tile; 1] = [tile(GemmKernel::Naive, [1, 64, 1], [1, 1])];
const TILED: [Tile; 5] = [
    tile(GemmKernel::Tiled, [128, 128, 8], [8, 8]),
    tile(GemmKernel::Tiled, [128, 128, 8], [16, 16]),
    tile(GemmKernel::Tiled, [64, 64, 8], [8, 8]),
    tile(GemmKernel::Tiled, [64, 64, 16], [4, 4]),
    tile(GemmKernel::Tiled, [32, 32, 16], [4, 4]),
];

/// Accumulators that an invocation of a GPU keeps in registers beside its operands. A software device keeps them in
/// the CPU's first cache, where larger patches pay.
const REGISTERS: u32 = 128;

/// How to compute `problem` on a device: the candidate that is predicted to be the fastest.
///
/// # Errors
/// [`Error::Limit`] if an operand is larger than this device can bind; [`Error::Unsupported`] if the problem is
/// pinned to what the device cannot run.
pub fn plan(problem: &GemmProblem, caps: &Caps) -> Result<Plan> {
    for (elements, dtype) in problem.binding_elements().into_iter().zip(problem.types.of_operands()) {
        kernel::check_binding(OP, caps, elements, dtype)?;
    }
    GemmKernel::ALL
        .iter()
        .flat_map(|kernel| kernel.tiles())
        .filter(|tile| problem.pin.allows(tile) && tile.fits(caps).is_ok())
        .min_by(|a, b| a.cost(problem, caps).total_cmp(&b.cost(problem, caps)))
        .ok_or_else(|| unsupported(problem, caps))?
        .plan(problem, caps)
}

/// As [`plan`], with a reason for every other kernel why it was passed over.
///
/// # Errors
/// As [`plan`].
pub fn explain(problem: &GemmProblem, caps: &Caps) -> Result<Plan> {
    let mut chosen = plan(problem, caps)?;
    let others = GemmKernel::ALL.iter().filter(|kernel| kernel.shader() != chosen.kernel.shader());
    chosen.reasons =
        others.map(|kernel| format!("{kernel}: {}", kernel.passed_over(problem, caps))).collect();
    Ok(chosen)
}

fn unsupported(problem: &GemmProblem, caps: &Caps) -> Error {
    let lacking =
        GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles()).filter(|tile| problem.pin.allows(tile));
    let needs: Vec<String> = lacking.filter_map(|tile| tile.fits(caps).err()).collect();
    let needs = if needs.is_empty() {
        format!("a tile of its table, not {:?}", problem.pin)
    } else {
        needs.join(", or ")
    };
    Error::Unsupported { op: OP, needs, device: caps.adapter.clone() }
}

impl GemmKernel {
    /// Every kernel.
    pub const ALL: [Self; 2] = [Self::Naive, Self::Tiled];

    /// The kernel's tiles.
    #[must_use]
    pub const fn tiles(self) -> &'static [Tile] {
        match self {
            Self::Naive => &NAIVE,
            Self::Tiled => &TILED,
        }
    }

    /// The file of the kernel, in `shaders/`.
    #[must_use]
    pub const fn shader(self) -> &'static str {
        match self {
            Self::Naive => "gemm_naive",
            Self::Tiled => "gemm_tiled",
        }
    }

    fn passed_over(self, problem: &GemmProblem, caps: &Caps) -> String {
        if !self.tiles().iter().any(|tile| problem.pin.allows(tile)) {
            return "another kernel is pinned".into();
        }
        let fitting = self.tiles().iter().filter(|tile| tile.fits(caps).is_ok());
        let fastest = fitting.map(|tile| tile.cost(problem, caps)).min_by(f64::total_cmp);
        match (fastest, self.tiles()[0].fits(caps)) {
            (Some(seconds), _) => format!("slower here, predicted {}", Seconds(seconds)),
            (None, Err(needs)) => format!("needs {needs}"),
            (None, Ok(())) => "no tile fits".into(),
        }
    }
}

impl fmt::Display for GemmKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Naive => "naive",
            Self::Tiled => "tiled",
        })
    }
}

impl Pin {
    fn allows(&self, tile: &Tile) -> bool {
        match self {
            Self::Free => true,
            Self::Kernel(kernel) => tile.kernel == *kernel,
            Self::Tile(pinned) => tile == pinned,
        }
    }
}

impl Tile {
    /// Invocations of one workgroup.
    #[must_use]
    pub const fn invocations(&self) -> u32 {
        self.bm / self.tm * (self.bn / self.tn)
    }

    /// Bytes of shared memory of one workgroup.
    #[must_use]
    pub const fn workgroup_bytes(&self) -> u32 {
        match self.kernel {
            GemmKernel::Naive => 0,
            // Two blocks of f32, each row padded by one vector (`stage_x.wgsl`).
            GemmKernel::Tiled => (self.bm + 4 + self.bn + 4) * self.bk * 4,
        }
    }

    /// Whether the device can run the tile; if not, what it needs.
    ///
    /// # Errors
    /// What the device lacks, in words.
    pub fn fits(&self, caps: &Caps) -> Result<(), String> {
        let limits = &caps.limits;
        if self.invocations() > limits.workgroup_invocations {
            return Err(format!("{} invocations per workgroup", self.invocations()));
        }
        if self.workgroup_bytes() > limits.workgroup_bytes {
            return Err(format!("{} bytes of shared memory", self.workgroup_bytes()));
        }
        let accumulators = self.tm * self.tn;
        if accumulators > REGISTERS && caps.device_type != DeviceType::Software {
            return Err(format!("{accumulators} accumulators per invocation, which a GPU would spill"));
        }
        Ok(())
    }

    /// Predicted seconds: the longer of computing, in whole waves of blocks over the cores, and of moving A, B and C
    /// once each. Weighed against other tiles; a coarse model, not a promise.
    #[must_use]
    pub fn cost(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        let d = &problem.dims;
        let [m, n, k] = [d.m, d.n, d.k.max(1)].map(f64::from);
        let [bm, bn] = [self.bm, self.bn].map(f64::from);
        let cores = f64::from(caps.roofs.cores.max(1));
        let blocks = (m / bm).ceil() * (n / bn).ceil();
        let block_flops = 2.0 * bm * bn * k;
        let compute =
            (blocks / cores).ceil() * block_flops * cores / (caps.roofs.f32_flops * self.efficiency());
        let ab = problem.types.ab.size() as f64;
        let bytes = (m * k + k * n) * ab + m * n * problem.types.c.size() as f64;
        compute.max(bytes / caps.roofs.bytes)
    }

    /// The part of the f32 roof that the inner loop reaches: operands read per multiply-add are what holds it back.
    /// The weight of a read is fitted to lavapipe (see the book's measuring page), where it is the highest.
    fn efficiency(&self) -> f64 {
        const WEIGHT: f64 = 9.0;
        let reads = 1.0 / f64::from(self.tm) + 1.0 / f64::from(self.tn);
        1.0 / (1.0 + WEIGHT * reads)
    }

    fn plan(&self, problem: &GemmProblem, caps: &Caps) -> Result<Plan> {
        Ok(Plan {
            kernel: self.kernel(problem, caps),
            tile: self.to_string(),
            grid: kernel::fold(OP, self.blocks(problem, caps), caps.limits.grid)?,
            seconds: self.cost(problem, caps),
            reasons: Vec::new(),
        })
    }

    /// Workgroups that the problem takes.
    fn blocks(&self, problem: &GemmProblem, caps: &Caps) -> u64 {
        let d = &problem.dims;
        match self.kernel {
            GemmKernel::Naive if Memory::of(problem.types.c, caps) == Memory::Packed => {
                // Words of C's span, one more where it starts within one.
                let span = u64::from(d.m - 1) * u64::from(d.ldc) + u64::from(d.n);
                (span / 2 + 1).div_ceil(u64::from(self.invocations()))
            }
            GemmKernel::Naive => (u64::from(d.m) * u64::from(d.n)).div_ceil(u64::from(self.invocations())),
            GemmKernel::Tiled => u64::from(d.m.div_ceil(self.bm)) * u64::from(d.n.div_ceil(self.bn)),
        }
    }

    /// The kernel that the tile takes for a problem: its types, and how its operands lie in memory.
    fn kernel(&self, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let d = &problem.dims;
        let [ab, c] = [problem.types.ab, problem.types.c].map(|dtype| Memory::of(dtype, caps));
        let kernel = Kernel::new(self.kernel.shader()).dims(caps, size_of_val(d));
        match self.kernel {
            GemmKernel::Naive => {
                let kernel = kernel
                    .param("a_unit", ab.scalar())
                    .param("b_unit", ab.scalar())
                    .param("c_unit", c.scalar())
                    .param("LANES", self.invocations());
                let kernel = load(load(kernel, "load_a", ab, Stage::ScalarK), "load_b", ab, Stage::ScalarK);
                if c == Memory::Packed { kernel.slot("write_unit", "write_unit_packed") } else { kernel }
            }
            GemmKernel::Tiled => {
                let a = Stage::of([d.m, d.k], [d.a_outer, d.a_k], d.a_offset);
                let b = Stage::of([d.n, d.k], [d.b_outer, d.b_k], d.b_offset);
                let whole = [d.n, d.ldc, d.c_offset].iter().all(|size| size.is_multiple_of(4));
                let kernel = kernel
                    .param("BM", self.bm)
                    .param("BN", self.bn)
                    .param("BK", self.bk)
                    .param("TM", self.tm)
                    .param("TN", self.tn)
                    .param("a_unit", a.unit(ab))
                    .param("b_unit", b.unit(ab))
                    .param("A_STAGE", a as u32)
                    .param("B_STAGE", b as u32);
                let kernel = load(load(kernel, "load_a", ab, a), "load_b", ab, b);
                match (whole, c) {
                    (true, Memory::Packed) => {
                        kernel.param("c_unit", c.vector()).slot("store_c", "store_c_packed4")
                    }
                    (true, _) => kernel.param("c_unit", c.vector()).slot("store_c", "store_c_vec4"),
                    (false, Memory::Packed) => {
                        kernel.param("c_unit", "atomic<u32>").slot("store_c", "store_c_packed")
                    }
                    (false, _) => kernel.param("c_unit", c.scalar()),
                }
            }
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, bm, bn, bk, tm, tn } = self;
        match kernel {
            GemmKernel::Naive => write!(f, "{} invocations", self.invocations()),
            GemmKernel::Tiled => {
                write!(f, "{bm}x{bn}x{bk} ({tm}x{tn} per invocation, {} invocations)", self.invocations())
            }
        }
    }
}

/// How elements of a type lie in memory, as a device's shaders see it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    F32,
    F16,
    /// f16 in pairs, where shaders know no f16.
    Packed,
}

impl Memory {
    fn of(dtype: DType, caps: &Caps) -> Self {
        match dtype {
            DType::F32 => Self::F32,
            DType::F16 if caps.f16 => Self::F16,
            DType::F16 => Self::Packed,
        }
    }

    /// What holds one element (of pairs: two).
    fn scalar(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Packed => "u32",
        }
    }

    /// What holds four elements.
    fn vector(self) -> &'static str {
        match self {
            Self::F32 => "vec4<f32>",
            Self::F16 => "vec4<f16>",
            Self::Packed => "vec2<u32>",
        }
    }
}

/// How an operand is staged: the constants `STAGE_...` of `gemm_tiled.wgsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Element by element, lanes along k.
    ScalarK = 0,
    /// Element by element, lanes along the outer axis.
    ScalarOuter = 1,
    /// Four elements along k at once.
    VectorK = 2,
    /// Four elements along the outer axis at once.
    VectorOuter = 3,
}

impl Stage {
    /// The widest way for an operand of these extents, strides and offset: vectors where an axis is contiguous and
    /// every vector lies wholly within it.
    fn of([outer, k]: [u32; 2], [outer_stride, k_stride]: [u32; 2], offset: u32) -> Self {
        let whole =
            |extent: u32, stride: u32| [extent, stride, offset].iter().all(|size| size.is_multiple_of(4));
        match (k_stride, outer_stride) {
            (1, _) if whole(k, outer_stride) => Self::VectorK,
            (_, 1) if whole(outer, k_stride) => Self::VectorOuter,
            (_, 1) => Self::ScalarOuter,
            _ => Self::ScalarK,
        }
    }

    fn is_vector(self) -> bool {
        matches!(self, Self::VectorK | Self::VectorOuter)
    }

    fn unit(self, memory: Memory) -> &'static str {
        if self.is_vector() { memory.vector() } else { memory.scalar() }
    }
}

/// Binds an operand's loader.
fn load(kernel: Kernel, slot: &'static str, memory: Memory, stage: Stage) -> Kernel {
    match (memory, stage.is_vector()) {
        (Memory::Packed, true) => kernel.slot(slot, "load_x_packed4"),
        (Memory::Packed, false) => kernel.slot(slot, "load_x_packed"),
        (_, true) => kernel.slot(slot, "load_x_vec4"),
        (_, false) => kernel,
    }
}
