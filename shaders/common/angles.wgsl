//! Sine and cosine of four angles of any size, within 8 ulp of their definitions.
//#import math
//#import philox
//#import trigonometry
alias lanes = vec4<f32>;

// The bits of 2 / pi from the 32-bit word `first` on, where word 0 is zero and word 1 has the first 32 bits.
fn inverse_words(first: u32) -> vec4<u32> {
    switch first {
        case 0u: { return vec4<u32>(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u); }
        case 1u: { return vec4<u32>(0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u); }
        case 2u: { return vec4<u32>(0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u); }
        default: { return vec4<u32>(0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u); }
    }
}

// An angle x of at least 2, less the nearest multiple of pi / 2, and that multiple modulo 4 (Payne and Hanek, 1983).
fn reduced(x: f32) -> vec2<f32> {
    let bits = bitcast<u32>(x);
    let significand = (bits << 8u) | 0x80000000u;
    // |x| is the significand times 2^(exponent - 158). Bits of 2 / pi whose products are multiples of 4 are left out.
    let start = min(((bits >> 23u) & 0xffu) - 128u, 127u);
    let words = inverse_words(start / 32u);
    let shift = start % 32u;
    let carried = select(words.yzw >> vec3<u32>(32u - max(shift, 1u)), vec3<u32>(0u), shift == 0u);
    let w = (words.xyz << vec3<u32>(shift)) | carried;
    // The product modulo 1, in units of 2^-32 and 2^-64. One is four quarters of a turn.
    let middle = significand * w.y;
    let lower = middle + mul_high(significand, w.z);
    let upper = significand * w.x + mul_high(significand, w.y) + select(0u, 1u, lower < middle);
    // The fraction of a quarter, from -1/2 to 1/2.
    var quarter = upper >> 30u;
    var fraction = vec2<u32>((upper << 2u) | (lower >> 30u), lower << 2u);
    let is_above = fraction.x >= 0x80000000u;
    if is_above {
        quarter += 1u;
        fraction = vec2<u32>(~fraction.x + select(0u, 1u, fraction.y == 0u), 0u - fraction.y);
    }
    let zeros = countLeadingZeros(fraction.x);
    let shifted = select((fraction.x << zeros) | (fraction.y >> (32u - max(zeros, 1u))), fraction.y, zeros == 32u);
    let leading = select(shifted, fraction.x, zeros == 0u);
    // 2^-(32 + zeros), times pi / 2.
    let size = f32(leading) * bitcast<f32>((95u - zeros) << 23u) * 1.57079633;
    let is_negative = bits > 0x7fffffffu;
    let r = select(size, -size, is_above != is_negative);
    return vec2<f32>(r, f32(select(quarter, 0u - quarter, is_negative) & 3u));
}

fn sine_cosine_of(x: vec4<f32>) -> SineCosine {
    if all(abs(x) <= vec4<f32>(400.0)) {
        return sine_cosine(x);
    }
    let is_large = (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x40000000u);
    let far = select(vec4<f32>(4.0), x, is_large);
    let a = reduced(far.x);
    let b = reduced(far.y);
    let c = reduced(far.z);
    let d = reduced(far.w);
    let near = sine_cosine(select(x, vec4<f32>(0.0), is_large));
    let away = in_quarter(vec4<f32>(a.x, b.x, c.x, d.x), vec4<f32>(a.y, b.y, c.y, d.y));
    return SineCosine(select(near.sine, away.sine, is_large), select(near.cosine, away.cosine, is_large));
}

// NaN where x is not finite.
fn where_finite(x: vec4<f32>, value: vec4<f32>) -> vec4<f32> {
    let magnitude = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    let bits = select(bitcast<vec4<u32>>(value), vec4<u32>(0x7fc00000u), magnitude >= vec4<u32>(0x7f800000u));
    return bitcast<vec4<f32>>(bits);
}

fn sine_of(x: vec4<f32>) -> vec4<f32> {
    return where_finite(x, sine_cosine_of(x).sine);
}

fn cosine_of(x: vec4<f32>) -> vec4<f32> {
    return where_finite(x, sine_cosine_of(x).cosine);
}
