//! The kernel that makes both operands' gradients: what fills its parameters and slots. Its code is made from the algebra's
//! table of signs.

use super::problem::{ConnectedBackDims, ConnectedBackProblem};
use crate::clifford::layer::connected::matrices::Pair;
use crate::clifford::layer::connected::problem::ConnectedProblem;
use crate::gpu::Caps;
use crate::kernel::{Kernel, Memory, Needs};
use std::fmt::Write;

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl ConnectedBackProblem {
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let halves = memory.per_scalar() == 2;
        let stored = if halves { "atomic<u32>" } else { memory.scalar() };
        let mut kernel = Kernel::new("clifford/connected_back")
            .dims(caps, size_of::<ConnectedBackDims>())
            .param("x_unit", memory.scalar())
            .param("y_unit", memory.scalar())
            .param("u_unit", stored)
            .param("v_unit", stored)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate);
        if halves {
            let load = if memory == Memory::Bf16 { "element_bf16" } else { "element_packed" };
            kernel = kernel.slot("load_x", load).slot("load_y", load);
            kernel = kernel.slot("save_u", "element_packed").slot("save_v", "element_packed");
        }
        if memory == Memory::Bf16 {
            kernel = kernel.slot("pack_pair", "bf16");
        }
        kernel.generated("connected_terms", self.what.clone(), self.text.clone())
    }

    /// The limits that a workgroup needs: bindings for both gradients, what came back, and both operands.
    pub(super) fn needs() -> Needs {
        Needs { bindings: 5, invocations: LANES, workgroup_bytes: 0 }
    }
}

/// Straight-line code: each matrix is read once, and its terms are added to both gradients.
pub(super) fn text(product: &ConnectedProblem, pairs: &[Pair]) -> String {
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| {
        // Writing into a String does not fail.
        let _ = writeln!(text, "{line}");
    };
    let [blades, ..] = product.sizes();
    for operand in ['x', 'y'] {
        for i in 0..blades {
            line(format_args!(
                "let {operand}{i} = load_{operand}(at_{operand} + {i}u * dims.{operand}_blade);"
            ));
            line(format_args!("var d{operand}{i} = 0.0;"));
        }
    }
    for (i, pair) in pairs.iter().enumerate() {
        line(format_args!("let t{i} = through[at + {i}u * dims.positions];"));
        for term in &pair.terms {
            let (a, b, sign) = (term.x, term.y, if term.sign < 0 { "-" } else { "" });
            line(format_args!("dx{a} = fma({sign}t{i}, y{b}, dx{a});"));
            line(format_args!("dy{b} = fma({sign}t{i}, x{a}, dy{b});"));
        }
    }
    // Both gradients lack the other operand's gate, and what their own hands to the scalar.
    let s = product.scalar();
    line(format_args!("let gates = gate(vec4<f32>(x{s}, y{s}, 0.0, 0.0));"));
    line(format_args!("let slopes = gate_slope(vec4<f32>(x{s}, y{s}, 0.0, 0.0));"));
    for (operand, store, [own, other]) in [('x', 'u', ["x", "y"]), ('y', 'v', ["y", "x"])] {
        let along: Vec<String> = (0..blades).map(|i| format!("{operand}{i} * d{operand}{i}")).collect();
        line(format_args!("let along_{operand} = slopes.{own} * gates.{other} * ({});", along.join(" + ")));
        line(format_args!("let gate_{operand} = gates.x * gates.y;"));
        for i in 0..blades {
            let more = if i == s { format!(" + along_{operand}") } else { String::new() };
            line(format_args!(
                "save_{store}(at_u + {i}u * dims.plane, gate_{operand} * d{operand}{i}{more});"
            ));
        }
    }
    text
}
