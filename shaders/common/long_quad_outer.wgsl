//! Four by four elements of the long operand, a vector along the outer axis for each of four k. A vector may reach past
//! the outer edge, and the end of the operand: windows hold whole vectors, and what is beyond the edge is not stored.

// Where the vector starts, all four the same; past the edge the last is read again.
fn long_starts(outer: u32, extent: u32) -> vec4<u32> {
    let first = select(matrices.a_offset, matrices.b_offset, LONG_BINDING == 1u);
    return vec4<u32>(first + min(outer, (extent - 1u) / 4u * 4u));
}

fn long_quad(starts: vec4<u32>, ks: vec4<u32>) -> mat4x4<f32> {
    let at = starts + ks * select(dims.a_k, dims.b_k, LONG_BINDING == 1u);
    return mat4x4<f32>(load_long(at.x), load_long(at.y), load_long(at.z), load_long(at.w));
}
