//! Writes one pair of f16 elements where shaders know no f16: the unit is a whole u32 word of C's span,
//! across the ends of rows. A half that is not C's (the gap between rows, a neighbour) keeps its bits.

fn span() -> u32 {
    return (dims.m - 1u) * dims.ldc + dims.n;
}

fn units() -> u32 {
    return (dims.c_offset + span() + 1u) / 2u - dims.c_offset / 2u;
}

fn half_of(at: u32, old: u32) -> u32 {
    let position = at - dims.c_offset; // NOTE: wraps before the first element, and is then beyond the span
    let col = position % dims.ldc;
    if at < dims.c_offset || position >= span() || col >= dims.n {
        return old;
    }
    return pack_pair(vec2<f32>(element(position / dims.ldc, col), 0.0)) & 0xffffu;
}

fn write_unit(unit: u32) {
    let word = dims.c_offset / 2u + unit;
    let old = c[word];
    c[word] = half_of(2u * word, old & 0xffffu) | (half_of(2u * word + 1u, old >> 16u) << 16u);
}
