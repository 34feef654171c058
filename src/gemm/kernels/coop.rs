//! The coop kernel: blocks staged in shared memory, patches in cooperative matrices, one patch a subgroup.

use super::cost::{Cost, Unit};
use super::made::{self, Signs};
use super::segments::Eights;
use super::{Entry, GemmKernel, Tile};
use crate::caps::{Caps, CoopScalar};
use crate::gemm::Made;
use crate::gemm::half_signs::{HalfSigns, HalvedAxis};
use crate::gemm::memory::store;
use crate::gemm::problem::{GemmDims, GemmProblem};
use crate::gemm::segments::Formed;
use crate::kernel::{Access, Kernel, Memory, Width};
use crate::layout::DType;
use crate::plan::Flops;
use std::cmp::Ordering;

pub(super) struct Coop;

/// Blocks from large to small, of patches as large as the registers of a subgroup of 32 allow: of 64 x 64, each element
/// staged is used 64 times. Matrices of 8 x 8 are Apple's, whose GPUs have half the registers. Steps of 16 where two
/// stages of 32 would not fit into 48 KiB, and where a software driver would compile twice as long.
const TILES: [Tile; 12] = [
    Tile::of_subgroups(16, [128, 256, 16], [64, 64]),
    Tile::of_subgroups(16, [256, 128, 16], [64, 64]),
    Tile::of_subgroups(16, [128, 128, 16], [64, 64]),
    Tile::of_subgroups(16, [128, 64, 16], [64, 32]),
    Tile::of_subgroups(16, [64, 64, 32], [32, 32]),
    Tile::of_subgroups(16, [32, 64, 32], [32, 32]),
    Tile::of_subgroups(8, [128, 256, 16], [64, 64]),
    Tile::of_subgroups(8, [256, 128, 16], [64, 64]),
    Tile::of_subgroups(8, [128, 128, 16], [64, 32]),
    Tile::of_subgroups(8, [128, 64, 16], [64, 32]),
    Tile::of_subgroups(8, [64, 64, 16], [32, 32]),
    Tile::of_subgroups(8, [32, 64, 16], [32, 32]),
];

impl Tile {
    /// A tile of patches that subgroups hold, in cooperative matrices.
    const fn of_subgroups(fragment: u32, [bm, bn, bk]: [u32; 3], [tm, tn]: [u32; 2]) -> Self {
        Self { kernel: GemmKernel::Coop, bm, bn, bk, tm, tn, fragment }
    }
}

/// How an operand is staged.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stage {
    along: Axis,
    by: Loads,
}

/// The axis along which eight elements make a unit: shared memory has its rows along it too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    K = 0,
    Outer = 1,
}

/// What one load brings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loads {
    /// A unit: 16 bytes.
    Units,
    /// An element.
    Elements,
}

impl Loads {
    /// What memory is seen as an array of.
    fn unit(self) -> &'static str {
        match self {
            Self::Units => "Unit",
            Self::Elements => "f16",
        }
    }
}

impl Stage {
    /// By units where an axis is contiguous and every line along it starts at a multiple of 16 bytes. Lines may end
    /// anywhere: what a unit holds beyond the end is masked. An axis of one element is as contiguous as one likes, so
    /// that a single row or column takes the kernel that more of them take.
    fn of([outer, k]: [u32; 2], [outer_stride, k_stride]: [u32; 2], starts: [u32; 3]) -> Self {
        let runs = |extent: u32, stride: u32| extent <= 1 || stride == 1;
        let starts_whole =
            |stride: u32| stride.is_multiple_of(8) && starts.iter().all(|start| start.is_multiple_of(8));
        if runs(k, k_stride) && starts_whole(outer_stride) {
            Self { along: Axis::K, by: Loads::Units }
        } else if runs(outer, outer_stride) && starts_whole(k_stride) {
            Self { along: Axis::Outer, by: Loads::Units }
        } else if runs(outer, outer_stride) && k_stride != 1 {
            Self { along: Axis::Outer, by: Loads::Elements }
        } else {
            Self { along: Axis::K, by: Loads::Elements }
        }
    }

    /// Of an operand B of which half is made: by elements, along the axis that a whole operand of the same order in memory
    /// is staged along, so that it takes as many bytes.
    fn of_half(signs: HalfSigns, d: &GemmDims) -> Self {
        let along = match (d.b_outer.cmp(&d.b_k), signs.axis) {
            (Ordering::Less, _) => Axis::Outer,
            (Ordering::Greater, _) => Axis::K,
            // Strides are equal where the other half is what lies behind the first element.
            (Ordering::Equal, HalvedAxis::Outer) => Axis::Outer,
            (Ordering::Equal, HalvedAxis::K) => Axis::K,
        };
        Self { along, by: Loads::Elements }
    }

    /// Bytes of one block of `outer` x `bk` in shared memory: each row padded by 16 bytes.
    fn bytes(self, outer: u32, bk: u32) -> u32 {
        match self.along {
            Axis::K => outer * (bk + 8) * 2,
            Axis::Outer => bk * (outer + 8) * 2,
        }
    }
}

fn stages_of(problem: &GemmProblem) -> [Stage; 2] {
    let d = &problem.dims;
    let b = match problem.halved() {
        Some(signs) => Stage::of_half(signs, d),
        None => Stage::of([d.n, d.k], [d.b_outer, d.b_k], problem.b_starts()),
    };
    let a = Stage::of([d.m, d.k], [d.a_outer, d.a_k], problem.a_starts());
    let second = problem.segments().and_then(|segments| segments.second());
    let a = match second.map(|(strides, starts)| Stage::of([d.m, d.k], strides, starts)) {
        // By units only if both operands of A's products come so.
        Some(y) if y != a => Stage { by: Loads::Elements, ..a },
        _ => a,
    };
    [a, b]
}

/// Invocations that hold a patch together.
fn subgroup(caps: &Caps) -> u32 {
    caps.subgroups.map_or(1, |sizes| sizes.min)
}

/// Bytes that one stage of both operands takes, and those by which results leave.
fn parts(tile: &Tile, problem: &GemmProblem) -> [u32; 2] {
    let [a, b] = stages_of(problem);
    let stage = a.bytes(tile.bm, tile.bk) + b.bytes(tile.bn, tile.bk);
    // One matrix of f32 a patch, each row padded by a vector (`gemm/coop.wgsl`).
    [stage, tile.patches() * tile.fragment * (tile.fragment + 4) * 4]
}

/// Two where they fit, so that one is filled while the other is read.
fn stages(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    let [stage, leaving] = parts(tile, problem);
    if 2 * stage + leaving <= caps.limits.workgroup_bytes { 2 } else { 1 }
}

fn fetch(kernel: Kernel, slot: &'static str, unit: &'static str, by: Loads) -> Kernel {
    let kernel = kernel.param(unit, by.unit());
    match by {
        Loads::Units => kernel,
        Loads::Elements => kernel.slot(slot, "elements"),
    }
}

impl Entry for Coop {
    fn name(&self) -> &'static str {
        "coop"
    }

    fn shader(&self) -> &'static str {
        "gemm/coop"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    /// Of operands of f16, or of half of one that is made, where the device has the row.
    fn admits(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        if let Some(Made::Whole(_)) = problem.made {
            return Err("both operands in memory".into());
        }
        if problem.types.ab != DType::F16 {
            return Err(format!("operands of f16, not {}", problem.types.ab));
        }
        caps.coop(tile.fragment, CoopScalar::F16, CoopScalar::F32)?;
        let lanes = self.invocations(tile, caps);
        if [tile.bm, tile.bn].iter().any(|outer| !(outer * tile.bk).is_multiple_of(8 * lanes)) {
            return Err(format!("smaller subgroups: {lanes} invocations have no unit each to stage"));
        }
        Ok(())
    }

    fn is_staged(&self) -> bool {
        true
    }

    fn invocations(&self, tile: &Tile, caps: &Caps) -> u32 {
        tile.patches() * subgroup(caps)
    }

    fn accumulators(&self, tile: &Tile, _: &GemmProblem, caps: &Caps) -> u32 {
        tile.tm * tile.tn / subgroup(caps)
    }

    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        let [stage, leaving] = parts(tile, problem);
        stages(tile, problem, caps) * stage + leaving
    }

    /// A read of f16 from shared memory takes the time of as many multiply-adds as the matrix unit is faster than that of f32.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let read_weight = caps.machine.matrix_flops / caps.machine.f32_flops;
        Cost { read_weight, ..Cost::of_blocks(tile, problem, caps, Unit::Matrix) }
    }

    /// Of half an operand, signs are f16.
    fn making(&self, tile: &Tile, problem: &GemmProblem) -> Flops {
        let along = match stages_of(problem)[1].along {
            Axis::Outer => HalvedAxis::Outer,
            Axis::K => HalvedAxis::K,
        };
        let made = made::flops(tile, problem, Signs::Units(along));
        if problem.halved().is_some() { Flops { f16: made.f32, f32: 0.0, ..made } } else { made }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let size = tile.fragment;
        let fragment = |scalar, role| format!("coop_mat{size}x{size}<{scalar}, {role}>");
        let kernel = tile
            .staged(stages(tile, problem, caps), problem, caps)
            .param("mat_a", fragment("f16", "A"))
            .param("mat_b", fragment("f16", "B"))
            .param("mat_c", fragment("f32", "C"))
            .param("FRAGMENT", size)
            .param("WM", tile.tm)
            .param("WN", tile.tn)
            .param("SUBGROUP", subgroup(caps))
            .on_subgroups_of(subgroup(caps))
            .on_matrices_of(size);
        let [a, b] = stages_of(problem);
        let kernel = kernel.param("A_OUTER", a.along as u32).param("B_OUTER", b.along as u32);
        let kernel = match problem.segments() {
            Some(segments) if segments.formed != Formed::InMemory => kernel.param("a_unit", a.by.unit()),
            _ => fetch(kernel, "coop_load_a", "a_unit", a.by),
        };
        let kernel = match problem.halved() {
            Some(signs) => {
                signs.bind(kernel, "coop_load_b").param("half_element", "f16").param("b_unit", "f16")
            }
            None => fetch(kernel, "coop_load_b", "b_unit", b.by),
        };
        let kernel = match (problem.segments(), a.by) {
            (Some(segments), Loads::Units) => segments.bind_coop(kernel, Eights::Units),
            (Some(segments), Loads::Elements) => segments.bind_coop(kernel, Eights::Elements),
            (None, _) => kernel,
        };
        // A driver asks for 16 bytes where rows of a matrix of f32 go to memory.
        let direct = problem.types.c == DType::F32
            && problem.dims.c_starts().iter().all(|start| start.is_multiple_of(4));
        if direct && problem.epilogue.is_plain() {
            return kernel.result(Access::write(Memory::F32, Width::One));
        }
        store(kernel, problem, 3, caps).slot("store_whole", "none")
    }

    fn describe(&self, tile: &Tile) -> String {
        let Tile { bm, bn, bk, tm, tn, fragment, .. } = tile;
        format!("{bm}x{bn}x{bk} ({tm}x{tn} per subgroup, of {fragment}x{fragment})")
    }
}
