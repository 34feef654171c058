//! The values of floating-point numbers of 8 bits, without branches. All of them are normal as f32. (Casts use no floats at all: they
//! have conversions of their own in `fp8`.)

// The value of an e4m3.
fn e4m3_value(bits: u32) -> f32 {
    let magnitude = bits & 0x7fu;
    // A subnormal counts units of 2^-9. Of other numbers, the biases of the exponents differ by 120.
    let subnormal = bitcast<u32>(f32(magnitude) * 0.001953125);
    let number = select(subnormal, (magnitude << 20u) + 0x3c000000u, magnitude >= 8u);
    return bitcast<f32>(((bits & 0x80u) << 24u) | select(number, 0x7fc00000u, magnitude == 0x7fu));
}

// The value of an e5m2.
fn e5m2_value(bits: u32) -> f32 {
    let magnitude = bits & 0x7fu;
    // A subnormal counts units of 2^-16. Of other numbers, the biases of the exponents differ by 112; of infinity and NaN by 224.
    let subnormal = bitcast<u32>(f32(magnitude) * 0.0000152587890625);
    let number = select(subnormal, (magnitude << 21u) + 0x38000000u, magnitude >= 4u);
    return bitcast<f32>(((bits & 0x80u) << 24u) | select(number, (magnitude << 21u) + 0x70000000u, magnitude >= 0x7cu));
}
