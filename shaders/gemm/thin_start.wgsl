//! Where row t of a thin A, or column t of a thin B, starts.

// Past the edge the last is read again.
fn thin_start(t: u32) -> u32 {
    let last = select(dims.n, dims.m, LONG_BINDING == 1u) - 1u;
    let first = select(matrices.b_offset, matrices.a_offset, LONG_BINDING == 1u);
    return first + min(t, last) * select(dims.b_outer, dims.a_outer, LONG_BINDING == 1u);
}
