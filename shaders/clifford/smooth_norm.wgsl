//! The norm (q^2 + 1e-16)^(1/4) of a square q of any sign, which is smooth where q is 0, and its slope.

fn norm_of(q: f32) -> f32 {
    // Beyond a thousandth, 1e-16 is less than rounding; far beyond, q * q is more than f32 has.
    return select(sqrt(sqrt(q * q + 1e-16)), sqrt(abs(q)), abs(q) > 1e-3);
}

// What the norm, n, hands back is this times q_i x_i for each blade.
fn norm_slope(q: f32, n: f32) -> f32 {
    return q / (n * n) / n;
}
