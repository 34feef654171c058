//! The numbers of a sum: `summand(i)` is number i, and `finished(all)` the result for their sum.

//#variant losses
// Losses, divided by the sum of the counted weights. If that is 0, the result is 0 for any losses, because label smoothing gives
// losses to classes that do not count. A NaN stays NaN: it comes from a target that is no class, or from NaN among the logits.
@group(0) @binding(0) var<storage, read> losses: array<f32>;
@group(0) @binding(1) var<storage, read> counted: array<f32>;

fn summand(i: u32) -> f32 {
    return losses[i];
}

fn finished(all: f32) -> f32 {
    let divisor = counted[0];
    let none = select(0u, bitcast<u32>(all), (bitcast<u32>(all) & 0x7fffffffu) > 0x7f800000u);
    return select(all * dims.factor / divisor, bitcast<f32>(none), divisor == 0.0);
}

//#variant class_weights
// The weights of targets. Targets that are ignored, and classes that do not exist, have none.
@group(0) @binding(0) var<storage, read> targets: array<i32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;

fn summand(i: u32) -> f32 {
    let index = bitcast<u32>(targets[dims.target_offset + i]);
    let known = min(index, dims.classes - 1u);
    let class_weight = weight[dims.weight_offset + known * dims.weight_stride];
    let counts = index == known && !(dims.ignores == 1u && index == dims.ignored);
    return select(0.0, class_weight, counts);
}

fn finished(all: f32) -> f32 {
    return all;
}
