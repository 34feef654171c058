//! The slope of v times the normal distribution of v: the distribution, and v times its density.

//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    let w = clamp(v, vec4<f32>(-15.0), vec4<f32>(15.0)); // where the density is zero
    let density = 0.398942280 * exp_of_sum(-0.5 * w * w, vec4<f32>(0.0));
    return keep_nan(v, fma(w, density, normal_of(v)));
}
