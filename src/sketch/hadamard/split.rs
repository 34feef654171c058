//! Which levels of a Hadamard transform each pass computes: those that together take the least time.

use super::kernel::{
    HadamardDims, HadamardLanes, HadamardPass, HadamardSource, HadamardTarget, HadamardTile,
};
use super::problem::HadamardProblem;
use crate::caps::Caps;
use crate::layout::DType;
use crate::sketch::apply::Way;

/// The most levels that an invocation computes by itself, with 64 rows in registers.
const ALONE_AT_MOST: u32 = 6;
/// Levels of a stage, where there are several in a pass.
const OF_A_STAGE: u32 = 4;
/// The most levels of a pass.
const LEVELS_AT_MOST: u32 = 14;
/// Lines of a workgroup at most, and of one whose invocations have nothing to exchange.
const SIDE_BY_SIDE: u32 = 64;
/// Invocations of a workgroup at most.
const INVOCATIONS_AT_MOST: u32 = 512;

/// The passes that take the least time together. Which ones they are changes no result: levels come in the order of
/// their bits.
pub(super) fn split(problem: &HadamardProblem, caps: &Caps) -> Vec<HadamardPass> {
    let bits = problem.dims.bits;
    // From every bit on, the least time and the first pass of it.
    let mut best: Vec<(f64, Option<HadamardPass>)> = vec![(0.0, None); bits as usize + 1];
    for low in (0..bits.max(1)).rev() {
        let mut least = (f64::INFINITY, None);
        for levels in bits.min(1)..=(bits - low).min(LEVELS_AT_MOST) {
            let rest = best[(low + levels) as usize].0;
            for pass in passes(problem, low, levels, caps) {
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

/// What the device lacks of what the smallest pass takes, in words, where it has too little for any.
pub(super) fn lacking(problem: &HadamardProblem, caps: &Caps) -> String {
    let bits = problem.dims.bits;
    let lacked = |low: u32| {
        let levels = bits.min(1)..=(bits - low).min(LEVELS_AT_MOST);
        let passes: Vec<HadamardPass> =
            levels.flat_map(|levels| passes(problem, low, levels, caps)).collect();
        if passes.iter().any(|pass| pass.fits(caps)) {
            return None;
        }
        let needs = passes.iter().map(HadamardPass::needs);
        needs.min_by_key(|needs| (needs.invocations, needs.workgroup_bytes))?.fit(caps).err()
    };
    (0..bits.max(1)).find_map(lacked).unwrap_or_default()
}

/// The ways to compute these levels in one pass: by invocations alone, and with an exchange, of as many columns as go
/// into shared memory.
fn passes(
    problem: &HadamardProblem,
    low: u32,
    levels: u32,
    caps: &Caps,
) -> impl Iterator<Item = HadamardPass> {
    let of = move |radix, columns| pass(problem, low, tile(&problem.dims, low, levels, [radix, columns]));
    let alone = (levels <= ALONE_AT_MOST).then(|| of(levels, SIDE_BY_SIDE));
    let together = (levels > OF_A_STAGE).then(|| {
        // As few rows an invocation as the invocations of a workgroup allow.
        let invocations = caps.limits.workgroup_invocations.min(INVOCATIONS_AT_MOST);
        let of = |columns: u32| {
            let fits = |radix: &u32| columns << (levels - radix) <= invocations;
            Some(of((OF_A_STAGE..levels.min(ALONE_AT_MOST + 1)).find(fits)?, columns))
        };
        (0..=SIDE_BY_SIDE.ilog2()).rev().filter_map(|bits| of(1 << bits)).find(|pass| pass.fits(caps))
    });
    [alone, together.flatten()].into_iter().flatten()
}

/// A tile of so many lines: columns as long as there are as many, else columns of several sets of rows.
fn tile(dims: &HadamardDims, low: u32, levels: u32, [radix_bits, beside]: [u32; 2]) -> HadamardTile {
    let power = |there: u64| u32::try_from(there.next_power_of_two()).unwrap_or(1 << 31).min(beside);
    let lanes = match low {
        _ if power(dims.columns.into()) == beside => HadamardLanes::Columns,
        0 => HadamardLanes::Sets(power(dims.columns.into())),
        _ => HadamardLanes::Folded(power(u64::from(dims.columns) << low)),
    };
    HadamardTile { levels, radix_bits, beside, lanes }
}

/// The pass over these levels: its operands are the problem's only at both ends.
fn pass(problem: &HadamardProblem, low: u32, tile: HadamardTile) -> HadamardPass {
    let (first, last) = (low == 0, low + tile.levels == problem.dims.bits);
    let folded_bits = if matches!(tile.lanes, HadamardLanes::Folded(_)) { low } else { 0 };
    let mut dims = HadamardDims { low_bits: low, column_lanes: tile.columns(), folded_bits, ..problem.dims };
    let rows = 1 << dims.bits;
    let pitch = problem.pitch();
    // What passes leave each other may be 2^31 elements or more only where no device can bind it.
    let batch = pitch.wrapping_shl(dims.bits);
    let between = [0, pitch, 1, batch, batch.wrapping_mul(dims.batch0)];
    if !first {
        dims.rows_in = rows;
        [dims.x_offset, dims.x_row, dims.x_column, dims.x_batch0, dims.x_batch1] = between;
    }
    if !last {
        dims.rows_out = rows;
        [dims.y_offset, dims.y_row, dims.y_column, dims.y_batch0, dims.y_batch1] = between;
    }
    let source = match problem.way {
        _ if !first => HadamardSource::Pass,
        Way::Forward => HadamardSource::Signed,
        Way::Adjoint => HadamardSource::Places,
    };
    let target = match problem.way {
        _ if !last => HadamardTarget::Pass,
        Way::Forward => HadamardTarget::Places,
        Way::Adjoint => HadamardTarget::Signed,
    };
    let dtype = if first { problem.dtype } else { DType::F32 };
    HadamardPass { dims, dtype, source, target, tile }
}
