//! The elementwise function of two operands: `combined(a, b)`, of four elements each.

const SUM: u32 = 0u;
const DIFFERENCE: u32 = 1u;
const PRODUCT: u32 = 2u;
const GRADIENT: u32 = 3u; // the backward pass of an activation: B times the derivative at A

fn combined(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    if COMBINATION == DIFFERENCE { return a - b; }
    if COMBINATION == PRODUCT { return a * b; }
    if COMBINATION == GRADIENT { return slope(a) * b; }
    return a + b;
}
