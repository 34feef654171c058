//! The results of a softmax. `form_of(distance, e)` is kept for four elements: their distances to a maximum, or the exponentials of
//! these. `end_of(most, sums, top)` is the final state of the rows, for distances to `top`, and `finished(v, last)` are the
//! results.
//#import softmax_sums

//#variant probabilities
// Exponentials, divided by their sum.
fn form_of(distance: vec4<f32>, e: vec4<f32>) -> vec4<f32> {
    return e;
}

fn end_of(most: vec4<f32>, sums: vec4<f32>, top: vec4<f32>) -> vec4<f32> {
    return or_nan(exp_of_negative(top - most) / sums, sums);
}

fn finished(v: vec4<f32>, last: vec4<f32>) -> vec4<f32> {
    return v * last;
}

//#variant logarithms
// The logarithms of these quotients: distances to the logarithm of the sum.
//#import logarithm

fn form_of(distance: vec4<f32>, e: vec4<f32>) -> vec4<f32> {
    return distance;
}

fn end_of(most: vec4<f32>, sums: vec4<f32>, top: vec4<f32>) -> vec4<f32> {
    return or_nan((top - most) - log_of(sums), sums);
}

fn finished(v: vec4<f32>, last: vec4<f32>) -> vec4<f32> {
    return v + last;
}
