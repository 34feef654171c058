//! The naive kernel: every element by one invocation.

use super::memory::{Stage, load};
use super::plan::GemmKernel;
use super::problem::GemmProblem;
use super::tile::Tile;
use crate::gpu::Caps;
use crate::kernel::{Kernel, Memory};

pub(super) const TILES: [Tile; 1] = [Tile::of_invocations(GemmKernel::Naive, [1, 64, 1], [1, 1])];

pub(super) fn blocks(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u64 {
    let d = &problem.dims;
    let units = if Memory::of(problem.types.c, caps) == Memory::Packed {
        // Words of C's span, one more where it starts within one.
        (u64::from(d.m - 1) * u64::from(d.ldc) + u64::from(d.n)) / 2 + 1
    } else {
        u64::from(d.m) * u64::from(d.n)
    };
    units.div_ceil(u64::from(tile.invocations(caps)))
}

pub(super) fn kernel(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
    let [ab, c] = [problem.types.ab, problem.types.c].map(|dtype| Memory::of(dtype, caps));
    let kernel = Kernel::new(tile.kernel.shader())
        .dims(caps, size_of_val(&problem.dims))
        .param("a_unit", ab.scalar())
        .param("b_unit", ab.scalar())
        .param("c_unit", c.scalar())
        .param("LANES", tile.invocations(caps));
    let kernel = load(load(kernel, "load_a", ab, Stage::ScalarK), "load_b", ab, Stage::ScalarK);
    if c == Memory::Packed { kernel.slot("write_unit", "write_unit_packed") } else { kernel }
}
