//! The kernels of reductions: `shaders/ops/reduce.wgsl` along lines, `shaders/ops/reduce_columns.wgsl` for columns, and
//! `shaders/ops/reduce_parts.wgsl`, which joins parts.

use super::function::{Combination, Reading, ReduceFunction};
use super::problem::{Across, ReduceDims, ReduceProblem, Steps};
use super::shares::{COLUMN_LANES, LANES};
use crate::caps::Caps;
use crate::kernel::{self, AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::DType;
use crate::ops::packing::{constant, per_word, quad_unit, quad_variant};
use crate::ops::subgroups::with_subgroups;
use crate::ops::vectors::Moves;

/// Quads (groups of four elements) of a row that an invocation loads together; on GPUs the number of loads.
const LOADED_QUADS: u32 = 4;
/// The least number of blocks of an invocation for which reading one block again is cheap.
const SEARCHED_BLOCKS: u32 = 4;

/// What a step stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The results, from the operand.
    Whole,
    /// The states of parts of the terms, from the operand.
    Parts,
    /// The results, from the parts.
    Join,
}

impl ReduceProblem {
    /// The kernel of a step on a device.
    pub(super) fn kernel(&self, stage: Stage, caps: &Caps) -> Kernel {
        let combination = self.combination();
        let along_lines = |shader| {
            let lanes = kernel::workgroup_size(LANES, caps);
            with_subgroups(Kernel::new(shader).param("LANES", lanes), caps, LANES)
        };
        let kernel = match (stage, self.across) {
            (Stage::Join, _) => along_lines("ops/reduce_parts"),
            (_, Across::Line) => {
                let kernel = along_lines("ops/reduce")
                    .param("GROUPS", self.groups(caps))
                    .param("RANGES", caps.machine.is_software());
                if self.searches(caps) { kernel.slot("row_blocks", "search") } else { kernel }
            }
            (_, Across::Columns) => Kernel::new("ops/reduce_columns").param("LANES", COLUMN_LANES),
        };
        let kernel = self.types(kernel.dims::<ReduceDims>(caps), combination);
        let kernel =
            if stage == Stage::Join { kernel } else { self.reads(kernel, combination.reading, caps) };
        match stage {
            Stage::Parts => {
                let is_moved = self.function.is_place() && self.steps == Steps::OfWindow;
                let variant = if is_moved { "place_in_window" } else { "part" };
                kernel.slot("reduced", variant).param("c_unit", combination.held)
            }
            Stage::Whole | Stage::Join => {
                let to = self.function.result_type(self.dtype);
                kernel.result(OperandAccess::write(StorageFormat::of(to, caps), AccessWidth::One))
            }
        }
    }

    /// States of terms. Each window subtracts another element.
    fn combination(&self) -> Combination {
        let of_all = self.function.combination(self.dtype);
        match (self.function, self.steps) {
            (ReduceFunction::Variance { .. }, Steps::OfWindow) => {
                Combination { variant: "moments_of_windows", held: "vec4<f32>", ..of_all }
            }
            _ => of_all,
        }
    }

    /// The groups of a row that an invocation loads together: one if a group consists of several loads.
    fn groups(&self, caps: &Caps) -> u32 {
        if caps.machine.is_software() { LOADED_QUADS.div_ceil(self.quads(caps)) } else { LOADED_QUADS }
    }

    /// Whether invocations first find the block that contains the index, and then read this block again to find the
    /// index.
    fn searches(&self, caps: &Caps) -> bool {
        let d = self.dims_on(caps);
        let blocks = d.length / (4 * self.quads(caps)) * d.lines / (d.lanes * d.parts * self.groups(caps));
        self.function.is_place() && blocks >= SEARCHED_BLOCKS
    }

    /// The function and the types of its values.
    fn types(&self, kernel: Kernel, Combination { variant, held, reading, .. }: Combination) -> Kernel {
        let to = self.function.result_type(self.dtype);
        let element = match reading {
            Reading::Reals => "f32",
            Reading::Integers => "i32",
            Reading::Bits => "u32",
        };
        let kernel = if variant == "sum" { kernel } else { kernel.slot("reduction", variant) };
        let kernel =
            if reading == Reading::Bits { kernel.param("A_TYPE", constant(self.dtype)) } else { kernel };
        kernel
            .param("held", held)
            .param("element", element)
            .param("sum", if to.is_real() { "f32" } else { "i32" })
    }

    /// How the operand is read.
    fn reads(&self, kernel: Kernel, reading: Reading, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let read = |width| OperandAccess::read(format, width);
        let moves = self.moves();
        let kernel = if moves == Moves::Vectors { kernel.param("QUADS", self.quads(caps)) } else { kernel };
        match (moves, reading) {
            (Moves::Elements, Reading::Bits) => kernel
                .slot("line_quad", "bits")
                .param("a_unit", "u32")
                .param("A_PER_WORD", per_word(self.dtype)),
            (Moves::Vectors, Reading::Bits) => kernel
                .slot("line_quad", "vectors_of_bits")
                .slot("quad_bits_a", quad_variant(self.dtype))
                .param("a_unit", quad_unit(self.dtype)),
            (Moves::Elements, _) if self.dtype == DType::I32 => {
                kernel.operand("a", read(AccessWidth::One)).slot("load_a", "integer")
            }
            (Moves::Elements, _) => kernel.operand("a", read(AccessWidth::One)),
            (Moves::Vectors, _) => {
                let kernel = kernel.slot("line_quad", "vectors").quads("a", read(AccessWidth::Four));
                match self.dtype {
                    DType::I8 => kernel.slot("aligned_quad_a", "bytes"),
                    DType::I32 => kernel.slot("aligned_quad_a", "integers"),
                    _ => kernel,
                }
            }
        }
    }
}
