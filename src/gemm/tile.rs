//! The tiles of the kernels: sizes, what they need, what they cost, and the shader they become.

use super::memory::{Memory, Stage, load};
use super::plan::GemmKernel;
use super::problem::{GemmProblem, OP};
use crate::Result;
use crate::gpu::{Caps, DeviceType};
use crate::kernel::{self, Kernel, Plan};
use std::fmt;

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

pub(super) const NAIVE: [Tile; 1] = [tile(GemmKernel::Naive, [1, 64, 1], [1, 1])];
pub(super) const TILED: [Tile; 5] = [
    tile(GemmKernel::Tiled, [128, 128, 8], [8, 8]),
    tile(GemmKernel::Tiled, [128, 128, 8], [16, 16]),
    tile(GemmKernel::Tiled, [64, 64, 8], [8, 8]),
    tile(GemmKernel::Tiled, [64, 64, 16], [4, 4]),
    tile(GemmKernel::Tiled, [32, 32, 16], [4, 4]),
];

/// Accumulators that an invocation of a GPU keeps in registers beside its operands. A software device keeps them in
/// the CPU's first cache, where larger patches pay.
const REGISTERS: u32 = 128;

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

    pub(super) fn plan(&self, problem: &GemmProblem, caps: &Caps) -> Result<Plan> {
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
