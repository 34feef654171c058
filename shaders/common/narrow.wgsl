//! The low bits of a value as an element: integers, f32, and copies to the same type.

fn narrow(value: u32) -> u32 {
    return value;
}
