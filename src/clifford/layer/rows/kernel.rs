//! The kernel of a function of rows: its parameters and slots.

use super::operands::{Accessed, operands};
use super::problem::{RowDims, RowProblem, RowStep};
use super::tile::{RowTile, subgroup};
use super::writer::RowCode;
use crate::caps::Caps;
use crate::kernel::Kernel;

impl RowProblem {
    pub(super) fn kernel(&self, tile: &RowTile, code: RowCode, caps: &Caps) -> Kernel {
        let lanes = ["f32", "vec2<f32>", "vec4<f32>"][tile.width.ilog2() as usize];
        let sums = if self.is_normalised() { self.sums().max(1) } else { 1 };
        let mut kernel = Kernel::new("clifford/rows")
            .dims::<RowDims>(caps)
            .param("lanes", lanes)
            .param("WIDTH", format!("{}u", tile.width))
            .param("LANES", format!("{}u", tile.lanes))
            .param("PART", format!("{}u", tile.part))
            .param("UNITS", format!("{}u", tile.units))
            .param("SUMS", format!("{sums}u"))
            .param("BUFFERS", format!("{}u", tile.buffers(self, caps)));
        for operand in operands(self) {
            kernel = Accessed::of(self, operand, tile, caps).bind(kernel);
        }
        if !self.is_normalised() {
            kernel = kernel.slot("row_totals", "none");
        } else if self.step == RowStep::Results {
            kernel = kernel.slot("row_totals", "stored");
        } else if let Some(subgroup) = subgroup(caps) {
            kernel = kernel.slot("row_totals", "subgroup").param("SUBGROUP", format!("{subgroup}u"));
            kernel = kernel.require_subgroup_size(subgroup);
        }
        if self.step == RowStep::Sums {
            kernel = kernel.slot("store_totals", "parts");
        }
        if self.is_gated() {
            kernel = kernel.slot("gate", self.product.gate.variant());
        }
        let kernel = kernel.generated("operands", "its operands".to_owned(), code.operands);
        kernel.generated("row_terms", self.description(), code.terms)
    }

    /// The function of the kernel, in words.
    pub(super) fn description(&self) -> String {
        let LayerWords { gate, norm } = LayerWords::of(self);
        let types = if self.dtype == self.out {
            self.dtype.to_string()
        } else {
            format!("{} to {}", self.dtype, self.out)
        };
        format!("{} of {}{gate}{norm}, {types}", self.function.name(), self.signature())
    }
}

/// The gate and the norm of a problem, in words, or empty.
struct LayerWords {
    gate: String,
    norm: String,
}

impl LayerWords {
    fn of(problem: &RowProblem) -> Self {
        let gate =
            if problem.is_gated() { format!(", gated by {}", problem.product.gate) } else { String::new() };
        let norm = match (problem.is_normalised(), problem.step) {
            (false, _) => String::new(),
            (true, RowStep::Sums) => format!(", sums of norm {}", problem.product.norm),
            (true, _) => format!(", norm {}", problem.product.norm),
        };
        Self { gate, norm }
    }
}
