//! The conversion of an element, in integer code: `converted(bits)`.
//#import numbers
//#import fp8

// An element of A as one of C, in the lowest bits; the others are 0.
fn converted(bits: u32) -> u32 {
    if KEPT {
        return bits;
    }
    var value = widened_element(FROM, bits);
    if is_float(FROM) && !is_float(TO) { value = to_integer(value); }
    if !is_float(FROM) && is_float(TO) { value = to_real(value); }
    if LIMITED { value = limited(TO, value); }
    return narrowed_element(TO, value) & C_MASK;
}
