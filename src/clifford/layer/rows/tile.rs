//! How the lanes of a workgroup share the rows of a batch.

use super::problem::{RowDims, RowFunction, RowProblem, RowStep};
use crate::caps::Caps;

/// How lanes share rows: what of a plan the shape decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowTile {
    /// Features that an invocation has side by side.
    pub width: u32,
    /// Units of so many features that an invocation has.
    pub units: u32,
    /// Invocations of a workgroup.
    pub lanes: u32,
    /// Invocations of a row, or of the part of a row that a workgroup has.
    pub part: u32,
    /// Parts that a row is cut into, each of another workgroup.
    pub blocks: u32,
    /// Rows that an invocation goes through, one behind the other.
    pub steps: u32,
    /// Workgroups side by side along the rows.
    pub strips: u32,
}

impl RowTile {
    /// The tile for a problem on a device.
    #[must_use]
    pub fn of(problem: &RowProblem, caps: &Caps) -> Self {
        let in_turn = caps.machine.runs_in_turn();
        let RowDims { rows, features, .. } = problem.dims;
        let width = width(problem, caps);
        let of_row = features.div_ceil(width);
        let most = lanes_at_most(problem, width, caps);
        let (units, part) = match subgroup(caps) {
            // Lanes of a subgroup meet without waiting for others.
            Some(lanes) => {
                let mut part = of_row.next_power_of_two().min(lanes);
                while part < most && of_row.div_ceil(part) > units_at_most(problem) {
                    part *= 2;
                }
                (of_row.div_ceil(part).min(units_at_most(problem)), part)
            }
            _ => (1, of_row.next_power_of_two().min(most)),
        };
        let blocks = of_row.div_ceil(part * units);
        // These kernels' own tuning, where they are not a subgroup.
        let usual = match subgroup(caps) {
            Some(lanes) => lanes,
            _ if in_turn => 64,
            _ => 128,
        };
        let lanes = part.max(usual.min(most));
        let at_once = lanes / part;
        let groups_at_most = rows.div_ceil(at_once);
        // Workgroups for all cores: twice as many where they hide waiting, since each has few invocations, and half as many
        // where each leaves sums of weight gradients. Both are these kernels' own tuning.
        let per_core = caps.machine.groups_per_core.max(1);
        let each = match problem.function {
            _ if in_turn => per_core,
            RowFunction::SteerableBackward => per_core.div_ceil(2),
            _ => 2 * per_core,
        };
        let wanted = (caps.machine.cores.max(1) * each).div_ceil(blocks);
        let steps = groups_at_most.div_ceil(wanted);
        Self { width, units, lanes, part, blocks, steps, strips: groups_at_most.div_ceil(steps) }
    }

    /// The problem's uniform.
    #[must_use]
    pub fn dims(&self, problem: &RowProblem) -> RowDims {
        let units = problem.dims.features.div_ceil(self.width);
        RowDims { units, steps: self.steps, strips: self.strips, blocks: self.blocks, ..problem.dims }
    }

    /// Rows that have sums of weight gradients of their own: those that a workgroup has at once, of each.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.strips * (self.lanes / self.part)
    }

    /// Buffers for the sums of rows: with two, no lane waits before it writes those of the next row.
    pub(super) fn buffers(&self, problem: &RowProblem, caps: &Caps) -> u32 {
        if self.shared_bytes(problem).saturating_mul(2) <= caps.limits.workgroup_bytes { 2 } else { 1 }
    }

    /// Bytes of shared memory per workgroup.
    pub(super) fn workgroup_bytes(&self, problem: &RowProblem, caps: &Caps) -> u32 {
        if !problem.meets() {
            return 0;
        }
        let bytes = u64::from(self.buffers(problem, caps)) * u64::from(self.shared_bytes(problem));
        u32::try_from(bytes.next_multiple_of(16)).unwrap_or(u32::MAX)
    }

    fn shared_bytes(&self, problem: &RowProblem) -> u32 {
        sums_bytes(self.lanes, problem.sums())
    }
}

/// Numbers that an invocation holds for each of its features.
fn registers(problem: &RowProblem) -> usize {
    let (blades, paths) = (problem.blade_count(), problem.signature().paths().len());
    match problem.function {
        RowFunction::Steerable => 3 * blades + paths,
        RowFunction::SteerableBackward => 4 * blades + 2 * paths,
        RowFunction::Normalize => 2 * blades,
        RowFunction::NormalizeBackward => 3 * blades,
    }
}

/// Features of an invocation: as many as registers are for, where all operands can be loaded in vectors of them.
fn width(problem: &RowProblem, caps: &Caps) -> u32 {
    let is_whole = |width: u32| {
        let d = &problem.dims;
        let of = |places: &[u32; 4]| {
            let begins = [places[0], places[1], places[3]].iter().all(|place| place.is_multiple_of(width));
            places[2] == 1 && begins
        };
        let mut operands = vec![&d.x];
        if problem.function.is_product() {
            operands.push(&d.y);
        }
        if problem.function.is_backward() {
            operands.push(&d.g);
        }
        d.features.is_multiple_of(width) && operands.into_iter().all(of)
    };
    let most = caps.machine.registers as usize;
    let fits = |width: &u32| is_whole(*width) && *width as usize * registers(problem) <= most;
    // Where elements are loaded as fast, registers are better used for other features.
    let faster = |width: &u32| *width <= caps.machine.elements_per_load;
    [4, 2].into_iter().filter(faster).find(fits).unwrap_or(1)
}

/// The subgroups within which lanes add what they have: where reading what others left in shared memory takes as long as
/// through the caches, which is longer than swapping it. All have that size, and lanes in the order of their indices.
pub(super) fn subgroup(caps: &Caps) -> Option<u32> {
    let sizes = caps.subgroups.filter(|sizes| sizes.min == sizes.max)?;
    let is_slow = caps.machine.shared_read_weight >= caps.machine.cached_read_weight;
    (is_slow && sizes.min.is_power_of_two()).then_some(sizes.min)
}

/// Units of an invocation, which are written out. With 32 blades two were slower than one (`book/src/rejected.md`).
fn units_at_most(problem: &RowProblem) -> u32 {
    match problem.blade_count() {
        0..9 => 9,
        9..17 => 8,
        _ => 1,
    }
}

/// The most invocations of a workgroup, by what they hold: a power of two.
fn lanes_at_most(problem: &RowProblem, width: u32, caps: &Caps) -> u32 {
    let limits = &caps.limits;
    let mut lanes = 1 << limits.workgroup_invocations.max(1).ilog2();
    while lanes > 1 && sums_bytes(lanes, problem.sums()) > limits.workgroup_bytes {
        lanes /= 2;
    }
    // All that a core has: fewer rows at once cost less than reading rows twice.
    let Some(registers_at_most) = caps.machine.workgroup_registers else { return lanes };
    let each = width as usize * registers(problem) + 24;
    while lanes > 64 && lanes as usize * each > registers_at_most as usize {
        lanes /= 2;
    }
    lanes
}

/// Bytes of the sums of so many invocations, or what no device has.
fn sums_bytes(lanes: u32, sums: usize) -> u32 {
    u32::try_from((sums as u64).saturating_mul(4 * u64::from(lanes))).unwrap_or(u32::MAX)
}

impl RowProblem {
    /// Whether the rows of this tile take one launch: one workgroup has all of a row, or rows need not meet.
    pub(super) fn is_whole(&self, tile: &RowTile) -> bool {
        tile.blocks == 1 || !self.is_normalised() || self.step != RowStep::Whole
    }
}
