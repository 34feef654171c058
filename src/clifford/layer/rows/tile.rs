//! The tile of a function of rows: the division of the rows of a batch among the lanes of a workgroup.

use super::problem::{RowDims, RowFunction, RowProblem, RowStep};
use crate::caps::Caps;

/// The division of rows among lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowTile {
    /// Vector width: adjacent features of a unit.
    pub width: u32,
    /// Units per invocation.
    pub units: u32,
    /// Invocations of a workgroup.
    pub lanes: u32,
    /// Invocations that share a row, or the part of a row that one workgroup computes. A power of two.
    pub part: u32,
    /// Workgroups that share a row.
    pub blocks: u32,
    /// Rows that an invocation computes, one after the other.
    pub iterations: u32,
    /// Strips of rows, each of which has its own workgroups.
    pub strips: u32,
}

impl RowTile {
    /// The tile for a problem on a device.
    #[must_use]
    pub fn of(problem: &RowProblem, caps: &Caps) -> Self {
        let is_software = caps.machine.is_software();
        let RowDims { rows, features, .. } = problem.dims();
        let width = width(problem, caps);
        let of_row = features.div_ceil(width);
        let most_lanes = max_lanes(problem, width, caps);
        let (units, part) = match subgroup(caps) {
            // Lanes of a subgroup add their sums without a barrier.
            Some(lanes) => {
                let mut part = of_row.next_power_of_two().min(lanes);
                while part < most_lanes && of_row.div_ceil(part) > max_units(problem) {
                    part *= 2;
                }
                (of_row.div_ceil(part).min(max_units(problem)), part)
            }
            _ => (1, of_row.next_power_of_two().min(most_lanes)),
        };
        let blocks = of_row.div_ceil(part * units);
        // Except for subgroups, these are tuning values of these kernels.
        let usual = match subgroup(caps) {
            Some(lanes) => lanes,
            _ if is_software => 64,
            _ => 128,
        };
        let lanes = part.max(usual.min(most_lanes));
        let at_once = lanes / part;
        let max_groups = rows.div_ceil(at_once);
        // Enough workgroups for all cores: twice as many on GPUs, to hide latency, since each has few invocations, but
        // half as many if each stores sums of weight gradients. Both factors are tuning values of these kernels.
        let per_core = caps.machine.workgroups_per_core.max(1);
        let each = match problem.function {
            _ if is_software => per_core,
            RowFunction::SteerableBackward => per_core.div_ceil(2),
            _ => 2 * per_core,
        };
        let wanted = (caps.machine.cores.max(1) * each).div_ceil(blocks);
        let iterations = max_groups.div_ceil(wanted);
        Self { width, units, lanes, part, blocks, iterations, strips: max_groups.div_ceil(iterations) }
    }

    /// The shader's uniform.
    #[must_use]
    pub fn dims(&self, problem: &RowProblem) -> RowDims {
        let dims = problem.dims();
        RowDims {
            units: dims.features.div_ceil(self.width),
            iterations: self.iterations,
            strips: self.strips,
            blocks: self.blocks,
            ..dims
        }
    }

    /// Number of partial sums of the weight gradients: one for each row that all workgroups compute at once.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.strips * (self.lanes / self.part)
    }

    /// Number of shared-memory buffers for the sums of a row. With two, lanes write the next row's sums without a
    /// second barrier.
    pub(super) fn buffers(&self, problem: &RowProblem, caps: &Caps) -> u32 {
        if self.buffer_bytes(problem).saturating_mul(2) <= caps.limits.workgroup_bytes { 2 } else { 1 }
    }

    /// Bytes of shared memory per workgroup.
    pub(super) fn workgroup_bytes(&self, problem: &RowProblem, caps: &Caps) -> u32 {
        if !problem.shares_sums() {
            return 0;
        }
        let bytes = u64::from(self.buffers(problem, caps)) * u64::from(self.buffer_bytes(problem));
        u32::try_from(bytes.next_multiple_of(16)).unwrap_or(u32::MAX)
    }

    fn buffer_bytes(&self, problem: &RowProblem) -> u32 {
        sums_bytes(self.lanes, problem.sums())
    }
}

/// Registers that an invocation needs for each of its features.
fn registers(problem: &RowProblem) -> usize {
    let (blades, paths) = (problem.blade_count(), problem.signature().path_count());
    match problem.function {
        RowFunction::Steerable => 3 * blades + paths,
        RowFunction::SteerableBackward => 4 * blades + 2 * paths,
        RowFunction::Normalize => 2 * blades,
        RowFunction::NormalizeBackward => 3 * blades,
    }
}

/// The vector width: the largest for which all operands can be loaded in vectors and registers suffice.
fn width(problem: &RowProblem, caps: &Caps) -> u32 {
    let is_aligned = |width: u32| {
        let d = problem.dims();
        let in_vectors = |places: &[u32; 4]| {
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
        d.features.is_multiple_of(width) && operands.into_iter().all(in_vectors)
    };
    // While it computes the weights' gradients, an invocation holds 1.5 times as many temporaries: on Intel two features of
    // Cl(2) spilled (see the book's page on compilers).
    let held = match problem.function {
        RowFunction::SteerableBackward => registers(problem) * 3 / 2,
        _ => registers(problem),
    };
    let available = caps.machine.registers as usize;
    let fits = |width: &u32| is_aligned(*width) && *width as usize * held <= available;
    // If single elements load as fast as vectors, registers are better used for more units.
    let faster = |width: &u32| *width <= caps.machine.elements_per_load;
    [4, 2].into_iter().filter(faster).find(fits).unwrap_or(1)
}

/// The size of the subgroups within which lanes add their sums, if they do. They do on software devices, where a shuffle is
/// faster than shared memory. All subgroups have this size, with lanes in
/// the order of their indices.
pub(super) fn subgroup(caps: &Caps) -> Option<u32> {
    let sizes = caps.subgroups.filter(|sizes| sizes.min == sizes.max)?;
    (caps.machine.is_software() && sizes.min.is_power_of_two()).then_some(sizes.min)
}

/// The largest number of units per invocation. The loop over them is unrolled. With 32 blades, two units were slower
/// than one (`book/src/rejected.md`).
fn max_units(problem: &RowProblem) -> u32 {
    match problem.blade_count() {
        0..9 => 9,
        9..17 => 8,
        _ => 1,
    }
}

/// The largest number of invocations of a workgroup whose sums and registers fit: a power of two.
fn max_lanes(problem: &RowProblem, width: u32, caps: &Caps) -> u32 {
    let limits = &caps.limits;
    let mut lanes = 1 << limits.workgroup_invocations.max(1).ilog2();
    while lanes > 1 && sums_bytes(lanes, problem.sums()) > limits.workgroup_bytes {
        lanes /= 2;
    }
    // It may use all registers of a core: fewer concurrent rows cost less time than reading rows twice.
    let Some(max_registers) = caps.machine.workgroup_registers else { return lanes };
    let each = width as usize * registers(problem) + 24;
    while lanes > 64 && lanes as usize * each > max_registers as usize {
        lanes /= 2;
    }
    lanes
}

/// Bytes of the sums of `lanes` invocations; on overflow, more than any device has.
fn sums_bytes(lanes: u32, sums: usize) -> u32 {
    u32::try_from((sums as u64).saturating_mul(4 * u64::from(lanes))).unwrap_or(u32::MAX)
}

impl RowProblem {
    /// Whether this tile takes one launch: one workgroup computes a whole row, or there is no norm.
    pub(super) fn is_one_launch(&self, tile: &RowTile) -> bool {
        tile.blocks == 1 || !self.is_normalised() || self.step != RowStep::Whole
    }
}
