//! The place of a position of images with channels last, (batch, rows, columns): `plane_position(position, rows, columns)` has its
//! image, row and column. Positions are counted over all images.

fn plane_position(position: u32, rows: u32, columns: u32) -> vec3<u32> {
    let line = position / columns;
    let image = line / rows;
    return vec3<u32>(image, line - image * rows, position - line * columns);
}

// The first channel of a position of A.
fn plane_start(image: u32, row: u32, column: u32) -> u32 {
    return dims.a_offset + image * dims.a_strides.x + row * dims.a_strides.y + column * dims.a_strides.z;
}
