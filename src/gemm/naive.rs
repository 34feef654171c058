//! The naive kernel: every element by one invocation.

use super::memory::{load_element, store_elements};
use super::plan::GemmKernel;
use super::problem::GemmProblem;
use super::tile::Tile;
use crate::gpu::Caps;
use crate::kernel::{Kernel, Memory};

pub(super) const TILES: [Tile; 1] = [Tile::of_invocations(GemmKernel::Naive, [1, 64, 1], [1, 1])];

pub(super) fn blocks(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u64 {
    let d = &problem.dims;
    let elements = u64::from(d.batches) * u64::from(d.m) * u64::from(d.n);
    elements.div_ceil(u64::from(tile.invocations(caps)))
}

pub(super) fn kernel(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
    let ab = Memory::of(problem.types.ab, caps);
    let kernel = Kernel::new(tile.kernel.shader())
        .dims(caps, size_of_val(&problem.dims))
        .param("a_unit", ab.scalar())
        .param("b_unit", ab.scalar())
        .param("LANES", tile.invocations(caps));
    let kernel = load_element(load_element(kernel, "load_a", ab), "load_b", ab);
    let kernel = if ab == Memory::I8 {
        kernel.param("sum", "i32").slot("multiply_add", "multiply_add_i32")
    } else {
        kernel
    };
    store_elements(kernel, problem, 3, caps)
}
