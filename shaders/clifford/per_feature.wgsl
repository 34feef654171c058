//! What functions of multivectors with parameters for each feature share: their sizes, and a norm.

struct Dims {
    x: vec4<u32>,  // strides of X from blade to blade, row to row, feature to feature; its first element in its binding
    g: vec4<u32>,  // of G likewise
    a: vec4<u32>,  // strides of A from feature to feature, part to part; its first element
    b: vec4<u32>,  // of B likewise
    rows: u32,
    features: u32,
    strip: u32,    // rows of an invocation
    units: u32,    // invocations; of what is made row by row, the rows
}

//#slot dims default immediate

// The norm (q^2 + 1e-16)^(1/4) of a square q of any sign, which is smooth where q is 0.
fn norm_of(q: f32) -> f32 {
    // Beyond a thousandth, 1e-16 is less than rounding; far beyond, q * q is more than f32 has.
    return select(sqrt(sqrt(q * q + 1e-16)), sqrt(abs(q)), abs(q) > 1e-3);
}

// What the norm, n, hands back is this times q_i x_i for each blade.
fn norm_slope(q: f32, n: f32) -> f32 {
    return q / (n * n) / n;
}
