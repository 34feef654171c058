//! The peak of cooperative matrices of f16 with sums in f32.

use super::{Buffers, ENOUGH, fastest};
use tilewise::gpu::{CoopRow, CoopScalar};
use tilewise::wgpu;
use tilewise::{Fill, Gpu, f16};

/// Workgroups, of one subgroup each: enough to fill every device.
const GROUPS: u32 = 1 << 12;
/// Products of two matrices in one iteration.
const PRODUCTS: f64 = 2.0;

/// Flop/s on cooperative matrices, if the device has a verified row of f16 with sums in f32: the largest.
pub(crate) fn measure(gpu: &Gpu) -> Option<f64> {
    let caps = gpu.caps();
    let is_usable = |row: &&CoopRow| {
        [row.a, row.c] == [CoopScalar::F16, CoopScalar::F32] && caps.coop(row.m, row.a, row.c).is_ok()
    };
    let size = caps.rows.iter().filter(is_usable).map(|row| row.m).max()?;
    let lanes = caps.subgroups?.matrices?;
    let text = include_str!("matrices.wgsl")
        .replace("coop_mat16x16", &format!("coop_mat{size}x{size}"))
        .replace("SIZE: u32 = 16u", &format!("SIZE: u32 = {size}u"))
        .replace("LANES: u32 = 32u", &format!("LANES: u32 = {lanes}u"));
    let module = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("matrices"),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let matrix = u64::from(size * size);
    let buffers = Buffers::new(gpu, u64::from(GROUPS) * 2 * matrix * 4);
    // NOTE: on zeros a GPU draws less power and runs faster than it does on data.
    let operands = Fill::Uniform.values::<f16>(3 * usize::try_from(matrix).ok()?, 1);
    gpu.queue().write_buffer(&buffers.source, 0, bytemuck::cast_slice(&operands));
    let program = buffers.program_of(gpu, &module, "multiply_matrices");
    let seconds = |iterations: u32| {
        gpu.queue().write_buffer(&buffers.params, 0, bytemuck::bytes_of(&[iterations, 1.0f32.to_bits()]));
        program.seconds(gpu, [GROUPS, 1])
    };
    let mut iterations = 4;
    while seconds(iterations) < ENOUGH && iterations < 1 << 20 {
        iterations *= 2;
    }
    let flops = f64::from(GROUPS) * f64::from(iterations) * PRODUCTS * 2.0 * f64::from(size).powi(3);
    Some(flops / fastest(|| seconds(iterations)))
}
