//! The kernels of images with channels last: by elements, and by vectors of four channels.

use super::options::PoolDivisor;
use super::problem::{PlaneDims, PlaneFunction, PlaneProblem};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::vectors::Moves;

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

/// The most taps of a window that are written out.
const MAX_UNROLLED: usize = 16;

impl PlaneProblem {
    /// The kernel on a device.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let moves = self.moves();
        let kernel = self.computing(moves).dims::<PlaneDims>(caps).param("LANES", LANES);
        let format = StorageFormat::of(self.dtype, caps);
        if moves == Moves::Vectors {
            let width = AccessWidth::Four;
            return kernel
                .slot("row_of_a", "vectors")
                .slot("row_store", "vectors")
                .quads("a", OperandAccess::read(format, width))
                .quads("c", OperandAccess::write(format, width));
        }
        let kernel = kernel.operand("a", OperandAccess::read(format, AccessWidth::One));
        if format.elements_per_scalar() == 2 && self.channels().is_multiple_of(2) {
            return kernel.result(OperandAccess::write(format, AccessWidth::Two)).slot("store_quad", "pairs");
        }
        kernel.result(OperandAccess::write(format, AccessWidth::One))
    }

    /// The numbers of taps of windows, or of windows of an element, for which the text has a line each; zeros if they are many.
    fn unrolled(&self) -> [usize; 2] {
        let is_backward = self.function.is_backward();
        let [rows, columns] = self.axes.map(|axis| axis.unrolled(is_backward).unwrap_or(usize::MAX));
        if rows.saturating_mul(columns) <= MAX_UNROLLED { [rows, columns] } else { [0; 2] }
    }

    /// The shader of the function, with its slots.
    fn computing(&self, moves: Moves) -> Kernel {
        let of_moves = |elements, vectors| if moves == Moves::Vectors { vectors } else { elements };
        let pool = |shader: &'static str| {
            let [rows, columns] = self.unrolled();
            let kernel = Kernel::new(shader).param("ROWS", rows).param("COLUMNS", columns);
            if self.axes.iter().all(|axis| axis.is_in_windows()) {
                kernel
            } else {
                kernel.slot("pool_windows", "adaptive")
            }
        };
        let counts_padding = |divisor| divisor == PoolDivisor::WithPadding;
        match self.function {
            PlaneFunction::Largest => pool("ops/pool"),
            PlaneFunction::LargestAndIndices => {
                pool("ops/pool").slot("pool_indices", of_moves("elements", "vectors"))
            }
            PlaneFunction::Mean(divisor) => {
                pool("ops/pool").slot("pool_state", "mean").param("COUNTS_PADDING", counts_padding(divisor))
            }
            PlaneFunction::LargestBackward => {
                pool("ops/pool_backward").slot("pool_share", of_moves("largest", "largest_vectors"))
            }
            PlaneFunction::MeanBackward(divisor) => {
                pool("ops/pool_backward").param("COUNTS_PADDING", counts_padding(divisor))
            }
            PlaneFunction::Nearest => Kernel::new("ops/interpolate").param("LINEAR", false),
            PlaneFunction::Bilinear => Kernel::new("ops/interpolate"),
            PlaneFunction::NearestBackward => Kernel::new("ops/interpolate_backward").param("LINEAR", false),
            PlaneFunction::BilinearBackward => Kernel::new("ops/interpolate_backward"),
        }
    }
}
