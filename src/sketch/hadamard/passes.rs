//! Splits a Hadamard transform into passes with the least total time.

use super::kernel::{
    HadamardDims, HadamardLayout, HadamardPass, HadamardSource, HadamardTarget, HadamardTile,
};
use super::problem::HadamardPiece;
use crate::caps::Caps;
use crate::layout::DType;
use crate::sketch::operator::Direction;

/// Largest number of levels that a single invocation computes on any device, with 64 rows in registers.
const MAX_RADIX_BITS: u32 = 6;
/// Levels of a stage in a pass of several stages.
const STAGE_LEVELS: u32 = 4;
/// Largest number of levels of a pass.
const MAX_LEVELS: u32 = 14;
/// Largest number of lines of a workgroup, and the number of lines in a pass without exchange.
const MAX_LINES: u32 = 64;
/// Largest number of invocations of a workgroup.
const MAX_INVOCATIONS: u32 = 512;

/// The passes with the least total time, by dynamic programming from the last level. The split changes no result,
/// because levels are computed in the order of their bits in any split.
pub(super) fn split(piece: &HadamardPiece, caps: &Caps) -> Vec<HadamardPass> {
    let bits = piece.dims.bits;
    // For each bit: the least time for all levels from this bit on, and the first pass of that split.
    let mut best: Vec<(f64, Option<HadamardPass>)> = vec![(0.0, None); bits as usize + 1];
    for low in (0..bits.max(1)).rev() {
        let mut least = (f64::INFINITY, None);
        for levels in bits.min(1)..=(bits - low).min(MAX_LEVELS) {
            let rest = best[(low + levels) as usize].0;
            for pass in candidates(piece, low, levels, caps) {
                let seconds = pass.seconds(caps) + rest;
                if pass.fits(caps) && seconds < least.0 {
                    least = (seconds, Some(pass));
                }
            }
        }
        best[low as usize] = least;
    }
    let mut chosen = Vec::new();
    let mut low = 0;
    while let Some(pass) = best.get(low).and_then(|(_, pass)| *pass) {
        low += pass.tile.levels as usize;
        chosen.push(pass);
        if pass.tile.levels == 0 {
            break;
        }
    }
    chosen
}

/// The limit of the device that is too small for the smallest pass, in words. Empty if the device can run passes.
pub(super) fn lacking(piece: &HadamardPiece, caps: &Caps) -> String {
    let bits = piece.dims.bits;
    let lacked = |low: u32| {
        let levels = bits.min(1)..=(bits - low).min(MAX_LEVELS);
        let passes: Vec<HadamardPass> =
            levels.flat_map(|levels| candidates(piece, low, levels, caps)).collect();
        if passes.iter().any(|pass| pass.fits(caps)) {
            return None;
        }
        let needs = passes.iter().map(HadamardPass::needs);
        needs.min_by_key(|needs| (needs.invocations, needs.workgroup_bytes))?.fit(caps).err()
    };
    (0..bits.max(1)).find_map(lacked).unwrap_or_default()
}

/// The candidates for a pass over these levels. In one, invocations work alone. In the other, they exchange rows, with
/// the largest number of lines that fits in shared memory.
fn candidates(
    piece: &HadamardPiece,
    low: u32,
    levels: u32,
    caps: &Caps,
) -> impl Iterator<Item = HadamardPass> {
    let of = move |radix, lines| pass(piece, low, tile(&piece.dims, low, levels, [radix, lines]));
    let most = max_radix_bits(caps);
    let alone = (levels <= most).then(|| of(levels, MAX_LINES));
    let exchanging = (levels > STAGE_LEVELS).then(|| {
        // The smallest number of rows per invocation that the limit of invocations allows.
        let invocations = caps.limits.workgroup_invocations.min(MAX_INVOCATIONS);
        let of = |lines: u32| {
            let fits = |radix: &u32| lines << (levels - radix) <= invocations;
            Some(of((STAGE_LEVELS..levels.min(most + 1)).find(fits)?, lines))
        };
        (0..=MAX_LINES.ilog2()).rev().filter_map(|bits| of(1 << bits)).find(|pass| pass.fits(caps))
    });
    [alone, exchanging.flatten()].into_iter().flatten()
}

/// The largest number of levels that a single invocation of this device computes, with its rows in registers.
fn max_radix_bits(caps: &Caps) -> u32 {
    MAX_RADIX_BITS.min(caps.machine.accumulators.max(1).ilog2())
}

/// A tile of this number of lines: columns of one set of rows if there are enough, otherwise columns of several sets.
fn tile(dims: &HadamardDims, low: u32, levels: u32, [radix_bits, lines]: [u32; 2]) -> HadamardTile {
    let power = |columns: u64| u32::try_from(columns.next_power_of_two()).unwrap_or(1 << 31).min(lines);
    let layout = match low {
        _ if power(dims.columns.into()) == lines => HadamardLayout::Columns,
        0 => HadamardLayout::Sets(power(dims.columns.into())),
        _ => HadamardLayout::Folded(power(u64::from(dims.columns) << low)),
    };
    HadamardTile { levels, radix_bits, lines, layout }
}

/// The pass over these levels. The first pass reads the operand and the last one writes the result; the others use the
/// scratch buffer.
fn pass(piece: &HadamardPiece, low: u32, tile: HadamardTile) -> HadamardPass {
    let (first, last) = (low == 0, low + tile.levels == piece.dims.bits);
    let folded_bits = if matches!(tile.layout, HadamardLayout::Folded(_)) { low } else { 0 };
    let mut dims = HadamardDims { low_bits: low, column_lanes: tile.columns(), folded_bits, ..piece.dims };
    let rows = 1 << dims.bits;
    let pitch = piece.pitch();
    // NOTE: this wraps only if the scratch buffer has 2^31 elements or more, which no device can bind.
    let batch = pitch.wrapping_shl(dims.bits);
    let scratch = [0, pitch, 1, batch, batch.wrapping_mul(dims.batch0)];
    if !first {
        dims.rows_in = rows;
        [dims.x_offset, dims.x_row, dims.x_column, dims.x_batch0, dims.x_batch1] = scratch;
    }
    if !last {
        dims.rows_out = rows;
        [dims.y_offset, dims.y_row, dims.y_column, dims.y_batch0, dims.y_batch1] = scratch;
    }
    let source = match piece.problem.direction {
        _ if !first => HadamardSource::Scratch,
        Direction::Forward => HadamardSource::Signed,
        Direction::Adjoint => HadamardSource::Permuted,
    };
    let target = match piece.problem.direction {
        _ if !last => HadamardTarget::Scratch,
        Direction::Forward => HadamardTarget::Permuted,
        Direction::Adjoint => HadamardTarget::Signed,
    };
    let dtype = if first { piece.problem.operand.dtype } else { DType::F32 };
    HadamardPass { dims, dtype, source, target, tile, seed: piece.problem.operand.seed }
}
