//! The place of a vector: `place(vector)` has the index of its first quad in C, A and B, and the number of elements from there to
//! the end of its row. Vectors are counted over all rows.

//#variant only_row
// The tensor is one row.
fn place(vector: u32) -> vec4<u32> {
    return vec4<u32>((dims.offsets.xyz / WIDTH + vector) * QUADS, dims.axes[0].x - vector * WIDTH);
}

//#variant rows
// Rows along several axes.
//#import outer_axes

fn place(vector: u32) -> vec4<u32> {
    let row = vector / dims.units;
    let col = (vector - row * dims.units) * WIDTH;
    return vec4<u32>(in_row(row, dims.offsets.xyz + col) / WIDTH * QUADS, dims.axes[0].x - col);
}
