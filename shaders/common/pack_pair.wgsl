//! Packs two elements of 16 bits into a word, the first in its lower half: `pack_pair(v)`.

//#variant f16
// Packs two elements as f16, on devices without f16 in shaders. The built-in promises nothing for values that overflow f16
// (SwiftShader returns NaN). Here they become infinity, as on devices with f16.
fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(v);
    let magnitude = bits & vec2<u32>(0x7fffffffu);
    let finite = pack2x16float(clamp(v, vec2<f32>(-65504.0), vec2<f32>(65504.0)));
    let infinite_or_nan = select(vec2<u32>(0x7c00u), vec2<u32>(0x7e00u), magnitude > vec2<u32>(0x7f800000u));
    let special = ((bits >> vec2<u32>(16u)) & vec2<u32>(0x8000u)) | infinite_or_nan;
    // 65520 is the midpoint between the largest f16 and the next power of two.
    let half = select(vec2<u32>(finite & 0xffffu, finite >> 16u), special, magnitude >= vec2<u32>(0x477ff000u));
    return half.x | (half.y << 16u);
}

//#variant bf16
// Packs two elements as bf16, rounded to the nearest, ties to even. This is integer code, because shaders have no bf16. Overflow
// becomes infinity, NaN stays NaN, subnormals are preserved.
fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(v);
    // Add half a unit of the last place, or slightly less if that place is even, so that ties round to even.
    let rounded = bits + vec2<u32>(0x7fffu) + ((bits >> vec2<u32>(16u)) & vec2<u32>(1u));
    let is_nan = (bits & vec2<u32>(0x7fffffffu)) > vec2<u32>(0x7f800000u);
    let half = select(rounded, bits | vec2<u32>(0x400000u), is_nan) >> vec2<u32>(16u);
    return half.x | (half.y << 16u);
}
