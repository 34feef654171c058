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

//#variant f16_at_once
// Packs two elements as f16 and rounds them in the same operations, where a driver converts to f16 in software. Each operation is exact, as
// those of `rounded` are: products with powers of two, `round`, and sums of integers below 2^24.
fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(v);
    let magnitude = bits & vec2<u32>(0x7fffffffu);
    // 2^16 rounds to infinity, as all above it do.
    let finite = min(magnitude, vec2<u32>(0x47800000u));
    // The power of two below, at least 2^-14: from there on f16 are subnormal. Their unit is 2^10 times less.
    let power = max(finite & vec2<u32>(0x7f800000u), vec2<u32>(0x38800000u));
    let inverse = bitcast<vec2<f32>>(vec2<u32>(0x84000000u) - power);
    // The number of units, 2048 at most, and 15 << 10: in the lower bits of an f32, because of the 2^23.
    let units = bitcast<vec2<u32>>(round(bitcast<vec2<f32>>(finite) * inverse) + vec2<f32>(8388608.0 + 15360.0));
    // The exponent is (power >> 23) - 113, and 1024 units add one. Its bits are those of (power >> 23) + 15, which is 128 more.
    let half = select((power >> vec2<u32>(13u)) + units, vec2<u32>(0x7e00u), magnitude > vec2<u32>(0x7f800000u));
    let low = (half.x & 0x7fffu) | ((bits.x >> 16u) & 0x8000u);
    let high = ((half.y << 16u) & 0x7fffffffu) | (bits.y & 0x80000000u);
    return low | high;
}

//#variant bf16
// Packs two elements as bf16, which are the upper halves of f32.
//#slot rounded default bf16

fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(rounded(v));
    return (bits.x >> 16u) | bits.y;
}
