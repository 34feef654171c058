//! The kernel of attention that changes elements of cooperative matrices in registers: `shaders/spirv/attention_nv2.comp`, for f16
//! and bf16.

use super::coop::{self, MOST_PRODUCTS, OTHER_REGISTERS, SUBGROUPS, check_compiled, check_registers};
use super::element_rows::{
    Variants, check_device, check_dims, described, module_masks, module_sizes, operand, rows, variant,
};
use super::problem::{AttentionDims, AttentionProblem, AttentionStatistics};
use super::range::AttentionCorner;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::plan::Prediction;

/// The tile of a subgroup. Its matrices have as many rows as the driver's row has (m).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nv2Tile {
    /// Keys whose scores a subgroup has at once.
    keys: u32,
}

const TILES: [Nv2Tile; 4] =
    [Nv2Tile { keys: 64 }, Nv2Tile { keys: 32 }, Nv2Tile { keys: 16 }, Nv2Tile { keys: 8 }];
const VARIANTS: Variants = [
    ["spirv/attention_nv2.f16", "spirv/attention_nv2.f16_exact", "spirv/attention_nv2.f16_maintenance1"],
    ["spirv/attention_nv2.bf16", "spirv/attention_nv2.bf16_exact", "spirv/attention_nv2.bf16_maintenance1"],
];
/// Bindings of the module. In place of missing operands, a word is bound.
const BINDINGS: u32 = 9;
/// Bytes of the module's dims: those of every attention, and the first workgroup of a launch.
#[expect(clippy::cast_possible_truncation, reason = "it is small")]
const DIMS_BYTES: u32 = size_of::<AttentionDims>() as u32 + 4;
/// Numbers that a subgroup holds for each score: the score, its weight, the largest score of its row, and one
/// intermediate result.
const NUMBERS_OF_SCORE: u32 = 4;
/// The largest number of registers of an invocation, by the count below. With 224, Mesa 26.1.6 spilled 33 on navi31; with 192 it
/// did not spill (`tests/isa`).
pub(super) const MOST_REGISTERS: u32 = 210;

impl Nv2Tile {
    /// The tiles, from large to small.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        TILES.into_iter()
    }

    /// The limits that a launch needs.
    pub(super) fn needs(self, problem: &AttentionProblem, caps: &Caps) -> Needs {
        let (d, rows) = (problem.dims(), rows(problem.dtype, caps));
        // Rows of an odd number of units of 16 bytes.
        let unit = |dim: u32| 16 * ((dim / 8) | 1);
        let block = SUBGROUPS * rows;
        let weights = 4 * block * (self.keys + 4);
        Needs {
            bindings: BINDINGS,
            invocations: SUBGROUPS * caps.matrix_lanes(),
            workgroup_bytes: self.keys.max(block) * unit(d.dim)
                + self.keys * unit(d.dim_v)
                + weights
                + 4 * SUBGROUPS,
        }
    }

    /// Whether the device can compute the problem with this tile.
    ///
    /// # Errors
    /// The missing requirement, in words.
    pub(super) fn fits(self, problem: &AttentionProblem, caps: &Caps) -> Result<(), String> {
        let d = problem.dims();
        check_device(problem, DIMS_BYTES, caps)?;
        check_dims(problem, self.keys, caps)?;
        let products = (d.dim + d.dim_v) * rows(problem.dtype, caps) * self.keys / 512;
        check_compiled(products, [products, MOST_PRODUCTS], caps)?;
        check_registers(self.registers(problem, caps), MOST_REGISTERS, caps)?;
        self.needs(problem, caps).fit(caps)
    }

    /// The registers of an invocation: its share of the rows of Q, of the numbers of scores, of sums, and others.
    fn registers(self, problem: &AttentionProblem, caps: &Caps) -> u32 {
        let d = problem.dims();
        let numbers = operand(d.dim, caps) + NUMBERS_OF_SCORE * self.keys + d.dim_v;
        rows(problem.dtype, caps) * numbers / caps.matrix_lanes() + OTHER_REGISTERS
    }

    /// The number of workgroups.
    pub(super) fn blocks(self, problem: &AttentionProblem, caps: &Caps) -> u64 {
        coop::blocks(rows(problem.dtype, caps), problem)
    }

    /// The predicted time: that of the kernel in WGSL, until this kernel is measured on a GPU.
    pub(super) fn predict(self, problem: &AttentionProblem, caps: &Caps) -> Prediction {
        coop::predict([rows(problem.dtype, caps), self.keys], problem, caps)
    }

    /// The kernel.
    pub(super) fn kernel(self, problem: &AttentionProblem, caps: &Caps) -> Kernel {
        let kernel = Kernel::new(variant(&VARIANTS, problem.dtype, caps)).dims::<AttentionDims>(caps);
        module_masks(module_sizes(kernel, problem, self.keys, caps), problem, problem.moves())
            .param("CORNER_MOVES", u32::from(problem.corner == AttentionCorner::Lengths))
            .param("STATISTICS", u32::from(problem.statistics == AttentionStatistics::LogSums))
    }

    /// `32 keys per subgroup, of flexible matrices`
    pub(super) fn described(self, problem: &AttentionProblem, caps: &Caps) -> String {
        format!("{} keys per subgroup, of {}", self.keys, described(problem.dtype, caps))
    }
}
