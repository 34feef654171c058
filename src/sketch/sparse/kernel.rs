//! The tile of a sparse operator's kernel, and the kernel.

use super::problem::{SparseDims, SparseMethod, SparseProblem};
use crate::caps::Caps;
use crate::kernel::{self, AccessWidth, Kernel, Needs, OperandAccess, StorageFormat};

/// Largest number of result rows of a workgroup. The shaders have the same constant.
const MAX_ROWS: u32 = 256;
/// Number of buckets by which the shader sorts a list. The shader has the same constant.
const BUCKETS: u32 = 1024;
/// Smallest number of rows to which a range of positions is halved to give more cores work: each range draws all lines
/// again.
const MIN_ROWS: u32 = 32;
/// The largest number of nonzeros that a split draws, if the device has memory for the sums of that number of splits: a third of a
/// second on an Apple M2.
const MAX_SPLIT_NONZEROS: u64 = 1 << 26;
/// Smallest number of lines of a split.
const MIN_SPLIT_LINES: u32 = 1024;
/// Largest number of splits, unless each would draw for too long. The partial sums of each split are written and read once
/// more.
const MAX_SPLITS: u32 = 16;
/// Nonzeros that are sorted at once: with at least [`LIST_ROOM`] bytes of shared memory, and with less.
const LIST: [u32; 2] = [4096, 2048];
/// Bytes of shared memory that the longer list needs, together with the other arrays of the kernel.
const LIST_ROOM: u32 = 24 << 10;
/// Invocations of a workgroup on devices that run vectors in parallel. This and the columns below were tuned for these
/// kernels.
const LANES: u32 = 256;
/// Columns of an invocation.
const COLUMNS: u32 = 8;
/// Largest number of columns of an invocation if a workgroup is one vector of a CPU, without and with 64-bit pairs. A
/// CPU waits for the first element of each row, so an invocation takes columns until their sums fill the first-level
/// cache.
const MAX_COLUMNS: u32 = 64;
const MAX_PAIRED_COLUMNS: u32 = 128;

/// The work of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SparseTile {
    /// Invocations of a workgroup.
    pub(super) lanes: u32,
    /// Invocations along the columns.
    across: u32,
    /// Columns of an invocation at a time.
    each: u32,
    /// Nonzeros that are listed at once.
    list: u32,
    /// Whether two neighbouring columns are loaded at once.
    pairs: bool,
    /// Result rows of a workgroup.
    pub(super) rows: u32,
    /// Result columns of a workgroup.
    pub(super) width: u32,
    /// Number of splits of the lines.
    pub(super) splits: u32,
}

impl SparseTile {
    /// Chooses the tile. Each workgroup draws its own list of nonzeros: few wide workgroups draw less, many narrow ones
    /// keep all cores busy. The compromise is half the number of workgroups per core that would hide all latency.
    pub(super) fn of(problem: &SparseProblem, d: &SparseDims, caps: &Caps) -> Self {
        let (is_software, vector) = (caps.machine.is_software(), caps.machine.vector_lanes);
        // Neighbouring lanes read neighbouring columns. If vectors run one after another (on a CPU), one vector that
        // reads long pieces of rows has more cache hits than many vectors that read short pieces.
        let inner = d.x_axis < d.x_stride0 && problem.rows()[0] > 1;
        let pairs = problem.has_pairs(d) && caps.int64;
        let (lanes, mut each): (u32, u32) = match is_software {
            true if !inner && d.columns > vector * COLUMNS => {
                let many = if pairs { MAX_PAIRED_COLUMNS } else { MAX_COLUMNS };
                (vector, d.columns.div_ceil(vector).next_power_of_two().min(many))
            }
            true => (vector, COLUMNS),
            false => (kernel::workgroup_size(LANES, caps), COLUMNS),
        };
        let across = if inner { 1 } else { lanes.min(d.columns.next_power_of_two()) };
        let across = if is_software && across < lanes { 1 } else { across };
        let list = LIST[usize::from(caps.limits.workgroup_bytes < LIST_ROOM)];
        let of_y = problem.rows()[1];
        let mut rows = match problem.method {
            SparseMethod::Scatter => MAX_ROWS.min(of_y.next_power_of_two()),
            SparseMethod::Gather => MAX_ROWS.min(list / d.nonzeros),
        };
        let wanted = caps.machine.cores.saturating_mul(caps.machine.workgroups_per_core.div_ceil(2)).max(1);
        let blocks = |rows: u32, each: u32| {
            u64::from(of_y.div_ceil(rows)) * u64::from(d.columns.div_ceil(across * each))
        };
        let few = |rows: u32, each: u32| blocks(rows, each) < u64::from(wanted);
        if !is_software && few(rows, each) {
            each = if pairs { 2 } else { 1 };
        }
        while rows > MIN_ROWS && few(rows, each) {
            rows /= 2;
        }
        let blocks = blocks(rows, each);
        // A split draws all its lines in each workgroup. On processors, which wait for them, more splits would not be faster.
        let drawn = u64::from(d.lines) * u64::from(d.nonzeros);
        let least = if is_software { 1 } else { drawn.div_ceil(MAX_SPLIT_NONZEROS) };
        let splits = if problem.method == SparseMethod::Scatter && (blocks < u64::from(wanted) || least > 1) {
            let idle = (u64::from(wanted) / blocks).max(least);
            // The partial sums of all splits are bound as one buffer.
            let bound = kernel::max_buffer_bytes(caps) / (4 * problem.elements()).max(1);
            let allowed = u32::try_from(least).unwrap_or(MAX_SPLITS).max(MAX_SPLITS);
            let most = u32::try_from(bound).unwrap_or(allowed).clamp(1, allowed);
            u32::try_from(idle).unwrap_or(1).min(d.lines / MIN_SPLIT_LINES).clamp(1, most)
        } else {
            1
        };
        let together = u32::try_from(blocks / u64::from(wanted)).unwrap_or(u32::MAX).max(1);
        let width = (across * each).saturating_mul(together).min(d.columns.next_multiple_of(across * each));
        // NOTE: the number of non-empty splits when `splits` are requested.
        let splits = d.lines.div_ceil(d.lines.div_ceil(splits));
        Self { lanes, across, each, list, pairs, rows, width, splits }
    }

    /// The uniform of the kernel.
    pub(super) fn dims(&self, problem: &SparseProblem, d: &SparseDims) -> SparseDims {
        let [seed_low, seed_high] = problem.operand.seed.words();
        let whole = self.splits == 1;
        // The number of nonzeros in a range is random, so lists are planned to be 7/8 full, unless a range has all
        // positions.
        let here = u64::from(self.rows.min(d.positions));
        let filled = if here == u64::from(d.positions) { self.list } else { self.list / 8 * 7 };
        let chunk = u64::from(filled) * u64::from(d.positions) / (here * u64::from(d.nonzeros));
        SparseDims {
            rows: self.rows,
            width: self.width,
            split_lines: d.lines.div_ceil(self.splits),
            chunk: u32::try_from(chunk).unwrap_or(u32::MAX).clamp(1, d.lines),
            splits: self.splits,
            seed_low,
            seed_high,
            y_split: if whole { 0 } else { u32::try_from(problem.elements()).unwrap_or(0) },
            scale: if whole { d.scale } else { 1f32.to_bits() },
            ..*d
        }
    }

    /// The limits that a workgroup needs. Its shared memory holds the list, the ends of the rows in the list and, to
    /// scatter, the counts by which the list is sorted (`sketch/scatter.wgsl`).
    pub(super) fn needs(&self, problem: &SparseProblem) -> Needs {
        let array = |words: u32| (4 * words).next_multiple_of(16);
        let list = array(self.list) + array(MAX_ROWS + 1);
        let sorting = array(BUCKETS) + array(self.lanes);
        let is_sorted = problem.method == SparseMethod::Scatter;
        let workgroup_bytes = list + if is_sorted { sorting } else { 0 };
        Needs::of(self.lanes, workgroup_bytes)
    }

    pub(super) fn kernel(&self, problem: &SparseProblem, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(problem.operand.dtype, caps);
        let shader = if problem.method == SparseMethod::Scatter { "sketch/scatter" } else { "sketch/gather" };
        let kernel = Kernel::new(shader)
            .dims::<SparseDims>(caps)
            .param("LANES", self.lanes)
            .param("ACROSS", self.across)
            .param("EACH", self.each)
            .param("LIST", self.list);
        let kernel = problem.operand.seed.bind(kernel, 2);
        if self.pairs {
            return kernel.param("x_unit", "u64").slot("sparse", "pairs");
        }
        kernel.operand("x", OperandAccess::read(format, AccessWidth::One))
    }
}
