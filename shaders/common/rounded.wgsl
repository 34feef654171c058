//! Rounds two elements as storing them in 16 bits does: `rounded(v)`, in f32. To the nearest, ties to even; overflow becomes
//! infinity, NaN stays NaN, -0 and subnormals are preserved.
//!
//! This is the only place that rounds to these types, and it is integer code. A conversion to f16 and back rounds nothing:
//! Mesa's compilers remove the pair. `pack2x16float` truncates on GPUs of AMD and NVIDIA.

//#variant f16
fn rounded(v: vec2<f32>) -> vec2<f32> {
    let bits = bitcast<vec2<u32>>(v);
    let magnitude = bits & vec2<u32>(0x7fffffffu);
    // An f16 lacks the last 13 bits, and subnormals lack more: below 2^-14, one for each power of two.
    let dropped = vec2<u32>(126u) - clamp(magnitude >> vec2<u32>(23u), vec2<u32>(103u), vec2<u32>(113u));
    let below = (vec2<u32>(1u) << dropped) - vec2<u32>(1u);
    // What is more than half of 2^-24, the smallest f16, becomes that.
    let enough = max(magnitude, vec2<u32>(0x33800000u));
    // Add half a unit of the last place, or slightly less if that place is even, so that ties round to even.
    let nearest = (enough + (below >> vec2<u32>(1u)) + ((enough >> dropped) & vec2<u32>(1u))) & ~below;
    let zero_or_more = select(nearest, vec2<u32>(), magnitude <= vec2<u32>(0x33000000u));
    // From 2^16 on it is infinity, or the NaN that it was.
    let special = max(magnitude, vec2<u32>(0x7f800000u));
    let all = select(zero_or_more, special, nearest >= vec2<u32>(0x47800000u));
    return bitcast<vec2<f32>>(all | (bits & vec2<u32>(0x80000000u)));
}

//#variant bf16
fn rounded(v: vec2<f32>) -> vec2<f32> {
    let bits = bitcast<vec2<u32>>(v);
    // Add half a unit of the last place, or slightly less if that place is even, so that ties round to even.
    let nearest = bits + vec2<u32>(0x7fffu) + ((bits >> vec2<u32>(16u)) & vec2<u32>(1u));
    let is_nan = (bits & vec2<u32>(0x7fffffffu)) > vec2<u32>(0x7f800000u);
    let all = select(nearest, bits | vec2<u32>(0x400000u), is_nan);
    return bitcast<vec2<f32>>(all & vec2<u32>(0xffff0000u));
}
