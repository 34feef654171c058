//! The values of the epilogue as C stores them: `requantised(values)`.

//#variant none
// C is real: the values themselves.
fn requantised(values: vec4<f32>) -> vec4<f32> {
    return values;
}

//#variant i8
// C is i8: the whole numbers of -128 to 127 that are nearest to the exact quotients of the values and `dims.out_scale`; of two,
// the even one. NaN becomes 0.
//
// NOTE: on bits, as a quotient of f32 may be off by units of the last place, and then decides ties by chance. So equal values
// have equal quotients on every device.

// A positive finite number as its significand, with the leading bit 23, and the exponent field that goes with it, which is
// 0 or less for subnormal numbers.
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
    // The significands' quotient is between 1/2 and 2. So the quotient is below 1/2 where the exponent is below -1, and above
    // 128 from 8 on.
    if magnitude == 0u || magnitude > 0x7f800000u || exponent < -1 {
        return 0.0;
    }
    var nearest = 128u;
    if magnitude < 0x7f800000u && exponent < 8 {
        let dividend = value.significand << u32(exponent + 1);
        let halves = dividend / divisor.significand;
        let has_more = dividend % divisor.significand != 0u;
        // An odd number of halves is in the middle, or above it if there is more.
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
