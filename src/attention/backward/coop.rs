//! The kernel of gradients on cooperative matrices: `shaders/attention/attention_gradients_coop.wgsl`.

use super::problem::{AttentionBackward, AttentionBackwardDims, GradientPass};
use crate::attention::coop::{
    MOST_DIM, MOST_PRODUCTS, MOST_REGISTERS, MatrixWork, OTHER_REGISTERS, check_compiled, check_head_dims,
    check_registers, lacking, units,
};
use crate::attention::problem::width;
use crate::caps::{Caps, CoopScalar, MatrixOrder};
use crate::kernel::{Kernel, Needs, StorageFormat};
use crate::layout::DType;
use crate::ops::writer::Writer;
use crate::plan::{Flops, Prediction};
use std::fmt;

/// The tile of a team of two subgroups. A team has one row of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GradientTile {
    /// Rows, columns and depth of a matrix; and the rows of a team.
    fragment: u32,
    /// Teams of a workgroup.
    teams: u32,
    /// Keys or queries whose scores a team has at once.
    columns: u32,
}

const fn tile(fragment: u32, teams: u32, columns: u32) -> GradientTile {
    GradientTile { fragment, teams, columns }
}

/// With many rows, more rows share a staged operand; with few, less shared memory is needed.
const TILES: [GradientTile; 9] = [
    tile(16, 4, 32),
    tile(16, 4, 16),
    tile(16, 2, 32),
    tile(16, 2, 16),
    tile(8, 4, 32),
    tile(8, 4, 16),
    tile(8, 4, 8),
    tile(8, 2, 32),
    tile(8, 2, 8),
];
/// The cost in operations of a four-byte number that passes through shared memory, as in the forward pass.
const SHARED_FLOPS: f64 = 10.0;
/// Operations on a score besides products: scale and both differences (3), the exponential (24), the gradient (2), its maximum (3),
/// its level and its rounding (2). The score and the gradient of its weight are stored and read; the gradient of the score is
/// stored.
const SCORE_FLOPS: f64 = 34.0 + 5.0 * SHARED_FLOPS;
/// Additional operations for keys and values: the weight is also rounded and stored, and three numbers are read for each four
/// scores of a key's row.
const WEIGHT_FLOPS: f64 = 2.0 + 2.0 * SHARED_FLOPS;
/// Barriers of a block of columns.
const BARRIERS: f64 = 5.0;

impl GradientTile {
    /// The tile that is predicted to be the fastest for these gradients. None if none fits.
    pub(super) fn fastest(problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> Option<Self> {
        let seconds = |tile: &Self| tile.predict(problem, pass, caps).seconds;
        let fitting = TILES.into_iter().filter(|tile| tile.fits(problem, pass, caps).is_ok());
        // If a device has both sizes of matrices, the larger one is used, as in the forward pass.
        fitting.min_by(|a, b| b.fragment.cmp(&a.fragment).then_with(|| seconds(a).total_cmp(&seconds(b))))
    }

    /// The reason why no tile can run, in words.
    pub(super) fn lacking(problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> String {
        lacking(TILES, |tile| tile.fits(problem, pass, caps))
    }

    /// Rows of a workgroup.
    fn block_rows(self) -> u32 {
        self.teams * self.fragment
    }

    fn invocations(self, caps: &Caps) -> u32 {
        2 * self.teams * caps.matrix_lanes()
    }

    /// Matrices of sums of a subgroup: those of all columns of a key's or a value's gradient, or of half of the columns
    /// of a query's.
    fn sums(self, problem: &AttentionBackward, pass: GradientPass) -> u32 {
        match pass {
            GradientPass::Queries => (problem.forward.dims().dim / self.fragment).div_ceil(2),
            GradientPass::KeysAndValues => widest(problem) / self.fragment,
        }
    }

    /// The limits that a launch of a number of bindings needs.
    pub(super) fn needs(
        self,
        problem: &AttentionBackward,
        pass: GradientPass,
        bindings: u32,
        caps: &Caps,
    ) -> Needs {
        let Self { fragment, teams, columns } = self;
        // Each row is padded by 16 bytes.
        let staged = 2 * 2 * columns * (widest(problem) + 8);
        let turned = match (caps.machine.matrix_order, pass) {
            (MatrixOrder::Any, _) => 0,
            (MatrixOrder::AlongK, GradientPass::Queries) => 2 * self.sums(problem, pass) * fragment,
            (MatrixOrder::AlongK, GradientPass::KeysAndValues) => 2 * widest(problem),
        };
        let rows = 2 * teams * fragment;
        let known = if pass == GradientPass::KeysAndValues { 12 * columns } else { 0 };
        let of_scores = 4 * rows * (columns + 4) + 2 * rows * (columns + 8);
        Needs {
            bindings,
            invocations: self.invocations(caps),
            workgroup_bytes: staged + 2 * turned * (columns + 8) + of_scores + known + 2 * 4 * 2 * teams,
        }
    }

    /// Whether the device can compute the problem with this tile.
    ///
    /// # Errors
    /// The missing requirement, in words.
    fn fits(self, problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> Result<(), String> {
        let (d, dtype) = (problem.forward.dims(), problem.forward.dtype);
        let Self { fragment, columns, .. } = self;
        if dtype != DType::F16 {
            return Err(format!("operands of f16, not {dtype}"));
        }
        caps.check_coop(fragment, CoopScalar::F16, CoopScalar::F32, problem.forward.pin.is_none())?;
        check_head_dims([d.dim, d.dim_v], fragment, MOST_DIM)?;
        let size = caps.matrix_lanes();
        if !(fragment * columns).is_multiple_of(4 * 2 * size) {
            return Err(format!("smaller subgroups: {size} invocations have less than four scores each"));
        }
        let products = columns / fragment * (widest(problem) / fragment + self.sums(problem, pass));
        check_compiled(products, [products * fragment.pow(3) / 512, MOST_PRODUCTS], caps)?;
        check_registers(self.registers(problem, pass, caps), MOST_REGISTERS, caps)?;
        self.needs(problem, pass, problem.bindings(), caps).fit(caps)
    }

    /// The registers of an invocation: its share of the rows of an operand, of products, of sums, and others.
    fn registers(self, problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> u32 {
        let sums = self.sums(problem, pass) * self.fragment;
        self.fragment * (widest(problem) / 2 + self.columns + sums) / caps.matrix_lanes() + OTHER_REGISTERS
    }

    /// The number of workgroups for a number of rows of each key head.
    pub(super) fn blocks(self, problem: &AttentionBackward, rows: u32) -> u64 {
        u64::from(rows.div_ceil(self.block_rows())) * u64::from(problem.forward.dims().heads)
    }

    /// The operations.
    pub(super) fn flops(problem: &AttentionBackward, pass: GradientPass) -> Flops {
        let d = problem.forward.dims();
        let [of_dim, of_dim_v] = pass.products();
        let pairs = problem.pairs();
        let products = of_dim * f64::from(d.dim) + of_dim_v * f64::from(d.dim_v);
        Flops { matrix: pairs * products, ..Flops::of_f32(pairs) }
    }

    /// The predicted time, in whole waves of blocks over the cores: the products, and the work between them. Second factors are
    /// read from shared memory once for each team's rows, which takes as long as several multiply-adds. Weights are read once for a
    /// subgroup's sums.
    pub(super) fn predict(self, problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> Prediction {
        let (d, machine) = (problem.forward.dims(), &caps.machine);
        let [rows, others] = problem.rows_and_others(pass);
        let scores = f64::from(self.block_rows()) * f64::from(others.next_multiple_of(self.columns));
        let sums = f64::from(self.sums(problem, pass));
        let read = machine.matrix_read_weight() / f64::from(self.fragment);
        // Two operations for each multiply-add, for both subgroups.
        let of_scores = 4.0 * f64::from(widest(problem)) * (1.0 + read);
        let of_sums = 4.0 * sums * f64::from(self.fragment) * (1.0 + read * (1.0 + 1.0 / sums));
        let work = MatrixWork {
            blocks: self.blocks(problem, rows),
            invocations: self.invocations(caps),
            products: scores * (of_scores + of_sums) / machine.matrix_flops,
            between: scores * between_products(pass) / machine.f32_flops,
            others,
            dims: d.dim + d.dim_v,
            columns: self.columns,
            barriers: BARRIERS,
        };
        work.predict(caps)
    }

    /// The kernel.
    pub(super) fn kernel(self, problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> Kernel {
        let (d, size, forward) = (problem.forward.dims(), self.fragment, &problem.forward);
        let kernel = Kernel::new("attention/attention_gradients_coop")
            .dims::<AttentionBackwardDims>(caps)
            .param("TEAMS", self.teams)
            .param("BC", self.columns)
            .param("D", d.dim)
            .param("DV", d.dim_v)
            .param("DM", widest(problem))
            .param("SUBGROUP", caps.matrix_lanes())
            .param("QUADS", width(problem.moves(), forward.dtype) / 4)
            .param("ADDS", forward.bias.is_some() || forward.slopes.is_some())
            .param("KEEPS", forward.keep.is_some())
            .require_subgroup_size(caps.matrix_lanes())
            .f16_matrices(size);
        let kernel = match caps.machine.matrix_order {
            MatrixOrder::Any => kernel,
            MatrixOrder::AlongK => kernel.slot("attention_gradients_order", "transposed"),
        };
        let (kernel, what) = match pass {
            GradientPass::Queries => (kernel, "dq"),
            GradientPass::KeysAndValues => (kernel.slot("attention_gradients_of", "keys"), "dkv"),
        };
        let mut to = Writer::new(kernel, problem.moves(), StorageFormat::F16);
        let operands = [
            ("query", "q", "along.x"),
            ("key", "k", "along.y"),
            ("value", "v", "along.z"),
            ("gradient", "g", "along_g"),
        ];
        units(&mut to, problem.moves(), &operands);
        to.array("stats", "read", "vec4<f32>");
        forward.masks(&mut to);
        to.write("result");
        let words: Vec<_> = std::iter::once(what).chain(forward.masks_given()).collect();
        to.done(words.join(" ")).report_subgroup_size(caps)
    }
}

/// Operations on a score besides products.
pub(super) fn between_products(pass: GradientPass) -> f64 {
    match pass {
        GradientPass::Queries => SCORE_FLOPS,
        GradientPass::KeysAndValues => SCORE_FLOPS + WEIGHT_FLOPS,
    }
}

/// The larger head dim.
fn widest(problem: &AttentionBackward) -> u32 {
    let d = problem.forward.dims();
    d.dim.max(d.dim_v)
}

/// `64 rows, 16 others (16x16 per team, of 16x16)`
impl fmt::Display for GradientTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fragment, columns, .. } = self;
        let rows = self.block_rows();
        write!(f, "{rows} rows, {columns} others ({fragment}x{columns} per team, of {fragment}x{fragment})")
    }
}
