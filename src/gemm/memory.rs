//! How operands lie in memory, and the fragments that read them.

use super::problem::GemmProblem;
use crate::kernel::{Kernel, Memory};

/// How an operand is staged: the constants `STAGE_...` of `gemm_tiled.wgsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Element by element, lanes along k.
    ScalarK = 0,
    /// Element by element, lanes along the outer axis.
    ScalarOuter = 1,
    /// Four elements along the outer axis at once.
    VectorOuter = 2,
}

impl Stage {
    /// The widest way for an operand of this outer extent, these strides and offset: vectors where the outer axis
    /// is contiguous and every vector lies wholly within it. Along k there are none: shared memory wants four elements
    /// along the outer axis together, and lanes that run along k read runs of memory element by element as well.
    pub(super) fn of(outer: u32, [outer_stride, k_stride]: [u32; 2], offset: u32) -> Self {
        let whole = [outer, k_stride, offset].iter().all(|size| size.is_multiple_of(4));
        match outer_stride {
            1 if whole => Self::VectorOuter,
            1 => Self::ScalarOuter,
            _ => Self::ScalarK,
        }
    }

    pub(super) fn unit(self, memory: Memory) -> &'static str {
        if self == Self::VectorOuter { memory.vector() } else { memory.scalar() }
    }
}

/// Binds an operand's loader.
pub(super) fn load(kernel: Kernel, slot: &'static str, memory: Memory, stage: Stage) -> Kernel {
    match (memory, stage) {
        (Memory::Packed, Stage::VectorOuter) => kernel.slot(slot, "load_x_packed4"),
        (Memory::Packed, _) => kernel.slot(slot, "load_x_packed"),
        (_, Stage::VectorOuter) => kernel.slot(slot, "load_x_vec4"),
        (_, _) => kernel,
    }
}

/// Binds how C is stored, four elements of a row at once where every four of them lie wholly within it.
pub(super) fn store(kernel: Kernel, memory: Memory, problem: &GemmProblem) -> Kernel {
    let d = &problem.dims;
    let whole = [d.n, d.ldc, d.c_offset].iter().all(|size| size.is_multiple_of(4));
    match (whole, memory) {
        (true, Memory::Packed) => kernel.param("c_unit", memory.vector()).slot("store_c", "store_c_packed4"),
        (true, _) => kernel.param("c_unit", memory.vector()).slot("store_c", "store_c_vec4"),
        (false, Memory::Packed) => kernel.param("c_unit", "atomic<u32>").slot("store_c", "store_c_packed"),
        (false, _) => kernel.param("c_unit", memory.scalar()),
    }
}
