//! Formats of texels: each channel as the bits of an f32, and back. Like all conversions, it uses integers: a driver
//! may flush subnormal floats, choose the rounding and change the bits of NaN. A texel has one or two words.
//#import numbers

// The formats.
const RGBA8UNORM: u32 = 0u;
const R32FLOAT: u32 = 1u;
const RGBA16FLOAT: u32 = 2u;

// The words of a texel.
fn words_of(format: u32) -> u32 {
    return select(1u, 2u, format == RGBA16FLOAT);
}

// The channels in a word.
fn channels_in_word(format: u32) -> u32 {
    if format == RGBA8UNORM { return 4u; }
    return words_of(format);
}

// The bits of the f32 of a channel, from its word. Channels are counted within the word.
fn decoded(format: u32, word: u32, channel: u32) -> u32 {
    if format == RGBA8UNORM { return from_unorm8((word >> (channel * 8u)) & 0xffu); }
    if format == RGBA16FLOAT { return widened_f16((word >> (channel * 16u)) & 0xffffu); }
    return word;
}

// The bits of a channel in its word, from the bits of its f32.
fn encoded(format: u32, value: u32, channel: u32) -> u32 {
    if format == RGBA8UNORM { return to_unorm8(value) << (channel * 8u); }
    if format == RGBA16FLOAT { return narrowed_f16(value) << (channel * 16u); }
    return value;
}

// The f32 nearest to c / 255, for a byte c. In binary this number is the digits of c, repeated without end.
fn from_unorm8(c: u32) -> u32 {
    if c == 0u { return 0u; }
    if c == 255u { return 0x3f800000u; }
    let digits = c * 0x01010101u; // the first 32 after the point
    let leading = firstLeadingBit(digits); // 24 to 31
    let dropped = leading - 23u;
    // The digits go on, so there is no tie: the first dropped one decides. The implied leading bit adds 1 to the exponent.
    let kept = (digits >> dropped) + ((digits >> (dropped - 1u)) & 1u);
    return ((leading + 94u) << 23u) + kept;
}

// The integer nearest to 255 x for an f32 x, ties to even. Below 0 it is 0, above 1 it is 255, and for NaN it is 0.
fn to_unorm8(x: u32) -> u32 {
    if x >= 0x3f800000u {
        return select(0u, 255u, x <= 0x7f800000u); // negative numbers have the largest bits
    }
    let exponent = x >> 23u; // at most 126
    if exponent < 118u { // x < 2^-9, so 255 x < 1 / 2
        return 0u;
    }
    let product = ((x & 0x7fffffu) | 0x800000u) * 255u; // 255 x in units of 2^(exponent - 150)
    let dropped = 150u - exponent; // 24 to 32
    let halves = product >> (dropped - 1u);
    let whole = halves >> 1u;
    let half = halves & 1u;
    let rest = product & ((1u << (dropped - 1u)) - 1u);
    return whole + select(0u, half, rest != 0u || (whole & 1u) == 1u);
}
