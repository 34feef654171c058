//! How a sparse operator's work is cut, and what runs in each workgroup.

use super::problem::{SparseDims, SparseForm, SparseProblem};
use crate::caps::Caps;
use crate::kernel::{self, Access, Kernel, Memory, Needs, Width};

/// Rows of the result that a workgroup makes at most, as the shaders have it.
const ROWS_AT_MOST: u32 = 256;
/// To sort a list, the shader counts how many entries fall into each of this many buckets. The shader has the same constant.
const BUCKETS: u32 = 1024;
/// Rows that ranges of places are not halved below to have work for more cores: lines are drawn for each range.
const ROWS_AT_LEAST: u32 = 32;
/// Lines of a part at least.
const PART_AT_LEAST: u32 = 1024;
/// Parts at most: their sums are written and read.
const PARTS_AT_MOST: u32 = 16;
/// Nonzeros that are sorted at once, where shared memory has room for so many, and elsewhere.
const LIST: [u32; 2] = [4096, 2048];
/// Bytes of shared memory that there must be for the longer list, with all else that is there.
const ROOM: u32 = 24 << 10;
/// Invocations of a workgroup of several vectors: these kernels' own tuning, as are the columns of an invocation below.
const LANES: u32 = 256;
/// Columns of an invocation, if a single vector does not take more of a long row: as many as the sums that a CPU's first
/// cache holds, since the first element of each row is waited for.
const FEW: u32 = 8;
const MANY: u32 = 64;
const MANY_PAIRS: u32 = 128;

/// How the work is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    /// Invocations of a workgroup; those along columns; columns of each.
    pub(super) lanes: u32,
    across: u32,
    each: u32,
    list: u32,
    /// Whether two neighbours are loaded at once.
    pairs: bool,
    /// Rows of the result, and columns, that a workgroup makes.
    pub(super) rows: u32,
    pub(super) width: u32,
    pub(super) parts: u32,
}

impl Tile {
    /// Lists are made once a workgroup: few wide ones draw little, many narrow ones keep all cores at work. So each core has
    /// half as many as hide all waiting.
    pub(super) fn of(problem: &SparseProblem, caps: &Caps) -> Self {
        let d = &problem.dims;
        let (in_turn, vector) = (caps.machine.runs_in_turn(), caps.machine.vector_lanes);
        // Lanes side by side read neighbours. Where vectors run one after another, a single one that reads long pieces of
        // rows finds more in the caches than many that come back for short ones.
        let inner = d.x_axis < d.x_stride0 && problem.rows()[0] > 1;
        let pairs = problem.has_pairs() && caps.int64;
        let (lanes, mut each): (u32, u32) = match in_turn {
            true if !inner && d.columns > vector * FEW => {
                let many = if pairs { MANY_PAIRS } else { MANY };
                (vector, d.columns.div_ceil(vector).next_power_of_two().min(many))
            }
            true => (vector, FEW),
            false => (kernel::lanes(LANES, caps), FEW),
        };
        let across = if inner { 1 } else { lanes.min(d.columns.next_power_of_two()) };
        let across = if in_turn && across < lanes { 1 } else { across };
        let list = LIST[usize::from(caps.limits.workgroup_bytes < ROOM)];
        let of_y = problem.rows()[1];
        let mut rows = match problem.form {
            SparseForm::Scatter => ROWS_AT_MOST.min(of_y.next_power_of_two()),
            SparseForm::Gather => ROWS_AT_MOST.min(list / d.nonzeros),
        };
        let wanted = caps.machine.cores.saturating_mul(caps.machine.groups_per_core.div_ceil(2)).max(1);
        let blocks = |rows: u32, each: u32| {
            u64::from(of_y.div_ceil(rows)) * u64::from(d.columns.div_ceil(across * each))
        };
        let few = |rows: u32, each: u32| blocks(rows, each) < u64::from(wanted);
        if !in_turn && few(rows, each) {
            each = if pairs { 2 } else { 1 };
        }
        while rows > ROWS_AT_LEAST && few(rows, each) {
            rows /= 2;
        }
        let blocks = blocks(rows, each);
        let parts = if problem.form == SparseForm::Scatter && blocks < u64::from(wanted) {
            let idle = u64::from(wanted) / blocks;
            // The sums of all parts are bound as one buffer.
            let bound = kernel::own_bytes(caps) / (4 * problem.elements()).max(1);
            let most = u32::try_from(bound).unwrap_or(PARTS_AT_MOST).clamp(1, PARTS_AT_MOST);
            u32::try_from(idle).unwrap_or(1).min(d.lines / PART_AT_LEAST).clamp(1, most)
        } else {
            1
        };
        let together = u32::try_from(blocks / u64::from(wanted)).unwrap_or(u32::MAX).max(1);
        let width = (across * each).saturating_mul(together).min(d.columns.next_multiple_of(across * each));
        // NOTE: as many as there are if none is empty.
        let parts = d.lines.div_ceil(d.lines.div_ceil(parts));
        Self { lanes, across, each, list, pairs, rows, width, parts }
    }

    /// The sizes, as the shader has them.
    pub(super) fn dims(&self, problem: &SparseProblem) -> SparseDims {
        let d = problem.dims;
        let whole = self.parts == 1;
        // Lists are filled to 7/8 where it is by chance how many nonzeros fall into a range.
        let here = u64::from(self.rows.min(d.places));
        let filled = if here == u64::from(d.places) { self.list } else { self.list / 8 * 7 };
        let chunk = u64::from(filled) * u64::from(d.places) / (here * u64::from(d.nonzeros));
        SparseDims {
            rows: self.rows,
            width: self.width,
            part: d.lines.div_ceil(self.parts),
            chunk: u32::try_from(chunk).unwrap_or(u32::MAX).clamp(1, d.lines),
            parts: self.parts,
            y_part: if whole { 0 } else { u32::try_from(problem.elements()).unwrap_or(0) },
            scale: if whole { d.scale } else { 1f32.to_bits() },
            ..d
        }
    }

    /// The limits that a workgroup needs. Its shared memory has the list, where its rows end and, if it is sorted, counts
    /// (`sketch/scatter.wgsl`).
    pub(super) fn needs(&self, problem: &SparseProblem) -> Needs {
        let array = |words: u32| (4 * words).next_multiple_of(16);
        let list = array(self.list) + array(ROWS_AT_MOST + 1);
        let sorting = array(BUCKETS) + array(self.lanes);
        let is_sorted = problem.form == SparseForm::Scatter;
        let workgroup_bytes = list + if is_sorted { sorting } else { 0 };
        Needs { bindings: 2, invocations: self.lanes, workgroup_bytes }
    }

    pub(super) fn kernel(&self, problem: &SparseProblem, caps: &Caps) -> Kernel {
        let memory = Memory::of(problem.dtype, caps);
        let shader = if problem.form == SparseForm::Scatter { "sketch/scatter" } else { "sketch/gather" };
        let kernel = Kernel::new(shader)
            .dims(caps, size_of::<SparseDims>())
            .param("LANES", self.lanes)
            .param("ACROSS", self.across)
            .param("EACH", self.each)
            .param("MOST", problem.dims.nonzeros.next_power_of_two())
            .param("LIST", self.list);
        if self.pairs {
            return kernel.param("x_unit", "u64").slot("sparse", "pairs");
        }
        kernel.operand("x", Access::read(memory, Width::One))
    }
}
