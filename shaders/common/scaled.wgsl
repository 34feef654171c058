//! Sums times alpha.

fn scaled(row: u32, cols: vec4<u32>, sums: vec4<f32>) -> vec4<f32> {
    return dims.alpha * sums;
}
