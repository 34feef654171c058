//! What naga says about a specialised shader, and the problems whose plans take every one of them.

use super::operand::View;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use tilewise::gemm::{GemmProblem, GemmTypes};
use tilewise::{Caps, DType, Layout};

/// What naga lets a shader use on this device: no more than the device has.
pub fn capabilities(caps: &Caps) -> Capabilities {
    // Packing f16 in pairs is everywhere: WebGPU demands it.
    let mut capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    capabilities.set(Capabilities::IMMEDIATES, caps.limits.immediate_bytes > 0);
    capabilities.set(Capabilities::SHADER_FLOAT16, caps.f16);
    capabilities.set(Capabilities::SUBGROUP, caps.subgroups.is_some());
    capabilities.set(Capabilities::COOPERATIVE_MATRIX, caps.has_tensor_cores());
    capabilities
}

/// Parses and validates a shader; the error says where in its text.
pub fn validate(text: &str, capabilities: Capabilities) -> Result<naga::Module, String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let validated = Validator::new(ValidationFlags::all(), capabilities).validate(&module);
    validated.map_err(|error| error.emit_to_string(text))?;
    Ok(module)
}

/// Every combination of element types.
pub const TYPES: [GemmTypes; 4] = [
    GemmTypes::new(DType::F32, DType::F32),
    GemmTypes::new(DType::F16, DType::F32),
    GemmTypes::new(DType::F16, DType::F16),
    GemmTypes::new(DType::F32, DType::F16),
];

/// A product whose operands and result lie in memory as `views` say.
pub fn problem([m, n, k]: [usize; 3], types: GemmTypes, views: [View; 3]) -> GemmProblem {
    let [a, b, c] = [([m, k], views[0]), ([k, n], views[1]), ([m, n], views[2])].map(|(shape, view)| {
        let (strides, offset) = view.strides(shape);
        Layout::new("test", &shape, &strides, offset, 1 << 40).expect("the view lies in the buffer")
    });
    GemmProblem::new(&a, &b, &c, types).expect("the shapes go together")
}

/// A product of matrices without gaps.
pub fn plain(shape: [usize; 3], types: GemmTypes) -> GemmProblem {
    problem(shape, types, [View::Plain; 3])
}
