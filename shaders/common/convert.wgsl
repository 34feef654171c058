//! Converts between a real and an integer value: not needed here, as both sides are reals or both integers.

fn convert(value: u32) -> u32 {
    return value;
}
