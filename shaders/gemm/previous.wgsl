//! What C held before, times beta: `previous(row, cols)`.

//#variant none
// What C held before takes no part, and is not read.
fn previous(row: u32, cols: vec4<u32>) -> vec4<f32> {
    return vec4<f32>();
}

//#variant elements
// What C held before, times beta.
//#slot load x=c default element

fn previous(row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(matrices.c_offset + row * dims.ldc) + cols;
    return dims.beta * vec4<f32>(load_c(at.x), load_c(at.y), load_c(at.z), load_c(at.w));
}

//#variant vector
// What C held before, times beta: four elements at once.
//#slot load x=c default element

fn previous(row: u32, cols: vec4<u32>) -> vec4<f32> {
    return dims.beta * load_c(matrices.c_offset + row * dims.ldc + cols.x);
}
