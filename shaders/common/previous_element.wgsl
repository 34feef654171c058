//! What C held before, times beta.

//#import load_x x=c

fn previous(row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(matrices.c_offset + row * dims.ldc) + cols;
    return dims.beta * vec4<f32>(load_c(at.x), load_c(at.y), load_c(at.z), load_c(at.w));
}
