//! Four by four elements of the long operand: `long_starts(outer, extent)` says where four lines of it start, and of
//! `long_quad(starts, ks)` the columns are those of four k.

//#variant elements
// Four by four elements of the long operand, one by one: any strides. Columns are those of k.
// Where four neighbours along the outer axis start; past its edge the last is read again.
fn long_starts(outer: u32, extent: u32) -> vec4<u32> {
    let rows = min(vec4<u32>(outer) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(extent - 1u));
    let first = select(matrices.a_offset, matrices.b_offset, LONG_BINDING == 1u);
    return vec4<u32>(first) + rows * select(dims.a_outer, dims.b_outer, LONG_BINDING == 1u);
}

fn long_column(starts: vec4<u32>, k: u32) -> vec4<f32> {
    let at = starts + vec4<u32>(k * select(dims.a_k, dims.b_k, LONG_BINDING == 1u));
    return vec4<f32>(load_long(at.x), load_long(at.y), load_long(at.z), load_long(at.w));
}

fn long_quad(starts: vec4<u32>, ks: vec4<u32>) -> mat4x4<f32> {
    return mat4x4<f32>(
        long_column(starts, ks.x),
        long_column(starts, ks.y),
        long_column(starts, ks.z),
        long_column(starts, ks.w),
    );
}

//#variant along_k
// Four by four elements of the long operand, a vector along k from each of four rows. Columns are those of k. A
// vector may reach past the end of k, and of the operand: windows hold whole vectors.
// Where four neighbours along the outer axis start; past its edge the last is read again.
fn long_starts(outer: u32, extent: u32) -> vec4<u32> {
    let rows = min(vec4<u32>(outer) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(extent - 1u));
    let first = select(matrices.a_offset, matrices.b_offset, LONG_BINDING == 1u);
    return vec4<u32>(first) + rows * select(dims.a_outer, dims.b_outer, LONG_BINDING == 1u);
}

fn long_quad(starts: vec4<u32>, ks: vec4<u32>) -> mat4x4<f32> {
    let at = starts + vec4<u32>(ks.x);
    return transpose(mat4x4<f32>(load_long(at.x), load_long(at.y), load_long(at.z), load_long(at.w)));
}

//#variant along_outer
// Four by four elements of the long operand, a vector along the outer axis for each of four k. A vector may reach
// past the outer edge, and the end of the operand: windows hold whole vectors, and what is beyond the edge is not
// stored.
// Where the vector starts, all four the same; past the edge the last is read again.
fn long_starts(outer: u32, extent: u32) -> vec4<u32> {
    let first = select(matrices.a_offset, matrices.b_offset, LONG_BINDING == 1u);
    return vec4<u32>(first + min(outer, (extent - 1u) / 4u * 4u));
}

fn long_quad(starts: vec4<u32>, ks: vec4<u32>) -> mat4x4<f32> {
    let at = starts + ks * select(dims.a_k, dims.b_k, LONG_BINDING == 1u);
    return mat4x4<f32>(load_long(at.x), load_long(at.y), load_long(at.z), load_long(at.w));
}
