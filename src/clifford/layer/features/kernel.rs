//! The two kernels of functions with parameters for each feature: what fills their parameters and slots. One goes over
//! features; the other goes over rows, for functions that need the mean of a row.

use super::problem::{FeatureFunction, FeaturesDims, FeaturesProblem, Pass};
use crate::caps::Caps;
use crate::kernel::write::Module;
use crate::kernel::{self, Access, Kernel, Memory, Needs, Width};

impl FeaturesProblem {
    pub(super) fn kernel(&self, terms: &Module, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let by_rows = self.function.is_by_rows();
        let mut kernel = Kernel::new(if by_rows { "clifford/mean" } else { "clifford/features" })
            .dims(caps, size_of::<FeaturesDims>())
            .result(Access::write(memory, Width::One))
            .param("LANES", format!("{}u", self.lanes(caps)));
        let (names, access) = (operands(self.function, self.pass), Access::read(memory, Width::One));
        for &name in &names {
            kernel = kernel.operand(name, access);
        }
        if !by_rows {
            // Of gradients, those of each parameter.
            let [.., sums] = if self.pass == Pass::Backward { self.sums() } else { [1; 3] };
            kernel = kernel.param("SUMS", format!("{sums}u"));
        }
        let declarations = declarations(&names, access, self.pass);
        kernel = kernel.generated("operands", "its operands".to_owned(), declarations);
        let slot = if by_rows { "mean_terms" } else { "features_terms" };
        kernel.generated(slot, format!("terms of {self}"), terms.to_string())
    }

    /// Invocations of a workgroup.
    pub(super) fn lanes(&self, caps: &Caps) -> u32 {
        let usual = if self.function.is_by_rows() && self.dims.features > 64 { 256 } else { 64 };
        kernel::lanes(usual, caps)
    }

    /// The limits that a workgroup needs: bindings for the result, the operands and parameters, and for gradients their sums.
    pub(super) fn needs(&self, caps: &Caps) -> Needs {
        let tensors = if self.pass == Pass::Backward { 4 } else { 2 };
        let parameters = if self.function.parameters() == 2 { 2 } else { 1 };
        let invocations = self.lanes(caps);
        let workgroup_bytes =
            if self.function.is_by_rows() { (8 * invocations).next_multiple_of(16) } else { 0 };
        Needs { bindings: tensors + parameters, invocations, workgroup_bytes }
    }
}

/// The operands and parameters, in the order in which they are bound.
fn operands(function: FeatureFunction, pass: Pass) -> Vec<&'static str> {
    let mut names = vec!["x"];
    if pass == Pass::Backward {
        names.push("g");
    }
    names.extend(["a", "b"].iter().take(function.parameters()));
    names
}

/// Their declarations, with what loads them; of gradients also of the sums for parameters, which are bound behind them.
fn declarations(names: &[&str], access: Access, pass: Pass) -> String {
    let mut text = String::new();
    for (i, name) in names.iter().enumerate() {
        text += &access.declaration(name, i + 1);
        text += &access.functions(name);
    }
    if pass == Pass::Backward {
        text += &format!("@group(0) @binding({}) var<storage, read_write> d: array<f32>;\n", names.len() + 1);
    }
    text
}
