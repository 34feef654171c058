//! The numbers that a cross-entropy reads besides logits and targets: `weight_at(i)` and `gradient_at(i)` are a weight and a gradient
//! with respect to a loss, `counted_weight()` is the sum of the weights of all targets, or 1.

//#variant separate
// Each kind has a binding.
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> g: array<f32>;
@group(0) @binding(4) var<storage, read> counted: array<f32>;

fn weight_at(i: u32) -> f32 {
    return weight[i];
}

fn gradient_at(i: u32) -> f32 {
    return g[i];
}

fn counted_weight() -> f32 {
    return counted[0];
}

//#variant joined
// One binding has all of them.
@group(0) @binding(2) var<storage, read> numbers: array<f32>;

fn weight_at(i: u32) -> f32 {
    return numbers[i];
}

fn gradient_at(i: u32) -> f32 {
    return numbers[i];
}

fn counted_weight() -> f32 {
    return numbers[dims.counted_offset];
}
