//! Shared by the functions of multivectors with parameters for each feature: their uniform, and a norm.

struct Dims {
    x: vec4<u32>,  // X: strides of the blade, row and feature axes; first element in its binding
    g: vec4<u32>,  // G: likewise
    a: vec4<u32>,  // A: strides of the feature and part axes; first element
    b: vec4<u32>,  // B: likewise
    rows: u32,
    features: u32,
    strip: u32,    // rows per invocation
    units: u32,    // invocations; for functions with a row mean, rows
}

//#slot dims default immediate

// The norm (q^2 + 1e-16)^(1/4) of a square q of any sign. It is smooth at q = 0.
fn norm_of(q: f32) -> f32 {
    // Beyond 1e-3, adding 1e-16 changes less than rounding; for large q, q * q would overflow.
    return select(sqrt(sqrt(q * q + 1e-16)), sqrt(abs(q)), abs(q) > 1e-3);
}

// The gradient of the norm n: this times q_i x_i for each blade i.
fn norm_slope(q: f32, n: f32) -> f32 {
    return q / (n * n) / n;
}
