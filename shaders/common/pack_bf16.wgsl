//! Packs two elements as bf16, rounded to the nearest, ties to even, in integer code: no shader knows bf16. Overflow
//! is infinity, NaN stays NaN, subnormals are kept.

fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(v);
    // Half a unit of the last place that stays; less where that place is even, so that ties go there.
    let rounded = bits + vec2<u32>(0x7fffu) + ((bits >> vec2<u32>(16u)) & vec2<u32>(1u));
    let is_nan = (bits & vec2<u32>(0x7fffffffu)) > vec2<u32>(0x7f800000u);
    let half = select(rounded, bits | vec2<u32>(0x400000u), is_nan) >> vec2<u32>(16u);
    return half.x | (half.y << 16u);
}
