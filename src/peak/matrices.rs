//! A number of products of cooperative matrices to time: the problem as plain data, and its plan of one step.

use super::plan::OP;
use crate::Result;
use crate::caps::{Caps, CoopScalar};
use crate::kernel::{Kernel, Needs, shader_dims};
use crate::layout::{DType, Layout};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem};

/// Sums of a workgroup: `SUMS` of the shader.
const SUMS: u32 = 2;

shader_dims! {
    /// The uniform of `shaders/peak/matrices.wgsl`.
    pub struct MatrixPeakDims {
        /// rows of C
        m: u32,
        /// of the loop
        iterations: u32,
        reserved0: u32,
        reserved1: u32,
    }
}

/// Products of cooperative matrices of f16, summed in f32, that stay in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixPeakProblem {
    /// Rows, columns and depth of a matrix.
    fragment: u32,
    dims: MatrixPeakDims,
}

impl MatrixPeakProblem {
    /// This number of workgroups, at least one, with this number of iterations, on matrices with this number of rows and
    /// columns.
    #[must_use]
    pub fn new(fragment: u32, workgroups: u32, iterations: u32) -> Self {
        let dims =
            MatrixPeakDims { m: workgroups.max(1) * SUMS * fragment, iterations, ..Default::default() };
        Self { fragment, dims }
    }

    /// The operations of all workgroups.
    #[must_use]
    pub fn operations(&self) -> f64 {
        let fragment = f64::from(self.fragment);
        f64::from(self.dims.m) * f64::from(self.dims.iterations) * 2.0 * fragment * fragment
    }

    /// The shapes of the operands: of a matrix A and two matrices B, one below the other, and of C.
    #[must_use]
    pub fn shapes(&self) -> [[usize; 2]; 2] {
        [[3 * self.fragment as usize, self.fragment as usize], [self.dims.m as usize, self.fragment as usize]]
    }

    fn kernel(&self, lanes: u32, caps: &Caps) -> Kernel {
        let size = self.fragment;
        Kernel::new("peak/matrices")
            .dims::<MatrixPeakDims>(caps)
            .param("LANES", lanes)
            .require_subgroup_size(lanes)
            .f16_matrices(size)
            .report_subgroup_size(caps)
    }
}

impl Problem for MatrixPeakProblem {
    /// One step.
    ///
    /// Operands: A and both B, then C.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let has_row = caps.coop(self.fragment, CoopScalar::F16, CoopScalar::F32);
        has_row.map_err(|needs| caps.unsupported(OP, needs))?;
        let lanes = caps.matrix_lanes();
        let [ab, c] = self.shapes();
        let mut draft = Draft::new(OP, &[], caps);
        let ab = draft.operand("A and B", DType::F16, Layout::contiguous(OP, &ab)?, Access::Read);
        let c = draft.operand("C", DType::F32, Layout::contiguous(OP, &c)?, Access::Write);
        draft.step(NewStep {
            tile: format!("{0}x{0}, {lanes} invocations", self.fragment),
            blocks: u64::from(self.dims.m / (SUMS * self.fragment)),
            dims: Dims::of(&self.dims),
            flops: Flops { matrix: self.operations(), ..Flops::default() },
            ..NewStep::of(
                self.kernel(lanes, caps),
                Needs::of(lanes, 0),
                &[(ab, Access::Read), (c, Access::Write)],
            )
        })?;
        Ok(draft.finish())
    }
}
