//! Shared by the functions of multivectors with parameters for each feature: their uniform, and a norm.

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
