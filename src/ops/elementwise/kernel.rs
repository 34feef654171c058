//! The kernel of functions of elements, `shaders/ops/elementwise.wgsl`: its slots hold the function, and how elements lie in
//! memory.

use super::problem::{Elementwise, ElementwiseDims, ElementwiseProblem};
use crate::gpu::Caps;
use crate::kernel::{Kernel, Memory};

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl ElementwiseProblem {
    /// What runs in each workgroup.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let pairs = memory.per_scalar() == 2;
        let axes = &self.dims.axes[..self.dims.rank as usize];
        // Rows that begin with a pair of their own, and whose elements are neighbours.
        let whole = axes[0][1] <= 1 && axes[1..].iter().all(|axis| axis[1].is_multiple_of(2));
        let halves = pairs && !(whole && self.dims.offsets[0].is_multiple_of(2));
        let mut kernel = Kernel::new("ops/elementwise")
            .dims(caps, size_of::<ElementwiseDims>())
            .param("a_unit", memory.scalar())
            .param("b_unit", memory.scalar())
            .param("c_unit", if halves { "atomic<u32>" } else { memory.scalar() })
            .param("LANES", LANES);
        match (pairs, halves) {
            (true, true) => kernel = kernel.slot("store_element", "packed"),
            (true, false) => kernel = kernel.slot("store_quad", "pairs"),
            (false, _) => {}
        }
        let (load, pack) = match memory {
            Memory::Packed => (Some(["element_packed", "atomic_packed"]), None),
            Memory::Bf16 => (Some(["element_bf16", "atomic_bf16"]), Some("bf16")),
            _ => (None, None),
        };
        if let Some(pack) = pack {
            kernel = kernel.slot("pack_pair", pack);
        }
        if let Some([plain, atomic]) = load {
            kernel = kernel.slot("load_a", plain);
            kernel = match self.function {
                Elementwise::Activate(_) => kernel,
                Elementwise::Update => kernel.slot("load_c", if halves { atomic } else { plain }),
                _ => kernel.slot("load_b", plain),
            };
        }
        match self.function {
            Elementwise::Activate(activation) => {
                kernel.slot("operands", "one").slot("activation", activation.fragment())
            }
            Elementwise::Slope(activation) => {
                kernel.slot("combine", "slope").slot("slope", activation.slope_fragment())
            }
            Elementwise::Add => kernel,
            Elementwise::Sub => kernel.slot("combine", "sub"),
            Elementwise::Mul => kernel.slot("combine", "mul"),
            Elementwise::Update => kernel.slot("operands", "update"),
        }
    }
}
