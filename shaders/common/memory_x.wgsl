//! Operand x in device memory: vectors of four elements along its outer axis.

// Where the vector from these indices on lies, in elements: its first, within the outer edge.
fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    let last = extent - select(1u, 4u, X_STAGE == STAGE_VECTOR_OUTER);
    return matrices.x_offset + min(outer, last) * dims.x_outer + of_segment(k) * dims.x_k;
}

// The vector at `at`, four elements along the outer axis.
fn x_vector(at: u32, outer: u32, extent: u32) -> vec4<f32> {
    if X_STAGE == STAGE_VECTOR_OUTER {
        return vec4<f32>(load_x(at));
    }
    let beyond = extent - 1u - min(outer, extent - 1u); // elements to the outer edge
    return vec4<f32>(
        vec4<f32>(load_x(at)).x,
        vec4<f32>(load_x(at + min(1u, beyond) * dims.x_outer)).x,
        vec4<f32>(load_x(at + min(2u, beyond) * dims.x_outer)).x,
        vec4<f32>(load_x(at + min(3u, beyond) * dims.x_outer)).x,
    );
}

// The one that k0 lies behind the vector at `at`.
fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> vec4<f32> {
    return x_vector(at + k0 * dims.x_k, outer, extent);
}
