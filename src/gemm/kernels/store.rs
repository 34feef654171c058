//! How C is stored, and the epilogue that precedes the store.

use super::module_epilogue::stores_words;
use crate::caps::Caps;
use crate::gemm::problem::{Epilogue, GemmProblem, LineScale, Previous, Scale};
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::DType;

/// How C is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StoreWidth {
    /// Element by element.
    Elements,
    /// Four elements of a row at once.
    Vectors,
}

impl StoreWidth {
    /// How a kernel accesses C. If its previous contents are added, they are read with the width of the store.
    fn access(self, problem: &GemmProblem, caps: &Caps) -> OperandAccess {
        let width = match self {
            Self::Elements => AccessWidth::One,
            Self::Vectors => AccessWidth::Four,
        };
        let c = OperandAccess::write(StorageFormat::of(problem.types.c, caps), width);
        if problem.epilogue.adds_previous() { c.and_read(width) } else { c }
    }
}

/// How kernels that prefer vectors store C: by vectors of four if every row consists of whole, aligned vectors.
fn preferred(problem: &GemmProblem) -> StoreWidth {
    if stores_words(problem) { StoreWidth::Vectors } else { StoreWidth::Elements }
}

/// Whether [`store`] changes halves of 32-bit words, by atomics.
pub(super) fn stores_parts_of_words(problem: &GemmProblem, caps: &Caps) -> bool {
    preferred(problem).access(problem, caps).stores_parts_of_words()
}

/// Binds the store of C and the epilogue, whose operands' bindings begin at `first`. The store writes vectors of four if
/// it can.
pub(super) fn store(kernel: Kernel, problem: &GemmProblem, first: u32, caps: &Caps) -> Kernel {
    if preferred(problem) == StoreWidth::Vectors {
        let c = StoreWidth::Vectors.access(problem, caps);
        let variant = match problem.types.c {
            DType::I8 => "vector_bytes",
            _ if c.packs_pairs() => "vector_packed",
            _ => "vector",
        };
        let kernel = kernel.result(c).slot("store_c", variant);
        return problem.bind_epilogue(kernel, StoreWidth::Vectors, first, caps);
    }
    store_elements(kernel, problem, first, caps)
}

/// The same with a store of single elements.
pub(super) fn store_elements(kernel: Kernel, problem: &GemmProblem, first: u32, caps: &Caps) -> Kernel {
    let kernel = kernel.result(StoreWidth::Elements.access(problem, caps));
    problem.bind_epilogue(kernel, StoreWidth::Elements, first, caps)
}

impl GemmProblem {
    /// Binds the epilogue, whose operands' bindings begin at `first`.
    fn bind_epilogue(&self, kernel: Kernel, store: StoreWidth, first: u32, caps: &Caps) -> Kernel {
        let Epilogue { scale, line_scale, previous, bias, residual, activation } = self.epilogue;
        if !self.has_epilogue() {
            return kernel;
        }
        let form = if line_scale == LineScale::ColumnsAndShift { "shifted" } else { "forms" };
        let mut kernel = kernel.slot("epilogue", form);
        if previous == Previous::Added {
            // The previous contents are read with the width of the store.
            kernel = match store {
                StoreWidth::Elements => kernel.slot("addend_c", "held"),
                StoreWidth::Vectors => kernel.slot("addend_c", "held_vector"),
            };
        }
        let mut binding = first;
        kernel = match bias {
            None => kernel,
            Some(dtype) => {
                let variant = if self.has_groups() { "groups" } else { "tensor" };
                let kernel = kernel.slot("addend_bias_vector", variant).param("BIAS_VECTOR_BINDING", binding);
                binding += 1;
                kernel.operand(
                    "bias_vector",
                    OperandAccess::read(StorageFormat::of(dtype, caps), AccessWidth::One),
                )
            }
        };
        kernel = match residual {
            None => kernel,
            Some(dtype) => {
                let kernel =
                    kernel.slot("addend_residual_matrix", "tensor").param("RESIDUAL_MATRIX_BINDING", binding);
                binding += 1;
                kernel.operand(
                    "residual_matrix",
                    OperandAccess::read(StorageFormat::of(dtype, caps), AccessWidth::One),
                )
            }
        };
        kernel = match line_scale {
            LineScale::None => kernel,
            LineScale::Rows => kernel.slot("scaled", "rows").param("ROW_SCALES_BINDING", binding),
            LineScale::Columns => {
                let variant = if self.has_groups() { "columns_of_groups" } else { "columns" };
                kernel.slot("scaled", variant).param("COLUMN_SCALES_BINDING", binding)
            }
            LineScale::ColumnsAndShift => kernel.param("SHIFT_BINDING", binding),
            LineScale::RowsAndColumns => kernel
                .slot("scaled", "rows_and_columns")
                .param("ROW_SCALES_BINDING", binding)
                .param("COLUMN_SCALES_BINDING", binding + 1),
        };
        // An alpha of 1 has no variant of its own: the multiplication is hidden by the store.
        kernel = match scale {
            Scale::One | Scale::Alpha => kernel,
            Scale::Back => kernel.slot("scaled", "back").param("EXPONENTS_BINDING", binding),
            Scale::BackWithCross => {
                kernel.slot("scaled", "back").slot("cross_terms", "added").param("EXPONENTS_BINDING", binding)
            }
        };
        if self.is_requantised() {
            kernel = kernel.slot("requantised", "i8");
        }
        kernel.slot("activation", activation.variant())
    }

    /// Sets the type that sums have in the epilogue.
    pub(super) fn bind_sums(&self, kernel: Kernel) -> Kernel {
        if self.type_of_epilogue() == DType::I32 { kernel.param("sum", "i32") } else { kernel }
    }
}
