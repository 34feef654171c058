//! The values of the epilogue in the form that C stores: `requantised(values)`.

//#variant none
// C is real: the values themselves.
fn requantised(values: vec4<f32>) -> vec4<f32> {
    return values;
}

//#variant i8
// C is i8: the integers from -128 to 127 that are nearest to the exact quotients of the values and `dims.out_scale`, ties to
// even. NaN becomes 0.
//
// NOTE: this computes on bits, because a quotient of f32 may have an error of units in the last place, and would decide ties
// by chance. So equal values have equal quotients on every device.

// A positive finite number as its significand, with the leading bit 23, and its exponent field, which is 0 or less for
// subnormal numbers.
struct Number {
    significand: u32,
    exponent: i32,
}

fn number_of(magnitude: u32) -> Number {
    let fraction = magnitude & 0x7fffffu;
    if magnitude >= 0x800000u {
        return Number(fraction | 0x800000u, i32(magnitude >> 23u));
    }
    let up = 23u - firstLeadingBit(max(fraction, 1u));
    return Number(fraction << up, 1 - i32(up));
}

fn quotient(bits: u32, divisor: Number) -> f32 {
    let magnitude = bits & 0x7fffffffu;
    let is_negative = bits > 0x7fffffffu;
    let value = number_of(magnitude);
    let exponent = value.exponent - divisor.exponent;
    // The significands' quotient is between 1/2 and 2. So the quotient is below 1/2 if the exponent is below -1, and above
    // 128 if it is at least 8.
    if magnitude == 0u || magnitude > 0x7f800000u || exponent < -1 {
        return 0.0;
    }
    var nearest = 128u;
    if magnitude < 0x7f800000u && exponent < 8 {
        let dividend = value.significand << u32(exponent + 1);
        let halves = dividend / divisor.significand;
        let has_more = dividend % divisor.significand != 0u;
        // An odd number of halves is in the middle of two integers, or above the middle if there is a remainder.
        let is_up = (halves & 1u) == 1u && (has_more || (halves & 2u) == 2u);
        nearest = (halves >> 1u) + select(0u, 1u, is_up);
    }
    let limited = f32(min(nearest, select(127u, 128u, is_negative)));
    return select(limited, -limited, is_negative);
}

fn requantised(values: vec4<f32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(values);
    let divisor = number_of(dims.out_scale);
    return vec4<f32>(
        quotient(bits.x, divisor),
        quotient(bits.y, divisor),
        quotient(bits.z, divisor),
        quotient(bits.w, divisor),
    );
}
