//! Products over segments of k: how kernels stage A, and the variants that fill their slots.

use super::stage::{LoadSize, OperandLines, TiledStage};
use crate::gemm::problem::{Gated, GemmProblem, PlaneSource, Segments};
use crate::kernel::{Kernel, OperandAccess, StorageFormat};

impl Segments {
    /// How the tiled kernel stages A. Products of blades are summed in vectors along the outer axis, if both factors can be
    /// loaded in vectors; never in squares.
    pub(super) fn stage(problem: &GemmProblem, a: TiledStage) -> TiledStage {
        match (OperandLines::of_y(problem), a) {
            (Some(y), TiledStage::VectorOuter) if TiledStage::of(&y) != a => TiledStage::ScalarOuter,
            (Some(_), TiledStage::Squares) => TiledStage::ScalarK,
            _ => a,
        }
    }

    /// Fills the slots that every kernel has.
    fn bind(&self, kernel: Kernel) -> Kernel {
        let kernel = kernel.slot("segments", "planes");
        match self.source() {
            PlaneSource::Products(Gated::Yes) => kernel.slot("product_terms_of_a", "gated"),
            PlaneSource::Products(Gated::No) | PlaneSource::Stored => kernel,
        }
    }

    /// Fills the slots of the tiled kernel. `a` says how A is staged.
    pub(super) fn bind_tiled(&self, kernel: Kernel, format: StorageFormat, a: TiledStage) -> Kernel {
        let kernel = self.bind(kernel);
        if self.source() == PlaneSource::Stored {
            return kernel;
        }
        kernel.operand("y", OperandAccess::read(format, a.width())).slot("tiled_load_a", "products")
    }

    /// Fills the slots of the coop kernel. `by` says how both factors of A's products are loaded.
    pub(super) fn bind_coop(&self, kernel: Kernel, by: LoadSize) -> Kernel {
        let kernel = self.bind(kernel);
        if self.source() == PlaneSource::Stored {
            return kernel;
        }
        let kernel = match by {
            LoadSize::Units => {
                kernel.slot("load_eight_a", "unit").slot("load_eight_y", "unit").param("y_unit", "Unit")
            }
            LoadSize::Elements => kernel.param("y_unit", "f16"),
        };
        kernel.slot("coop_load_a", "products")
    }
}
