//! The tiles of the kernels: sizes, what they need, and the plan they become.

use super::generated::Made;
use super::plan::GemmKernel;
use super::problem::{GemmDims, GemmProblem, Sums};
use super::segments::ONE_PLANE;
use super::{coop, cost, dot, gemv, naive, reduce, tiled};
use crate::Result;
use crate::gpu::{Caps, DeviceType};
use crate::kernel::{Kernel, Needs};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Region, Time};
use crate::tensor::DType;
use std::fmt;

/// The place of C among a product's operands.
const C: usize = 2;

/// A kernel with the sizes of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The kernel.
    pub kernel: GemmKernel,
    /// Rows of C per workgroup; of [`GemmKernel::Gemv`], along the longer axis of C, whichever that is.
    pub bm: u32,
    /// Columns of C per workgroup; of [`GemmKernel::Gemv`], the most along the shorter axis.
    pub bn: u32,
    /// Depth of the staged blocks; of [`GemmKernel::Gemv`], of a step of all invocations.
    pub bk: u32,
    /// Rows of C per invocation; of cooperative matrices, per subgroup.
    pub tm: u32,
    /// Columns of C per invocation; of cooperative matrices, per subgroup.
    pub tn: u32,
    /// Edge of the cooperative matrices; 0 where none are used.
    pub fragment: u32,
}

/// Accumulators that an invocation keeps in registers beside its operands: a half of what NVIDIA's and AMD's have, and
/// Apple's. A software device keeps them in the CPU's first cache, where larger patches pay.
fn registers(caps: &Caps) -> u32 {
    match caps.device_type {
        DeviceType::Software => u32::MAX,
        _ if caps.backend == "metal" => 64,
        _ => 128,
    }
}

impl Tile {
    /// A tile of patches that single invocations hold.
    pub(super) const fn of_invocations(
        kernel: GemmKernel,
        [bm, bn, bk]: [u32; 3],
        [tm, tn]: [u32; 2],
    ) -> Self {
        Self { kernel, bm, bn, bk, tm, tn, fragment: 0 }
    }

    /// A tile of patches that subgroups hold, in cooperative matrices.
    pub(super) const fn of_subgroups(fragment: u32, [bm, bn, bk]: [u32; 3], [tm, tn]: [u32; 2]) -> Self {
        Self { kernel: GemmKernel::Coop, bm, bn, bk, tm, tn, fragment }
    }

    /// Invocations of one workgroup on this device.
    #[must_use]
    pub fn invocations(&self, caps: &Caps) -> u32 {
        match self.kernel {
            GemmKernel::Gemv => gemv::invocations(self),
            _ => self.patches() * self.holders(caps),
        }
    }

    /// Bytes of shared memory of one workgroup.
    #[must_use]
    pub fn workgroup_bytes(&self, problem: &GemmProblem, caps: &Caps) -> u32 {
        match self.kernel {
            GemmKernel::Naive => 0,
            GemmKernel::Gemv => gemv::workgroup_bytes(self, problem),
            GemmKernel::Tiled => tiled::workgroup_bytes(self, problem, caps),
            GemmKernel::Dot => dot::workgroup_bytes(self, caps),
            GemmKernel::Coop => coop::workgroup_bytes(self, problem, caps),
        }
    }

    /// Whether the device can run the tile on the problem; if not, what it needs.
    ///
    /// # Errors
    /// What the device lacks, in words.
    pub fn fits(&self, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        match (problem.made, self.kernel) {
            (None, _) | (Some(_), GemmKernel::Tiled) => {}
            (Some(Made::Half(_) | Made::Segments(_)), GemmKernel::Coop) => {}
            (Some(Made::Segments(_)), _) => return Err(ONE_PLANE.into()),
            _ => return Err("both operands in memory".into()),
        }
        match self.kernel {
            GemmKernel::Naive => {}
            GemmKernel::Gemv => gemv::admits(problem)?,
            GemmKernel::Tiled if problem.types.ab == DType::I8 => {
                return Err("operands with a fraction, not i8".into());
            }
            GemmKernel::Tiled => {}
            GemmKernel::Dot => dot::admits(problem)?,
            GemmKernel::Coop => coop::admits(self, problem, caps)?,
        }
        self.needs(problem, caps).fit(caps)?;
        if problem.stores_apart(caps) {
            reduce::needs(problem).fit(caps)?;
        }
        let accumulators = match self.kernel {
            GemmKernel::Gemv => self.tm * gemv::count(problem),
            _ => self.tm * self.tn / self.holders(caps),
        };
        if accumulators > registers(caps) {
            return Err(format!("{accumulators} accumulators per invocation, which a GPU would spill"));
        }
        Ok(())
    }

    /// The limits that the launch of the product needs. If a second launch applies the epilogue, its bindings are not counted
    /// here.
    fn needs(&self, problem: &GemmProblem, caps: &Caps) -> Needs {
        let extras = if problem.stores_apart(caps) { 0 } else { problem.extra_bindings() };
        Needs {
            bindings: problem.bindings() + extras,
            invocations: self.invocations(caps),
            workgroup_bytes: self.workgroup_bytes(problem, caps),
        }
    }

    /// Predicted seconds on a device: what tiles are weighed by. A coarse model, not a promise.
    #[must_use]
    pub fn cost(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        cost::seconds(self, problem, caps)
    }

    /// Seconds that each launch must gain for a tile to be worth compiling: patches for software devices take them three
    /// seconds longer to compile than others, which is spread over 2,000 launches. Products of small matrices gain less.
    #[must_use]
    pub fn compiling(&self) -> f64 {
        if self.kernel == GemmKernel::Tiled && tiled::is_for_software(self) { 1.5e-3 } else { 0.0 }
    }

    /// Adds the steps that compute the problem in so many parts of k, of operands as [`GemmProblem::operands`] has them.
    pub(super) fn steps(
        &self,
        draft: &mut Draft<'_>,
        problem: &GemmProblem,
        parts: u32,
        operands: &[Region],
    ) -> Result<()> {
        let caps = draft.caps();
        let args = |operands: &[Region], c: Access| -> Vec<(Region, Access)> {
            let access = |at: usize| if at == C { c } else { Access::Read };
            operands.iter().enumerate().map(|(at, &operand)| (operand, access(at))).collect()
        };
        if parts == 1 && !problem.stores_apart(caps) {
            let dims = problem.with_scalars(&problem.dims);
            return self.step(draft, problem, dims, &args(operands, problem.access_of_c()));
        }
        let part = problem.in_parts(parts);
        let sums = draft.temporary(&[problem.elements() * parts as usize], DType::F32)?;
        let (own, extras) = operands.split_at(problem.bindings() as usize);
        let mut own = own.to_vec();
        let c = std::mem::replace(&mut own[C], sums);
        let dims = problem.with_seed(Dims::of(&part.dims));
        self.step(draft, &part, dims, &args(&own, Access::Write))?;
        reduce::step(draft, problem, parts, [sums, c], extras)
    }

    fn step(
        &self,
        draft: &mut Draft<'_>,
        problem: &GemmProblem,
        dims: Dims,
        args: &[(Region, Access)],
    ) -> Result<()> {
        let caps = draft.caps();
        let kernel = match self.kernel {
            GemmKernel::Naive => naive::kernel(self, problem, caps),
            GemmKernel::Gemv => gemv::kernel(self, problem, caps),
            GemmKernel::Tiled => tiled::kernel(self, problem, caps),
            GemmKernel::Dot => dot::kernel(self, problem, caps),
            GemmKernel::Coop => coop::kernel(self, problem, caps),
        };
        draft.step(NewStep {
            kernel,
            tile: self.to_string(),
            needs: self.needs(problem, caps),
            blocks: self.blocks(problem, caps),
            dims,
            args,
            flops: self.flops(problem, caps),
            time: Time::Seconds(self.cost(problem, caps)),
        })
    }

    /// Operations by the unit that computes them.
    fn flops(&self, problem: &GemmProblem, caps: &Caps) -> Flops {
        let flops = problem.flops();
        match self.kernel {
            _ if !problem.types.ab.is_real() => Flops { integer: flops, ..Flops::default() },
            GemmKernel::Coop => Flops { matrix: flops, ..Flops::default() },
            GemmKernel::Tiled if tiled::sums(self, problem, caps) == Sums::F16 => {
                Flops { f16: flops, ..Flops::default() }
            }
            _ => Flops::of_f32(flops),
        }
    }

    /// This kernel, with what all that stage blocks in shared memory set.
    pub(super) fn staged(&self, stages: u32, caps: &Caps) -> Kernel {
        Kernel::new(self.kernel.shader())
            .dims(caps, size_of::<GemmDims>())
            .param("BM", self.bm)
            .param("BN", self.bn)
            .param("BK", self.bk)
            .param("STAGES", stages)
    }

    /// The same for patches that single invocations hold, of operands that come from memory as `[a, b]` say: by the
    /// constants `STAGE_...` of the shader.
    pub(super) fn staged_in_patches(&self, stages: u32, [a, b]: [u32; 2], caps: &Caps) -> Kernel {
        self.staged(stages, caps)
            .param("TM", self.tm)
            .param("TN", self.tn)
            .param("A_STAGE", a)
            .param("B_STAGE", b)
    }

    /// Predicted seconds of the problem in so many parts of k, which are then brought together.
    pub(super) fn cost_in_parts(&self, problem: &GemmProblem, parts: u32, caps: &Caps) -> f64 {
        match parts {
            1 if !problem.stores_apart(caps) => self.cost(problem, caps),
            _ => self.cost(&problem.in_parts(parts), caps) + reduce::seconds(problem, parts, caps),
        }
    }

    /// Workgroups that the problem takes.
    pub(super) fn blocks(&self, problem: &GemmProblem, caps: &Caps) -> u64 {
        let d = &problem.dims;
        match self.kernel {
            GemmKernel::Naive => naive::blocks(self, problem, caps),
            GemmKernel::Gemv => d.parts() * u64::from(gemv::blocks(self, problem)),
            GemmKernel::Tiled | GemmKernel::Dot | GemmKernel::Coop => {
                d.parts() * u64::from(d.m.div_ceil(self.bm)) * u64::from(d.n.div_ceil(self.bn))
            }
        }
    }

    /// Patches of a block.
    pub(super) const fn patches(&self) -> u32 {
        self.bm / self.tm * (self.bn / self.tn)
    }

    /// Invocations that hold one patch together.
    fn holders(&self, caps: &Caps) -> u32 {
        if self.fragment == 0 { 1 } else { coop::subgroup(caps) }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, bm, bn, bk, tm, tn, fragment } = self;
        match kernel {
            GemmKernel::Naive => write!(f, "{bn} elements"),
            GemmKernel::Gemv => write!(f, "{bm} lines, {bk} deep ({tm} per invocation)"),
            GemmKernel::Tiled | GemmKernel::Dot => write!(f, "{bm}x{bn}x{bk} ({tm}x{tn} per invocation)"),
            GemmKernel::Coop => {
                write!(f, "{bm}x{bn}x{bk} ({tm}x{tn} per subgroup, of {fragment}x{fragment})")
            }
        }
    }
}
