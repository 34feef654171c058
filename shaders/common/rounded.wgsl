//! Rounds two elements to their storage type of 16 bits: `rounded(v)`, in f32. To the nearest, ties to even; overflow
//! becomes infinity, NaN stays NaN, -0 and subnormals are preserved.
//!
//! Only this function and `pack_pair` round to these types, and each of their operations is exact: on bits, products with powers of
//! two, and `round`, which goes to the nearest integer, ties to even, on every device. A conversion to f16 and back rounds
//! nothing: Mesa's compilers remove the pair. `pack2x16float` truncates on GPUs of AMD and NVIDIA.

//#variant f16
fn rounded(v: vec2<f32>) -> vec2<f32> {
    let bits = bitcast<vec2<u32>>(v);
    let magnitude = bits & vec2<u32>(0x7fffffffu);
    // The power of two below, at least 2^-14: from there on f16 are subnormal. Their unit is 2^10 times less.
    let power = max(bits & vec2<u32>(0x7f800000u), vec2<u32>(0x38800000u));
    let unit = bitcast<vec2<f32>>(power - vec2<u32>(0x05000000u));
    let inverse = bitcast<vec2<f32>>(vec2<u32>(0x84000000u) - power);
    let nearest = bitcast<vec2<u32>>(round(bitcast<vec2<f32>>(magnitude) * inverse) * unit);
    // From 65520 on, which is half-way from the largest f16 to 2^16, it is infinity, or the NaN that it was.
    let special = max(magnitude, vec2<u32>(0x7f800000u));
    let all = select(nearest, special, magnitude >= vec2<u32>(0x477ff000u));
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
