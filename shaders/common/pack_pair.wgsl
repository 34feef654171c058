//! Packs two elements of 16 bits into a word, the first in its lower half: `pack_pair(v)`. They are rounded to the nearest.

//#variant f16
// Packs two elements as f16, on devices without f16 in shaders.
//#slot rounded default f16

fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(rounded(v));
    let magnitude = bits & vec2<u32>(0x7fffffffu);
    // The biases of the exponents differ by 112. Subnormals count units of 2^-24, which is the last place of 0.5.
    let normal = (magnitude - vec2<u32>(0x38000000u)) >> vec2<u32>(13u);
    let subnormal = bitcast<vec2<u32>>(bitcast<vec2<f32>>(magnitude) + vec2<f32>(0.5)) - vec2<u32>(0x3f000000u);
    let finite = select(normal, subnormal, magnitude < vec2<u32>(0x38800000u));
    let infinite_or_nan = select(vec2<u32>(0x7c00u), vec2<u32>(0x7e00u), magnitude > vec2<u32>(0x7f800000u));
    let without_sign = select(finite, infinite_or_nan, magnitude >= vec2<u32>(0x47800000u));
    let half = without_sign | ((bits >> vec2<u32>(16u)) & vec2<u32>(0x8000u));
    return half.x | (half.y << 16u);
}

//#variant bf16
// Packs two elements as bf16, which are the upper halves of f32.
//#slot rounded default bf16

fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(rounded(v));
    return (bits.x >> 16u) | bits.y;
}
