//! The tiles of the kernels: sizes, what they need, and the steps they become.

use super::GemmKernel;
use super::cost::Unit;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::GemmProblem;
use crate::gemm::reduce;
use crate::kernel::{Kernel, Needs};
use crate::layout::DType;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Prediction, Region, Time};
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

impl Tile {
    /// A tile of patches that single invocations hold.
    pub(super) const fn of_invocations(
        kernel: GemmKernel,
        [bm, bn, bk]: [u32; 3],
        [tm, tn]: [u32; 2],
    ) -> Self {
        Self { kernel, bm, bn, bk, tm, tn, fragment: 0 }
    }

    /// Invocations of one workgroup on this device.
    #[must_use]
    pub fn invocations(&self, caps: &Caps) -> u32 {
        self.kernel.entry().invocations(self, caps)
    }

    /// Bytes of shared memory of one workgroup.
    #[must_use]
    pub fn workgroup_bytes(&self, problem: &GemmProblem, caps: &Caps) -> u32 {
        self.kernel.entry().shared_bytes(self, problem, caps)
    }

    /// Whether the device can run the tile on the problem; if not, what it needs.
    ///
    /// # Errors
    /// What the device lacks, in words.
    pub fn fits(&self, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        let entry = self.kernel.entry();
        entry.admits(self, problem, caps)?;
        self.needs(problem, caps).fit(caps)?;
        if problem.stores_apart(caps) {
            reduce::needs(problem).fit(caps)?;
        }
        let accumulators = entry.accumulators(self, problem, caps);
        if accumulators > caps.machine.accumulators && caps.machine.compile_seconds.is_none() {
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
        self.prediction(problem, caps).seconds
    }

    fn prediction(&self, problem: &GemmProblem, caps: &Caps) -> Prediction {
        let entry = self.kernel.entry();
        entry.cost(self, problem, caps).predict(entry.invocations(self, caps), problem, caps)
    }

    /// Seconds that each launch must gain for a tile to be worth compiling.
    #[must_use]
    pub fn compiling(&self, caps: &Caps) -> f64 {
        self.kernel.entry().compiling(self, caps)
    }

    /// Adds the steps that compute the problem in so many parts of k, of operands as [`GemmProblem::operands`] has them.
    pub(in crate::gemm) fn steps(
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
            let dims = problem.with_scalars(&problem.dims, draft);
            return self.step(draft, problem, dims, &args(operands, problem.access_of_c()));
        }
        let part = problem.in_parts(parts);
        let sums = draft.temporary(&[problem.elements() * parts as usize], DType::F32)?;
        let (own, extras) = operands.split_at(problem.bindings() as usize);
        let mut own = own.to_vec();
        let c = std::mem::replace(&mut own[C], sums);
        let dims = problem.with_seed(&part.dims, draft);
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
        draft.step(NewStep {
            kernel: self.kernel.entry().build(self, problem, caps),
            tile: self.to_string(),
            needs: self.needs(problem, caps),
            blocks: self.blocks(problem, caps),
            dims,
            args,
            flops: self.flops(problem, caps),
            time: Time::Predicted(self.prediction(problem, caps)),
        })
    }

    /// Operations by the unit that computes them: the product's own, and those that make operands.
    fn flops(&self, problem: &GemmProblem, caps: &Caps) -> Flops {
        let (flops, none) = (problem.flops(), Flops::default());
        let product = match self.kernel.entry().cost(self, problem, caps).unit {
            Unit::Matrix => Flops { matrix: flops, ..none },
            Unit::F32 => Flops { f32: flops, ..none },
            Unit::F16 => Flops { f16: flops, ..none },
            Unit::Integer => Flops { integer: flops, ..none },
        };
        product.plus(&self.kernel.entry().making(self, problem))
    }

    /// This kernel, with what all that stage blocks in shared memory set.
    pub(super) fn staged(&self, stages: u32, problem: &GemmProblem, caps: &Caps) -> Kernel {
        problem
            .bind_dims(Kernel::new(self.kernel.shader()), caps)
            .param("BM", self.bm)
            .param("BN", self.bn)
            .param("BK", self.bk)
            .param("STAGES", stages)
    }

    /// The same for patches that single invocations hold, of operands that come from memory as `[a, b]` say: by the
    /// constants `STAGE_...` of the shader.
    pub(super) fn staged_in_patches(
        &self,
        stages: u32,
        [a, b]: [u32; 2],
        problem: &GemmProblem,
        caps: &Caps,
    ) -> Kernel {
        self.staged(stages, problem, caps)
            .param("TM", self.tm)
            .param("TN", self.tn)
            .param("A_STAGE", a)
            .param("B_STAGE", b)
    }

    /// Predicted seconds of the problem in so many parts of k, which are then brought together.
    pub(in crate::gemm) fn cost_in_parts(&self, problem: &GemmProblem, parts: u32, caps: &Caps) -> f64 {
        match parts {
            1 if !problem.stores_apart(caps) => self.cost(problem, caps),
            _ => self.cost(&problem.in_parts(parts), caps) + reduce::seconds(problem, parts, caps),
        }
    }

    /// Predicted seconds of one workgroup of the product in so many parts of k, beside all others.
    pub(in crate::gemm) fn block_seconds(&self, problem: &GemmProblem, parts: u32, caps: &Caps) -> f64 {
        let part = if parts == 1 { *problem } else { problem.in_parts(parts) };
        self.cost(&part, caps) / self.blocks(&part, caps).max(1) as f64
    }

    /// Workgroups that the problem takes.
    pub(in crate::gemm) fn blocks(&self, problem: &GemmProblem, caps: &Caps) -> u64 {
        self.kernel.entry().blocks(self, problem, caps)
    }

    /// Patches of a block.
    pub(super) const fn patches(&self) -> u32 {
        self.bm / self.tm * (self.bn / self.tn)
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.kernel.entry().describe(self))
    }
}
