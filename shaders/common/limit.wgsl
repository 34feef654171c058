//! Limits a value to what its new type holds: not here. Integers wrap, reals go to infinity or stay.

fn limit(value: u32) -> u32 {
    return value;
}
