//! The kernel that makes both operands' gradients: what fills its parameters and slots. Its code is made from the algebra's
//! table of signs.

use super::problem::{ConnectedBackDims, ConnectedBackProblem};
use crate::clifford::layer::connected::matrices::Pair;
use crate::clifford::layer::connected::problem::ConnectedProblem;
use crate::clifford::layer::wgsl::function;
use crate::gpu::Caps;
use crate::kernel::{Access, Kernel, Memory, Needs, Width};
use std::fmt::Write;

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl ConnectedBackProblem {
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let operand = Access::read(memory, Width::One);
        let result = Access::write(memory, Width::One);
        Kernel::new("clifford/connected_back")
            .dims(caps, size_of::<ConnectedBackDims>())
            .operand("x", operand)
            .operand("y", operand)
            .operand("u", result)
            .operand("v", result)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate)
            .generated("connected_terms", self.what.clone(), self.text.clone())
    }

    /// The limits that a workgroup needs: bindings for both gradients, what came back, and both operands.
    pub(super) fn needs() -> Needs {
        Needs { bindings: 5, invocations: LANES, workgroup_bytes: 0 }
    }
}

/// What a position hands back: each matrix is read once, and its terms are added to both gradients.
pub(super) fn text(product: &ConnectedProblem, pairs: &[Pair]) -> String {
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| {
        // Writing into a String does not fail.
        let _ = writeln!(text, "{line}");
    };
    let signature = product.product.signature;
    let blades: Vec<String> = product.blades.masks().iter().map(|&blade| signature.name(blade)).collect();
    let paths = signature.paths();
    for operand in ['x', 'y'] {
        for (i, blade) in blades.iter().enumerate() {
            line(format_args!(
                "let {operand}_{blade} = load_{operand}(at_{operand} + {i}u * dims.{operand}_blade);"
            ));
            line(format_args!("var d{operand}_{blade} = 0.0;"));
        }
    }
    for (i, pair) in pairs.iter().enumerate() {
        let (into, path) = (&blades[pair.blade as usize], paths[pair.path as usize]);
        line(format_args!(
            "let t{i} = through[at + {i}u * dims.positions]; // {into}, of grades {} and {}",
            path.left, path.right
        ));
        for term in &pair.terms {
            let [a, b] = [term.x, term.y].map(|blade| &blades[usize::from(blade)]);
            let sign = if term.sign < 0 { "-" } else { "" };
            line(format_args!("dx_{a} = fma({sign}t{i}, y_{b}, dx_{a});"));
            line(format_args!("dy_{b} = fma({sign}t{i}, x_{a}, dy_{b});"));
        }
    }
    let scalar = product.scalar();
    let s = &blades[scalar];
    line(format_args!(
        "// Both gradients lack the other operand's gate, and what their own hands to the scalar."
    ));
    line(format_args!("let gates = gate(vec4<f32>(x_{s}, y_{s}, 0.0, 0.0));"));
    line(format_args!("let slopes = gate_slope(vec4<f32>(x_{s}, y_{s}, 0.0, 0.0));"));
    for (operand, store, [own, other]) in [('x', 'u', ["x", "y"]), ('y', 'v', ["y", "x"])] {
        let along: Vec<String> =
            blades.iter().map(|blade| format!("{operand}_{blade} * d{operand}_{blade}")).collect();
        line(format_args!("let along_{operand} = slopes.{own} * gates.{other} * ({});", along.join(" + ")));
        line(format_args!("let gate_{operand} = gates.x * gates.y;"));
        for (i, blade) in blades.iter().enumerate() {
            let more = if i == scalar { format!(" + along_{operand}") } else { String::new() };
            line(format_args!(
                "save_{store}(at_u + {i}u * dims.plane, gate_{operand} * d{operand}_{blade}{more}); // {blade}"
            ));
        }
    }
    let head = "hand_back(at: u32, at_x: u32, at_y: u32, at_u: u32)";
    function("What a position hands back to both operands.", head, &text)
}
