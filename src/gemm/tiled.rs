//! The tiled kernel: blocks staged in shared memory, patches in registers.

use super::memory::{Memory, Stage, load, store};
use super::plan::GemmKernel;
use super::problem::GemmProblem;
use super::tile::Tile;
use crate::gpu::Caps;
use crate::kernel::Kernel;

pub(super) const TILES: [Tile; 5] = [
    Tile::of_invocations(GemmKernel::Tiled, [128, 128, 8], [8, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [128, 128, 8], [16, 16]),
    Tile::of_invocations(GemmKernel::Tiled, [64, 64, 8], [8, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [64, 64, 16], [4, 4]),
    Tile::of_invocations(GemmKernel::Tiled, [32, 32, 16], [4, 4]),
];

/// Two blocks of f32, each row padded by one vector (`stage_x.wgsl`).
pub(super) fn workgroup_bytes(tile: &Tile) -> u32 {
    (tile.bm + 4 + tile.bn + 4) * tile.bk * 4
}

pub(super) fn kernel(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
    let d = &problem.dims;
    let [ab, c] = [problem.types.ab, problem.types.c].map(|dtype| Memory::of(dtype, caps));
    let a = Stage::of([d.m, d.k], [d.a_outer, d.a_k], d.a_offset);
    let b = Stage::of([d.n, d.k], [d.b_outer, d.b_k], d.b_offset);
    let kernel = Kernel::new(tile.kernel.shader())
        .dims(caps, size_of_val(d))
        .param("BM", tile.bm)
        .param("BN", tile.bn)
        .param("BK", tile.bk)
        .param("TM", tile.tm)
        .param("TN", tile.tn)
        .param("a_unit", a.unit(ab))
        .param("b_unit", b.unit(ab))
        .param("A_STAGE", a as u32)
        .param("B_STAGE", b as u32);
    let kernel = load(load(kernel, "load_a", ab, a), "load_b", ab, b);
    store(kernel, c, problem)
}
