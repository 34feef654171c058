//! The kernels of elementwise functions: `shaders/ops/elementwise.wgsl`, and `shaders/ops/elementwise_vectors.wgsl` for
//! contiguous, aligned rows.

use super::problem::{Elementwise, ElementwiseDims, ElementwiseProblem};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::vectors::{Moves, per_vector, quads};

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

impl ElementwiseProblem {
    /// The kernel with the slots of the function and of the memory layout.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        match self.moves() {
            Moves::Elements => self.by_elements(format, caps),
            Moves::Vectors => self.by_vectors(format, caps),
        }
    }

    /// The number of elements of an invocation.
    pub(super) fn elements_per_invocation(&self, caps: &Caps) -> u32 {
        match self.moves() {
            // On software devices, two vectors of f32 were slower than one in tensors larger than the caches.
            Moves::Vectors if caps.machine.elements_per_load > 1 => 8,
            Moves::Vectors => per_vector(self.dtype),
            Moves::Elements => 4,
        }
    }

    /// The number of units of an invocation: groups of four elements, or vectors.
    pub(super) fn units_per_invocation(&self, caps: &Caps) -> u32 {
        match self.moves() {
            Moves::Elements => 1,
            Moves::Vectors => self.elements_per_invocation(caps) / per_vector(self.dtype),
        }
    }

    /// The kernel for any strides.
    fn by_elements(&self, format: StorageFormat, caps: &Caps) -> Kernel {
        let axes = &self.dims.axes[..self.dims.rank as usize];
        // Contiguous rows that begin at pairs are stored in pairs.
        let is_aligned = axes[0][1] <= 1 && axes[1..].iter().all(|axis| axis[1].is_multiple_of(2));
        let pairs = format.elements_per_scalar() == 2 && is_aligned && self.dims.offsets[0].is_multiple_of(2);
        let operand = OperandAccess::read(format, AccessWidth::One);
        let result = OperandAccess::write(format, if pairs { AccessWidth::Two } else { AccessWidth::One });
        let is_update = self.function.is_update();
        let kernel = Kernel::new("ops/elementwise")
            .dims(caps, size_of::<ElementwiseDims>())
            .param("LANES", LANES)
            .operand("a", operand)
            .result(if is_update { result.and_read(AccessWidth::One) } else { result });
        let kernel = if pairs { kernel.slot("store_quad", "pairs") } else { kernel };
        let kernel = if self.function.operands() == 2 { kernel.operand("b", operand) } else { kernel };
        self.function.fill(kernel, "operands")
    }

    /// The kernel for contiguous, aligned rows.
    fn by_vectors(&self, format: StorageFormat, caps: &Caps) -> Kernel {
        let operand = OperandAccess::read(format, AccessWidth::Four);
        let result = OperandAccess::write(format, AccessWidth::Four);
        let is_update = self.function.is_update();
        let kernel = Kernel::new("ops/elementwise_vectors")
            .dims(caps, size_of::<ElementwiseDims>())
            .param("LANES", LANES)
            .param("QUADS", quads(self.dtype))
            .param("VECTORS", self.units_per_invocation(caps))
            .quads("a", operand)
            .quads("c", if is_update { result.and_read(AccessWidth::Four) } else { result });
        let kernel = if self.dims.rank > 1 { kernel.slot("vector_place", "rows") } else { kernel };
        let kernel = if self.function.operands() == 2 { kernel.quads("b", operand) } else { kernel };
        self.function.fill(kernel, "quad_operands")
    }
}

impl Elementwise {
    /// Fills a kernel's slots of the function and of its operands.
    fn fill(self, kernel: Kernel, operands: &'static str) -> Kernel {
        match self {
            Self::Activate(activation) => {
                kernel.slot(operands, "one").slot("activation", activation.variant())
            }
            Self::ActivateBackward(activation) => {
                kernel.param("COMBINATION", "GRADIENT").slot("activation", activation.variant())
            }
            Self::Add => kernel,
            Self::Sub => kernel.param("COMBINATION", "DIFFERENCE"),
            Self::Mul => kernel.param("COMBINATION", "PRODUCT"),
            Self::AddAssign => kernel.slot(operands, "update"),
            Self::SubAssign => kernel.slot(operands, "update").param("COMBINATION", "DIFFERENCE"),
        }
    }
}
