//! The steps of a tile: one launch, or two with split-k or a separate epilogue.

use crate::Result;
use crate::caps::Caps;
use crate::gemm::kernels::{self, ComputeUnit};
use crate::gemm::problem::{GemmProblem, Tile};
use crate::kernel::Language;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Region, Time};

/// Index of C among the operands of a product.
const C: usize = 2;

impl Tile {
    /// Adds the steps that compute the problem with this number of splits. `operands` are those of
    /// [`GemmProblem::operands`].
    pub(super) fn steps(
        &self,
        draft: &mut Draft<'_>,
        problem: &GemmProblem,
        splits: u32,
        operands: &[Region],
    ) -> Result<()> {
        let (caps, language) = (draft.caps(), self.kernel.spec().language());
        let args = |operands: &[Region], c: Access| -> Vec<(Region, Access)> {
            let access = |at: usize| if at == C { c } else { Access::Read };
            operands.iter().enumerate().map(|(at, &operand)| (operand, access(at))).collect()
        };
        if splits == 1 && !self.has_separate_epilogue(problem, caps) {
            let dims = problem.call_dims(language, draft);
            return self.step(draft, problem, dims, &args(operands, problem.access_of_c()));
        }
        let split = problem.split_into(splits);
        let sums = draft.temporary(&[problem.elements() * splits as usize], split.types.c)?;
        let (own, extras) = operands.split_at(problem.bindings() as usize);
        let mut own = own.to_vec();
        let c = std::mem::replace(&mut own[C], sums);
        let dims = split.seeded_dims(language, draft);
        self.step(draft, &split, dims, &args(&own, Access::Write))?;
        kernels::step(draft, problem, splits, [sums, c], extras)
    }

    fn step(
        &self,
        draft: &mut Draft<'_>,
        problem: &GemmProblem,
        dims: Dims,
        args: &[(Region, Access)],
    ) -> Result<()> {
        let caps = draft.caps();
        let of_module = match self.kernel.spec().language() {
            Language::Wgsl => None,
            Language::Spirv => Some(kernels::module_args(problem, draft, args)?),
        };
        draft.step(NewStep {
            tile: self.to_string(),
            blocks: self.blocks(problem, caps),
            dims,
            flops: self.flops(problem, caps),
            time: Time::Predicted(self.prediction(problem, caps)),
            ..NewStep::of(
                self.kernel.spec().build(self, problem, caps),
                self.needs(problem, caps),
                of_module.as_deref().unwrap_or(args),
            )
        })
    }

    /// Operations of the product and of the generation of its operands, by the unit that computes them.
    fn flops(&self, problem: &GemmProblem, caps: &Caps) -> Flops {
        let (flops, none) = (problem.flops(), Flops::default());
        let product = match self.kernel.spec().cost(self, problem, caps).unit {
            ComputeUnit::Matrix => Flops { matrix: flops, ..none },
            ComputeUnit::F32 => Flops { f32: flops, ..none },
            ComputeUnit::F16 => Flops { f16: flops, ..none },
            ComputeUnit::Integer => Flops { integer: flops, ..none },
            ComputeUnit::IntegerMatrix => Flops { integer_matrix: flops, ..none },
        };
        product.plus(&self.kernel.spec().generation_flops(self, problem))
    }
}
