//! Writes one element: the unit of f32 and f16 memory.

fn units() -> u32 {
    return dims.m * dims.n;
}

fn write_unit(unit: u32) {
    let row = unit / dims.n;
    let col = unit % dims.n;
    c[dims.c_offset + row * dims.ldc + col] = c_unit(element(row, col));
}
