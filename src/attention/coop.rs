//! The kernel of attention on cooperative matrices: `shaders/attention/attention_coop.wgsl`.

use super::problem::{AttentionDims, AttentionProblem};
use crate::caps::{Caps, CoopScalar, MatrixOrder};
use crate::kernel::{Kernel, Needs, StorageFormat};
use crate::layout::DType;
use crate::ops::vectors::Moves;
use crate::ops::writer::Writer;
use crate::plan::{Bound, Flops, Prediction};
use std::fmt;

/// The tile of a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CoopTile {
    /// Rows, columns and depth of a matrix.
    fragment: u32,
    /// Rows of a subgroup.
    rows: u32,
    /// Keys whose scores a subgroup has at once.
    keys: u32,
}

/// A subgroup has one row of matrices, so that its sums for head dims of 128 fit into registers. Matrices of 8 x 8 are
/// for Apple's GPUs.
const TILES: [CoopTile; 5] = [
    CoopTile { fragment: 16, rows: 16, keys: 32 },
    CoopTile { fragment: 16, rows: 16, keys: 16 },
    CoopTile { fragment: 8, rows: 8, keys: 32 },
    CoopTile { fragment: 8, rows: 8, keys: 16 },
    CoopTile { fragment: 8, rows: 8, keys: 8 },
];
/// The largest number of products of 8 x 8 matrices in a block of keys that a software driver compiles in seconds.
pub(super) const MOST_PRODUCTS: u32 = 32;
/// Subgroups of a workgroup.
pub(super) const SUBGROUPS: u32 = 4;
/// The largest head dim.
pub(super) const MOST_DIM: u32 = 256;
/// The registers of an invocation for addresses, counters and the softmax.
pub(super) const OTHER_REGISTERS: u32 = 64;
/// The largest number of registers of an invocation.
pub(super) const MOST_REGISTERS: u32 = 250;
/// Operations on a score besides products: scale, maximum, exponential, sum, rounding, and three passes through shared memory.
const SCORE_FLOPS: f64 = 60.0;

impl CoopTile {
    /// The tiles, from large to small.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        TILES.into_iter()
    }

    /// Rows, columns and depth of a matrix.
    pub(super) fn fragment(self) -> u32 {
        self.fragment
    }

    /// Rows of a workgroup.
    fn block_rows(self) -> u32 {
        SUBGROUPS * self.rows
    }

    /// Invocations that share the softmax of a row.
    fn lanes_of_row(self, caps: &Caps) -> u32 {
        (caps.matrix_lanes() / self.rows).max(1)
    }

    /// The limits that a launch needs.
    pub(super) fn needs(self, problem: &AttentionProblem, caps: &Caps) -> Needs {
        let d = problem.dims();
        // Each row is padded by 16 bytes. At the end are four words.
        let values = match caps.machine.matrix_order {
            MatrixOrder::Any => 2 * self.keys * (d.dim_v + 8),
            MatrixOrder::AlongK => 2 * d.dim_v * (self.keys + 8),
        };
        // Weights take the place of keys.
        let keys = (2 * self.keys * (d.dim + 8)).max(2 * self.block_rows() * (self.keys + 8));
        let scores = 4 * self.block_rows() * (self.keys + 4);
        Needs {
            bindings: problem.bindings(),
            invocations: SUBGROUPS * caps.matrix_lanes(),
            workgroup_bytes: keys + values + scores + 16,
        }
    }

    /// Whether the device can compute the problem with this tile.
    ///
    /// # Errors
    /// The missing requirement, in words.
    pub(super) fn fits(self, problem: &AttentionProblem, caps: &Caps) -> Result<(), String> {
        let d = problem.dims();
        if problem.dtype != DType::F16 {
            return Err(format!("operands of f16, not {}", problem.dtype));
        }
        caps.check_coop(self.fragment, CoopScalar::F16, CoopScalar::F32, problem.pin.is_none())?;
        check_head_dims([d.dim, d.dim_v], self.fragment, MOST_DIM)?;
        let size = caps.matrix_lanes();
        let is_shared_evenly = size.max(self.rows).is_multiple_of(size.min(self.rows));
        if !is_shared_evenly || !(self.keys / self.lanes_of_row(caps)).is_multiple_of(8) {
            return Err(format!("smaller subgroups: {size} invocations have less than eight scores each"));
        }
        let products = (d.dim + d.dim_v) * self.rows * self.keys / 512;
        check_compiled(products, [products, MOST_PRODUCTS], caps)?;
        check_registers(self.registers(problem, caps), MOST_REGISTERS, caps)?;
        self.needs(problem, caps).fit(caps)
    }

    /// The registers of an invocation: its share of the rows of Q, of scores twice, of sums, and others.
    fn registers(self, problem: &AttentionProblem, caps: &Caps) -> u32 {
        let d = problem.dims();
        self.rows * (d.dim / 2 + 2 * self.keys + d.dim_v) / caps.matrix_lanes() + OTHER_REGISTERS
    }

    /// The number of workgroups.
    pub(super) fn blocks(self, problem: &AttentionProblem) -> u64 {
        blocks(self.rows, problem)
    }

    /// The operations of any kernel on matrices.
    pub(super) fn flops(problem: &AttentionProblem) -> Flops {
        let d = problem.dims();
        let pairs = problem.rows() as f64 * f64::from(d.keys);
        let products = 2.0 * f64::from(d.dim) + 2.0 * f64::from(d.dim_v);
        Flops { matrix: pairs * products, ..Flops::of_f32(pairs) }
    }

    /// The predicted time.
    pub(super) fn predict(self, problem: &AttentionProblem, caps: &Caps) -> Prediction {
        predict([self.rows, self.keys], problem, caps)
    }

    /// The kernel.
    pub(super) fn kernel(self, problem: &AttentionProblem, caps: &Caps) -> Kernel {
        let (d, size) = (problem.dims(), self.fragment);
        let kernel = Kernel::new("attention/attention_coop")
            .dims::<AttentionDims>(caps)
            .param("WM", self.rows)
            .param("BC", self.keys)
            .param("D", d.dim)
            .param("DV", d.dim_v)
            .param("SUBGROUP", caps.matrix_lanes())
            .param("LANES_OF_ROW", self.lanes_of_row(caps))
            .param("LANE_ROWS", (self.rows / caps.matrix_lanes()).max(1))
            .param("QUADS", problem.width() / 4)
            .param("ADDS", problem.bias.is_some() || problem.slopes.is_some())
            .param("KEEPS", problem.keep.is_some())
            .require_subgroup_size(caps.matrix_lanes())
            .f16_matrices(size);
        let kernel = problem.cornered(kernel);
        let kernel = match caps.machine.matrix_order {
            MatrixOrder::Any => kernel,
            MatrixOrder::AlongK => kernel.slot("attention_values", "transposed"),
        };
        let mut to = Writer::new(kernel, problem.moves(), StorageFormat::F16);
        let operands = [("query", "q", "along.x"), ("key", "k", "along.y"), ("value", "v", "along.z")];
        units(&mut to, problem.moves(), &operands);
        problem.masks(&mut to);
        problem.results(&mut to);
        to.done(problem.described("whole")).report_subgroup_size(caps)
    }
}

/// The predicted time of subgroups with this number of rows, which have the scores of this number of keys at once. It is computed
/// in whole waves of blocks over the cores: first products, then the softmax of scores. Matrices of keys and values are read from
/// shared memory once for each subgroup's rows, which takes as long as several multiply-adds.
pub(super) fn predict([rows, keys]: [u32; 2], problem: &AttentionProblem, caps: &Caps) -> Prediction {
    let (d, machine) = (problem.dims(), &caps.machine);
    let scores = f64::from(SUBGROUPS * rows) * f64::from(d.keys.next_multiple_of(keys));
    let reads = 1.0 + machine.matrix_read_weight() / f64::from(rows);
    let work = MatrixWork {
        blocks: blocks(rows, problem),
        invocations: SUBGROUPS * caps.matrix_lanes(),
        products: scores * 2.0 * f64::from(d.dim + d.dim_v) * reads / machine.matrix_flops,
        between: scores * SCORE_FLOPS / machine.f32_flops,
        others: d.keys,
        dims: d.dim + d.dim_v,
        columns: keys,
        barriers: 1.0,
    };
    work.predict(caps)
}

/// The work of a kernel on matrices.
pub(super) struct MatrixWork {
    /// The number of workgroups.
    pub(super) blocks: u64,
    /// Of a workgroup.
    pub(super) invocations: u32,
    /// The seconds of a workgroup's products, and of its work between them.
    pub(super) products: f64,
    pub(super) between: f64,
    /// Keys or queries that each workgroup stages, each of this number of elements.
    pub(super) others: u32,
    pub(super) dims: u32,
    /// The others that are staged at once.
    pub(super) columns: u32,
    /// Barriers of a block of columns.
    pub(super) barriers: f64,
}

impl MatrixWork {
    /// The predicted time, in whole waves of blocks over the cores.
    pub(super) fn predict(self, caps: &Caps) -> Prediction {
        let (Self { products, between, .. }, machine) = (&self, &caps.machine);
        let (cores, blocks) = (f64::from(machine.cores.max(1)), self.blocks as f64);
        let waves = (blocks / cores).ceil();
        let busy = waves * f64::from(self.invocations) / f64::from(machine.busy_invocations);
        let arithmetic = waves * cores * (products + between) / busy.min(1.0);
        let staged = blocks * 2.0 * f64::from(self.others) * f64::from(self.dims);
        let chain = f64::from(self.others.div_ceil(self.columns))
            * (machine.load_seconds + self.barriers * machine.barrier_seconds);
        let bound = if products > between { Bound::Matrix } else { Bound::Vector };
        Prediction::longest(&[
            (arithmetic, bound),
            (staged / machine.cache_bandwidth, Bound::Memory),
            (chain, Bound::Latency),
        ])
    }
}

/// The reason why no tile can run, in words.
pub(super) fn lacking<T>(
    tiles: impl IntoIterator<Item = T>,
    fits: impl Fn(T) -> Result<(), String>,
) -> String {
    let mut lacking: Vec<String> = tiles.into_iter().filter_map(|tile| fits(tile).err()).collect();
    lacking.dedup();
    lacking.join(", or ")
}

/// Checks that head dims are multiples of this number, and at most `most`.
pub(super) fn check_head_dims(dims: [u32; 2], of: u32, most: u32) -> Result<(), String> {
    if dims.iter().all(|dim| dim.is_multiple_of(of) && *dim <= most) {
        return Ok(());
    }
    let [dim, dim_v] = dims;
    let dims = if dim == dim_v { dim.to_string() } else { format!("{dim} and {dim_v}") };
    Err(format!("head dims that are multiples of {of} up to {most}, not {dims}"))
}

/// Checks that a software driver does not compile a kernel of this number of products for minutes. `size` is compared with `most`.
pub(super) fn check_compiled(products: u32, [size, most]: [u32; 2], caps: &Caps) -> Result<(), String> {
    if size > most && caps.machine.compile_seconds.is_some() {
        return Err(format!("a GPU: a software driver would compile {products} products for minutes"));
    }
    Ok(())
}

/// Checks that a GPU does not spill registers.
pub(super) fn check_registers(registers: u32, most: u32, caps: &Caps) -> Result<(), String> {
    if registers > most && caps.machine.compile_seconds.is_none() {
        return Err(format!("{registers} registers per invocation, which a GPU would spill"));
    }
    Ok(())
}

/// The number of workgroups if subgroups have this number of rows.
pub(super) fn blocks(rows: u32, problem: &AttentionProblem) -> u64 {
    let d = problem.dims();
    u64::from((d.group * d.queries).div_ceil(SUBGROUPS * rows)) * u64::from(d.heads)
}

/// The operands and the functions that load eight elements of each. Each operand has the name of its loader, and the field of the
/// dims with its stride along the head dim.
pub(super) fn units(to: &mut Writer, moves: Moves, operands: &[(&str, &str, &str)]) {
    let unit = if moves == Moves::Vectors { "Unit" } else { "f16" };
    for (_, operand, _) in operands {
        to.array(operand, "read", unit);
    }
    for (name, operand, along) in operands {
        let body = match moves {
            Moves::Vectors => format!("    return {operand}[(start + at) / 8u];\n"),
            Moves::Elements => format!(
                "    let first = start + at * dims.{along};\n    var elements: Unit;\n    //#unroll\n    \
                 for (var e = 0u; e < 4u; e++) {{\n        \
                 elements.x[e] = {operand}[first + e * dims.{along}];\n        \
                 elements.y[e] = {operand}[first + (e + 4u) * dims.{along}];\n    }}\n    return elements;\n"
            ),
        };
        to.function(&format!("{name}_unit(start: u32, at: u32) -> Unit"), &body);
    }
}

/// `64 rows, 32 keys (16x32 per subgroup, of 16x16)`
impl fmt::Display for CoopTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fragment, rows, keys } = self;
        write!(
            f,
            "{} rows, {keys} keys ({rows}x{keys} per subgroup, of {fragment}x{fragment})",
            self.block_rows()
        )
    }
}
