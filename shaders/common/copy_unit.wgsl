//! Copies one element: the unit of f32 and f16 memory.

fn units() -> u32 {
    return dims.count;
}

fn copy_unit(unit: u32) {
    c[unit] = c_unit(element(unit));
}
