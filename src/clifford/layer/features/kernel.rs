//! The two kernels of functions with parameters for each feature: their parameters and slots. One has an invocation for
//! each feature; the other has a workgroup for each row, for functions that need the mean of a row.

use super::problem::{FeatureFunction, FeaturesDims, FeaturesProblem, Pass};
use crate::caps::Caps;
use crate::kernel::wgsl::Module;
use crate::kernel::{self, AccessWidth, Kernel, Needs, OperandAccess, StorageFormat};

impl FeaturesProblem {
    pub(super) fn kernel(&self, terms: &Module, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let has_row_mean = self.function.has_row_mean();
        let mut kernel = Kernel::new(if has_row_mean { "clifford/mean" } else { "clifford/features" })
            .dims::<FeaturesDims>(caps)
            .result(OperandAccess::write(format, AccessWidth::One))
            .param("LANES", format!("{}u", self.lanes(caps)));
        let (names, access) =
            (operands(self.function, self.pass()), OperandAccess::read(format, AccessWidth::One));
        for &name in &names {
            kernel = kernel.operand(name, access);
        }
        if !has_row_mean {
            // A backward pass has one sum for each part of each parameter.
            let [.., sums] = if self.pass() == Pass::Backward { self.sums() } else { [1; 3] };
            kernel = kernel.param("SUMS", format!("{sums}u"));
        }
        let declarations = declarations(&names, access, self.pass());
        kernel = kernel.generated("operands", "its operands".to_owned(), declarations);
        let slot = if has_row_mean { "mean_terms" } else { "features_terms" };
        kernel.generated(slot, format!("terms of {self}"), terms.to_string())
    }

    /// Invocations of a workgroup.
    pub(super) fn lanes(&self, caps: &Caps) -> u32 {
        let usual = if self.function.has_row_mean() && self.shape()[2] > 64 { 256 } else { 64 };
        kernel::workgroup_size(usual, caps)
    }

    /// The limits that a workgroup needs.
    pub(super) fn needs(&self, caps: &Caps) -> Needs {
        let invocations = self.lanes(caps);
        let workgroup_bytes =
            if self.function.has_row_mean() { (8 * invocations).next_multiple_of(16) } else { 0 };
        Needs::of(invocations, workgroup_bytes)
    }
}

/// The operands and parameters, in the order of their bindings.
fn operands(function: FeatureFunction, pass: Pass) -> Vec<&'static str> {
    let mut names = vec!["x"];
    if pass == Pass::Backward {
        names.push("g");
    }
    names.extend(["a", "b"].iter().take(function.parameters()));
    names
}

/// The declarations of the operands, and the functions that load them. In a backward pass, the sums of the parameters'
/// gradients have the last binding.
fn declarations(names: &[&str], access: OperandAccess, pass: Pass) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;
    use crate::caps::fixtures;
    use crate::clifford::algebra::signature::Signature;
    use crate::clifford::layer::features::terms::{NORM_OF, NORM_SLOPE, sigmoid_of};
    use crate::kernel::wgsl::{Expression, naga_flops};
    use crate::layout::{DType, Layout};
    use crate::plan::Problem;

    #[test]
    fn callees_have_the_flops_of_the_shader() -> Result<()> {
        let blades = Signature::CL2.blades();
        let [x, a] = [&[4, 5, 8][..], &[8, 3]].map(|shape| Layout::contiguous("test", shape));
        let (x, a) = (x?, a?);
        let function = FeatureFunction::Normalization;
        let problem = FeaturesProblem::new(function, &blades, &x, Some(&x), &[&a], DType::F32)?;
        let text = problem.plan(&fixtures::h200())?.steps()[0].kernel.specialize()?;
        for callee in [sigmoid_of(1), NORM_OF, NORM_SLOPE] {
            let call = callee.call::<Expression>([]);
            let name = call.to_string().replace("()", "");
            assert_eq!(call.flops(), naga_flops(&text, &name), "{name}");
        }
        Ok(())
    }
}
