//! The kernel of gradients that changes elements of cooperative matrices in registers:
//! `shaders/spirv/attention_gradients_nv2.comp`, for f16 and bf16.

use super::coop::between_products;
use super::problem::{AttentionBackward, AttentionBackwardDims, GradientPass};
use crate::attention::coop::{
    MOST_PRODUCTS, MatrixWork, OTHER_REGISTERS, SUBGROUPS, check_compiled, check_registers, lacking,
};
use crate::attention::coop_nv2::MOST_REGISTERS;
use crate::attention::element_rows::{
    Variants, check_device, check_dims, described, module_masks, module_sizes, operand, rows, variant,
};
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::plan::Prediction;

/// The tile of a subgroup. Its matrices have as many rows as the driver's row has (m).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nv2GradientTile {
    /// Keys or queries whose scores a subgroup has at once.
    columns: u32,
}

const TILES: [Nv2GradientTile; 3] =
    [Nv2GradientTile { columns: 32 }, Nv2GradientTile { columns: 16 }, Nv2GradientTile { columns: 8 }];
const VARIANTS: Variants = [
    [
        "spirv/attention_gradients_nv2.f16",
        "spirv/attention_gradients_nv2.f16_exact",
        "spirv/attention_gradients_nv2.f16_maintenance1",
    ],
    [
        "spirv/attention_gradients_nv2.bf16",
        "spirv/attention_gradients_nv2.bf16_exact",
        "spirv/attention_gradients_nv2.bf16_maintenance1",
    ],
];
/// Bindings of the module. In place of missing operands, a word is bound.
const BINDINGS: u32 = 10;
/// Bytes of the module's dims: those of every backward pass, and the first workgroup of a launch.
#[expect(clippy::cast_possible_truncation, reason = "it is small")]
const DIMS_BYTES: u32 = size_of::<AttentionBackwardDims>() as u32 + 4;
/// Numbers that a subgroup holds for each score: the weight, the gradient, and one intermediate result.
const NUMBERS_OF_SCORE: u32 = 3;
/// Barriers of a block of columns.
const BARRIERS: f64 = 2.0;

impl Nv2GradientTile {
    /// The tile that is predicted to be the fastest for these gradients. None if none fits.
    pub(super) fn fastest(problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> Option<Self> {
        let seconds = |tile: &Self| tile.predict(problem, pass, caps).seconds;
        let fitting = TILES.into_iter().filter(|tile| tile.fits(problem, pass, caps).is_ok());
        fitting.min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
    }

    /// The reason why no tile can run, in words.
    pub(super) fn lacking(problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> String {
        lacking(TILES, |tile| tile.fits(problem, pass, caps))
    }

    /// The limits that a launch needs.
    pub(super) fn needs(self, problem: &AttentionBackward, caps: &Caps) -> Needs {
        let d = problem.forward.dims();
        // Rows of an odd number of units of 16 bytes.
        let unit = |dim: u32| 16 * ((dim / 8) | 1);
        let most_rows = self.columns.max(SUBGROUPS * rows(problem.forward.dtype, caps));
        Needs {
            bindings: BINDINGS,
            invocations: SUBGROUPS * caps.matrix_lanes(),
            workgroup_bytes: most_rows * (unit(d.dim) + unit(d.dim_v)) + 4 * SUBGROUPS,
        }
    }

    /// Whether the device can compute the problem with this tile.
    ///
    /// # Errors
    /// The missing requirement, in words.
    fn fits(self, problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> Result<(), String> {
        let (d, forward) = (problem.forward.dims(), &problem.forward);
        check_device(forward, DIMS_BYTES, caps)?;
        check_dims(forward, self.columns, caps)?;
        let of_dims = match pass {
            GradientPass::Queries => 2 * d.dim + d.dim_v,
            GradientPass::KeysAndValues => 2 * (d.dim + d.dim_v),
        };
        let products = of_dims * rows(forward.dtype, caps) * self.columns / 512;
        check_compiled(products, [products, 2 * MOST_PRODUCTS], caps)?;
        check_registers(self.registers(problem, pass, caps), MOST_REGISTERS, caps)?;
        self.needs(problem, caps).fit(caps)
    }

    /// The registers of an invocation: its share of the rows of two operands, of the numbers of scores, of sums, and others.
    fn registers(self, problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> u32 {
        let d = problem.forward.dims();
        let sums = match pass {
            GradientPass::Queries => d.dim,
            GradientPass::KeysAndValues => d.dim + d.dim_v,
        };
        let numbers = operand(d.dim + d.dim_v, caps) + NUMBERS_OF_SCORE * self.columns + sums;
        rows(problem.forward.dtype, caps) * numbers / caps.matrix_lanes() + OTHER_REGISTERS
    }

    /// The number of workgroups for a number of rows of each key head.
    pub(super) fn blocks(self, problem: &AttentionBackward, there: u32, caps: &Caps) -> u64 {
        u64::from(there.div_ceil(SUBGROUPS * rows(problem.forward.dtype, caps)))
            * u64::from(problem.forward.dims().heads)
    }

    /// The predicted time, in whole waves of blocks over the cores: the products, and the work between them. The latter is assumed
    /// to take as long as in the kernel in WGSL, until it is measured on a GPU. Second factors are read from shared memory once for
    /// each subgroup's rows.
    pub(super) fn predict(self, problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> Prediction {
        let (d, machine) = (problem.forward.dims(), &caps.machine);
        let [there, others] = problem.rows_and_others(pass);
        let own_rows = rows(problem.forward.dtype, caps);
        let scores = f64::from(SUBGROUPS * own_rows) * f64::from(others.next_multiple_of(self.columns));
        let reads = 1.0 + machine.matrix_read_weight() / f64::from(own_rows);
        let [of_dim, of_dim_v] = pass.products();
        let of_score = of_dim * f64::from(d.dim) + of_dim_v * f64::from(d.dim_v);
        let work = MatrixWork {
            blocks: self.blocks(problem, there, caps),
            invocations: SUBGROUPS * caps.matrix_lanes(),
            products: scores * of_score * reads / machine.matrix_flops,
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
        let forward = &problem.forward;
        let kernel = Kernel::new(variant(&VARIANTS, forward.dtype, caps)).dims::<AttentionBackwardDims>(caps);
        let kernel = module_sizes(kernel, forward, self.columns, caps)
            .param("OF_KEYS", u32::from(pass == GradientPass::KeysAndValues));
        module_masks(kernel, forward, problem.moves())
    }

    /// `16 others per subgroup, of flexible matrices`
    pub(super) fn described(self, problem: &AttentionBackward, caps: &Caps) -> String {
        format!("{} others per subgroup, of {}", self.columns, described(problem.forward.dtype, caps))
    }
}
