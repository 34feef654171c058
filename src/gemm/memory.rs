//! How operands lie in memory, and the variants of slots that read and write them.

use super::problem::GemmProblem;
use crate::gpu::Caps;
use crate::kernel::{Kernel, Memory};

/// How an operand is staged: the constants `STAGE_...` of `gemm/tiled.wgsl`.
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
    /// The widest way for an operand of this outer extent, these strides and starts: vectors where the outer axis
    /// is contiguous and every vector lies wholly within it. Along k there are none: shared memory wants four elements
    /// along the outer axis together, and lanes that run along k read runs of memory element by element as well.
    pub(super) fn of(outer: u32, [outer_stride, k_stride]: [u32; 2], starts: [u32; 3]) -> Self {
        let whole = [outer, k_stride].iter().chain(&starts).all(|size| size.is_multiple_of(4));
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
        (Memory::Packed, Stage::VectorOuter) => kernel.slot(slot, "four_packed"),
        (Memory::Bf16, Stage::VectorOuter) => kernel.slot(slot, "four_bf16"),
        (_, Stage::VectorOuter) => kernel.slot(slot, "four"),
        (_, _) => load_element(kernel, slot, memory),
    }
}

/// Binds a loader of single elements.
pub(super) fn load_element(kernel: Kernel, slot: &'static str, memory: Memory) -> Kernel {
    match memory {
        Memory::F32 | Memory::F16 | Memory::I32 => kernel,
        Memory::Packed => kernel.slot(slot, "element_packed"),
        Memory::Bf16 => kernel.slot(slot, "element_bf16"),
        Memory::I8 => kernel.slot(slot, "element_i8"),
    }
}

/// How C is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    /// Element by element.
    Elements,
    /// Four elements of a row at once.
    Vectors,
}

/// Binds how C is stored and what becomes of it before: four elements of a row at once where every four of them lie
/// wholly within it.
pub(super) fn store(kernel: Kernel, problem: &GemmProblem, first: u32, caps: &Caps) -> Kernel {
    let d = &problem.dims;
    if d.n.is_multiple_of(4) && d.c_starts().iter().all(|start| start.is_multiple_of(4)) {
        let memory = Memory::of(problem.types.c, caps);
        let kernel = kernel.param("c_unit", memory.vector());
        let kernel = match memory {
            Memory::Packed => kernel.slot("store_c", "vector_packed"),
            Memory::Bf16 => kernel.slot("store_c", "vector_packed").slot("pack_pair", "bf16"),
            _ => kernel.slot("store_c", "vector"),
        };
        // NOTE: not every vector is stored by elements too: the variant that does is left out.
        return problem.bind_epilogue(kernel.slot("store_element", "none"), Store::Vectors, first, caps);
    }
    store_elements(kernel, problem, first, caps)
}

/// Binds how C is stored element by element, and what becomes of it before.
pub(super) fn store_elements(kernel: Kernel, problem: &GemmProblem, first: u32, caps: &Caps) -> Kernel {
    let memory = Memory::of(problem.types.c, caps);
    let kernel = match memory {
        Memory::Packed => kernel.param("c_unit", "atomic<u32>").slot("store_element", "packed"),
        Memory::Bf16 => {
            kernel.param("c_unit", "atomic<u32>").slot("store_element", "packed").slot("pack_pair", "bf16")
        }
        _ => kernel.param("c_unit", memory.scalar()),
    };
    problem.bind_epilogue(kernel, Store::Elements, first, caps)
}
