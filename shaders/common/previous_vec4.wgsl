//! What C held before, times beta: four elements at once.

//#import load_x x=c

fn previous(row: u32, cols: vec4<u32>) -> vec4<f32> {
    return dims.beta * load_c(matrices.c_offset + row * dims.ldc + cols.x);
}
