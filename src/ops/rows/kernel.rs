//! The kernels of operations along one axis: `shaders/ops/softmax.wgsl`, and `shaders/ops/reduce.wgsl` for all else.

use super::problem::{LANES, Rows, RowsDims, RowsProblem};
use crate::gpu::Caps;
use crate::kernel::{self, Kernel, Memory};
use crate::tensor::DType;

impl RowsProblem {
    /// What runs in each workgroup.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let pairs = memory.per_scalar() == 2;
        let softmax = self.function == Rows::Softmax;
        // Rows of even length begin with a pair of their own, as does a row that is alone.
        let whole = softmax && (self.dims.length.is_multiple_of(2) || self.dims.rows == 1);
        let mut kernel = Kernel::new(if softmax { "ops/softmax" } else { "ops/reduce" })
            .dims(caps, size_of::<RowsDims>())
            .param("a_unit", if self.function == Rows::MaxAbs { "u32" } else { memory.scalar() })
            .param("c_unit", if pairs && !whole { "atomic<u32>" } else { memory.scalar() })
            .param("LANES", kernel::lanes(LANES, caps));
        if memory == Memory::Bf16 {
            kernel = kernel.slot("pack_pair", "bf16");
        }
        match (self.function, memory) {
            (Rows::MaxAbs, _) => kernel = self.words(kernel),
            (_, Memory::Packed) => kernel = kernel.slot("load_a", "element_packed"),
            (_, Memory::Bf16) => kernel = kernel.slot("load_a", "element_bf16"),
            _ => {}
        }
        if self.function == Rows::SumSquares {
            kernel = kernel.slot("term", "square");
        }
        match (pairs, whole) {
            (true, true) => kernel.slot("store_quad", "pairs"),
            (true, false) => kernel.slot("store_element", "packed"),
            (false, _) => kernel,
        }
    }

    /// Elements as bits, read from words.
    fn words(&self, kernel: Kernel) -> Kernel {
        let kernel =
            kernel.slot("term", "magnitude").param("held", "u32").param("A_PER_WORD", 4 / self.dtype.size());
        match self.dtype {
            DType::F16 => kernel.slot("widen", "f16"),
            DType::Bf16 => kernel.slot("widen", "bf16"),
            _ => kernel,
        }
    }
}
