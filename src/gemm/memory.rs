//! How operands are staged and C is stored: how many elements are loaded and stored at once.

use super::problem::GemmProblem;
use crate::caps::Caps;
use crate::kernel::{Access, Kernel, Memory, Width};

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

    /// How many elements are loaded at once.
    pub(super) fn width(self) -> Width {
        match self {
            Self::VectorOuter => Width::Four,
            Self::ScalarK | Self::ScalarOuter => Width::One,
        }
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

impl Store {
    /// How a kernel gets at C: what C held is read as it is stored, if it is added.
    fn access(self, problem: &GemmProblem, caps: &Caps) -> Access {
        let width = match self {
            Self::Elements => Width::One,
            Self::Vectors => Width::Four,
        };
        let c = Access::write(Memory::of(problem.types.c, caps), width);
        if problem.epilogue.adds_previous() { c.and_read(width) } else { c }
    }
}

/// Binds how C is stored and what becomes of it before: four elements of a row at once where every four of them lie
/// wholly within it.
pub(super) fn store(kernel: Kernel, problem: &GemmProblem, first: u32, caps: &Caps) -> Kernel {
    let d = &problem.dims;
    if d.n.is_multiple_of(4) && d.c_starts().iter().all(|start| start.is_multiple_of(4)) {
        let c = Store::Vectors.access(problem, caps);
        let variant = if c.packs() { "vector_packed" } else { "vector" };
        let kernel = kernel.result(c).slot("store_c", variant);
        return problem.bind_epilogue(kernel, Store::Vectors, first, caps);
    }
    store_elements(kernel, problem, first, caps)
}

/// Binds how C is stored element by element, and what becomes of it before.
pub(super) fn store_elements(kernel: Kernel, problem: &GemmProblem, first: u32, caps: &Caps) -> Kernel {
    let kernel = kernel.result(Store::Elements.access(problem, caps));
    problem.bind_epilogue(kernel, Store::Elements, first, caps)
}
