//! What a tile is predicted to take: the longest of what it has to wait for.

use super::plan::GemmKernel;
use super::problem::{GemmProblem, Sums};
use super::tile::Tile;
use super::{gemv, tiled};
use crate::gpu::{Caps, DeviceType};

/// Rows of blocks that run together (`shaders/common/gemm_block.wgsl`).
const GROUP: f64 = 8.0;
/// Invocations that keep a core of a GPU busy: four schedulers, a subgroup of 32 each. A software device runs one
/// workgroup per core at a time, whatever its size.
const BUSY: f64 = 128.0;
/// Seconds that a load from a GPU's memory takes to arrive: assumed, not measured.
const LATENCY: f64 = 0.6e-6;
/// Bytes that a GPU moves at least from one run of memory.
const LINE: f64 = 128.0;
/// Bytes that a CPU could have read in the time that it takes to come to another run: fitted to lavapipe.
const RUN: f64 = 128.0;
/// Seconds that a software device takes to begin an invocation of the thin kernel and to add its sums to those of its
/// neighbours: fitted to lavapipe.
const BEGIN: f64 = 0.2e-6;
/// Steps of the naive kernel's loop whose loads a compiler issues together.
const AHEAD: f64 = 4.0;
/// Multiply-adds of i8 in words in the time of one of f32. A packed dot product is four in one instruction, which NVIDIA
/// issues half as often as one of f32, others as often. On lavapipe the same patches ran 2.3 to 3.1 times as fast.
const DOT: f64 = 2.0;

/// Predicted seconds. All of it is computed and moved at the same time, so the slowest decides, and the others count a
/// tenth, since they never hide each other wholly: the arithmetic, in whole waves of blocks over the cores; the operands,
/// from the cache that all cores share, once per block that uses them; what does not stay in that cache, from device
/// memory; the chain of steps along k, each of which waits for its loads.
pub(super) fn seconds(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> f64 {
    let waits = [
        arithmetic(tile, problem, caps),
        from_cache(tile, problem) / caps.roofs.cache_bytes,
        from_memory(tile, problem, caps) / caps.roofs.bytes,
        chain(tile, problem, caps),
    ];
    let longest = waits.into_iter().fold(0.0, f64::max);
    let all: f64 = waits.iter().sum();
    longest + (all - longest) / 10.0
}

fn is_software(caps: &Caps) -> bool {
    caps.device_type == DeviceType::Software
}

/// Rows and columns of blocks, as they are launched.
fn blocks(tile: &Tile, problem: &GemmProblem) -> [f64; 2] {
    match tile.kernel {
        GemmKernel::Gemv => [f64::from(gemv::blocks(tile, problem)), 1.0],
        _ => [problem.dims.m.div_ceil(tile.bm), problem.dims.n.div_ceil(tile.bn)].map(f64::from),
    }
}

/// Columns of a block, or rows where those are fewer and the kernel is for that. The naive kernel has none without work.
fn width(tile: &Tile, problem: &GemmProblem) -> f64 {
    match tile.kernel {
        GemmKernel::Gemv => f64::from(gemv::count(problem)),
        GemmKernel::Naive => f64::from(tile.bn).min(f64::from(problem.dims.m) * f64::from(problem.dims.n)),
        _ => f64::from(tile.bn),
    }
}

/// Of the sums of one workgroup.
fn depth(problem: &GemmProblem) -> f64 {
    f64::from(problem.dims.k_part.max(1))
}

/// Matrices times parts of k.
fn parts(problem: &GemmProblem) -> f64 {
    problem.dims.parts().max(1) as f64
}

/// Every core computes its share of the blocks, the last wave as long as the others; few invocations leave lanes idle.
fn arithmetic(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> f64 {
    let cores = f64::from(caps.roofs.cores.max(1));
    let [rows, cols] = blocks(tile, problem);
    // Of nothing, a block is launched too.
    let per_core = (rows * cols * parts(problem) / cores).ceil().max(1.0);
    let busy =
        if is_software(caps) { 1.0 } else { (per_core * f64::from(tile.invocations(caps)) / BUSY).min(1.0) };
    let roof = match tile.kernel {
        GemmKernel::Tiled if tiled::sums(tile, problem, caps) == Sums::F16 => caps.roofs.f16_flops,
        GemmKernel::Naive | GemmKernel::Gemv | GemmKernel::Tiled => caps.roofs.f32_flops,
        GemmKernel::Dot => DOT * caps.roofs.f32_flops,
        GemmKernel::Coop => caps.roofs.coop_flops,
    };
    let block_flops = 2.0 * f64::from(tile.bm) * width(tile, problem) * depth(problem);
    per_core * block_flops / (roof / cores * efficiency(tile, problem, caps) * busy)
}

/// The part of its roof that an inner loop reaches: reading operands is what holds it back, 1 / tm + 1 / tn of them for
/// each multiply-add. The weight of a read is fitted to lavapipe (see the book's measuring page). On GPUs it is how many
/// multiply-adds a core does in the time of a read: shared memory delivers about as many bytes a cycle as there are
/// multiply-adds of f32, so two for operands widened to f32, and for f16 as often one as the matrix unit is faster.
fn efficiency(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> f64 {
    let width = if tile.kernel == GemmKernel::Gemv { width(tile, problem) } else { f64::from(tile.tn) };
    let weight = match tile.kernel {
        GemmKernel::Naive => 9.0,
        GemmKernel::Gemv | GemmKernel::Tiled | GemmKernel::Dot if is_software(caps) => 9.0,
        GemmKernel::Gemv | GemmKernel::Tiled | GemmKernel::Dot => 2.0,
        GemmKernel::Coop => caps.roofs.coop_flops / caps.roofs.f32_flops,
    };
    1.0 / (1.0 + weight * (1.0 / f64::from(tile.tm) + 1.0 / width))
}

/// Bytes that blocks read of A and B, edges in full.
fn from_cache(tile: &Tile, problem: &GemmProblem) -> f64 {
    let [rows, cols] = blocks(tile, problem);
    let block = (f64::from(tile.bm) + width(tile, problem)) * depth(problem) * problem.types.ab.size() as f64;
    rows * cols * parts(problem) * block
}

/// Bytes that cross device memory: each matrix once, and B again for every group of rows where it does not stay in the
/// cache, A for every column of blocks where not even a group's rows do.
fn from_memory(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> f64 {
    let d = &problem.dims;
    let [m, n] = [d.m, d.n].map(f64::from);
    let row = depth(problem) * problem.types.ab.size() as f64;
    let [a, b] = [m * row, n * row];
    let c = m * n * problem.types.c.size() as f64;
    if tile.kernel == GemmKernel::Gemv {
        return parts(problem) * (a + b + c) * short_runs(tile, problem, caps);
    }
    let stays = |bytes: f64| bytes <= caps.roofs.cache as f64;
    let group = (GROUP * f64::from(tile.bm)).min(m) * row;
    let [rows, cols] = blocks(tile, problem);
    let b_times = if stays(b + group) { 1.0 } else { (rows / GROUP).ceil() };
    let a_times = if stays(group) { 1.0 } else { cols };
    parts(problem) * (a * a_times + b * b_times + c)
}

/// How much longer memory takes for runs as short as those that neighbours read of the long operand.
fn short_runs(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> f64 {
    let run = f64::from(gemv::run(tile, problem, caps).max(1)) * problem.types.ab.size() as f64;
    if is_software(caps) { 1.0 + RUN / run } else { (LINE / run).max(1.0) }
}

/// Blocks at work at once hide each other's waiting, but not the steps of one.
fn chain(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> f64 {
    let steps = match tile.kernel {
        GemmKernel::Naive => (depth(problem) / AHEAD).ceil(),
        // One more is that of the neighbours' sums.
        GemmKernel::Gemv => (depth(problem) / f64::from(tile.bk)).ceil() + 1.0,
        GemmKernel::Tiled | GemmKernel::Dot | GemmKernel::Coop => {
            (depth(problem) / f64::from(tile.bk)).ceil()
        }
    };
    match (is_software(caps), tile.kernel) {
        (false, _) => steps * LATENCY,
        (true, GemmKernel::Gemv) => {
            let [rows, cols] = blocks(tile, problem);
            let per_core = (rows * cols * parts(problem) / f64::from(caps.roofs.cores.max(1))).ceil();
            per_core * f64::from(tile.invocations(caps)) * BEGIN
        }
        (true, _) => 0.0,
    }
}
