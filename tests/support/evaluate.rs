//! Functions of the shaders by themselves.

use tilewise::Gpu;
use tilewise::planning::kernel::INCLUDES;

/// The functions of an include.
pub fn functions_of(file: &str) -> String {
    INCLUDES.iter().find(|(name, _)| *name == file).expect("there is such a file").1.replace("//!", "//")
}

/// The functions of a variant of an include, with what its slots bring left out.
pub fn variant_of(file: &str, variant: &str) -> String {
    let text = functions_of(file);
    let mut variants = text.split("//#variant ").skip(1);
    let found = variants.find(|text| text.lines().next() == Some(variant)).expect("there is such a variant");
    found.lines().skip(1).map(|line| format!("{line}\n")).collect()
}

/// An expression of `v`, four elements, in these functions, of every element, in a shader of the test's own.
pub fn evaluate(gpu: &Gpu, x: &[f32], functions: &str, expression: &str) -> Vec<f32> {
    let text = format!(
        "alias lanes = vec4<f32>;\n\
         @group(0) @binding(0) var<storage, read_write> x: array<lanes>;\n{functions}\n\
         @compute @workgroup_size(64)\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n\
         if id.x < arrayLength(&x) {{ let v = x[id.x]; x[id.x] = {expression}; }}\n}}\n"
    );
    let mut padded = x.to_vec();
    padded.resize(x.len().next_multiple_of(4), 0.0);
    let tensor = gpu.tensor(&padded, [padded.len()]).unwrap();
    let (buffer, bytes) = tensor.buffer().unwrap();
    gpu.flush().unwrap();
    let launched = super::app::launched(
        gpu.device(),
        &text,
        [super::app::window(buffer, 0..bytes.end)],
        padded.len().div_ceil(256),
    );
    gpu.queue().submit([launched]);
    let values: Vec<f32> = bytemuck::pod_collect_to_vec(&super::operand::read_bytes(gpu, buffer));
    values[..x.len()].to_vec()
}
