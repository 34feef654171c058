//! The kernels that add values to indexed elements: `shaders/ops/sort_blocks.wgsl`, `merge_runs.wgsl` and `run_starts.wgsl` for
//! the indices, `run_parts.wgsl` and `scatter_add.wgsl` for the values.

use super::problem::{ScatterDims, ScatterProblem, SortDims, Target};
use crate::caps::Caps;
use crate::kernel::{self, AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::DType;

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;
/// Pairs of a chunk, as in `shaders/ops/scatter_dims.wgsl`.
pub(super) const CHUNK: u32 = 512;

/// The uniform of `shaders/ops/merge_runs.wgsl` and `run_starts.wgsl`: the number of pairs, and the length of the runs or the number
/// of slots.
pub(super) type PairDims = [u32; 4];

/// The indices that a workgroup sorts.
pub(super) fn block(caps: &Caps) -> u32 {
    kernel::workgroup_size(256, caps)
}

pub(super) fn sort_kernel(caps: &Caps) -> Kernel {
    Kernel::new("ops/sort_blocks").dims::<SortDims>(caps).param("LANES", block(caps))
}

pub(super) fn merge_kernel(caps: &Caps) -> Kernel {
    Kernel::new("ops/merge_runs").dims::<PairDims>(caps).param("LANES", LANES)
}

pub(super) fn starts_kernel(caps: &Caps) -> Kernel {
    Kernel::new("ops/run_starts").dims::<PairDims>(caps).param("LANES", LANES)
}

impl ScatterProblem {
    /// The type of sums.
    pub(super) fn sum(&self) -> DType {
        if self.dtype.is_real() { DType::F32 } else { DType::I32 }
    }

    pub(super) fn parts_kernel(&self, caps: &Caps) -> Kernel {
        self.of_values("ops/run_parts", caps)
    }

    pub(super) fn add_kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let d = &self.dims;
        // Rows of neighbours that begin at pairs are stored in pairs.
        let starts = d.axes[1..d.rank as usize].iter().map(|axis| axis[1]).chain([d.c_offset]);
        let along = if d.axes[0][0] > 1 { d.axes[0][1] } else { 0 };
        let result = OperandAccess::write_pairs_or_elements(format, [along], starts);
        let kernel = self.of_values("ops/scatter_add", caps);
        if let Target::Rows { .. } = self.target {
            return kernel.quad_result(result);
        }
        let kernel = kernel.slot("previous", "added").quad_result(result.and_read(AccessWidth::One));
        self.loading(kernel, ["load_c", "load_quad_c"])
    }

    /// A kernel that reads the values.
    fn of_values(&self, shader: &'static str, caps: &Caps) -> Kernel {
        let sum = if self.dtype.is_real() { "f32" } else { "i32" };
        let access = OperandAccess::read(StorageFormat::of(self.dtype, caps), AccessWidth::One);
        let kernel = Kernel::new(shader)
            .dims::<ScatterDims>(caps)
            .param("LANES", LANES)
            .param("sum", sum)
            .operand("v", access);
        self.loading(kernel, ["load_v", "load_quad_v"])
    }

    /// Fills the slots of loads that are not those of reals.
    fn loading(&self, kernel: Kernel, [load, load_quad]: [&'static str; 2]) -> Kernel {
        match self.dtype {
            DType::I32 => kernel.slot(load, "integer").slot(load_quad, "integers"),
            DType::I8 => kernel.slot(load_quad, "integers"),
            // NOTE: `ScatterProblem::new` refuses types of 8 bits with a fraction.
            _ => kernel,
        }
    }
}
