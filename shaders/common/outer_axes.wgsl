//! The places of rows, which run along the innermost of `dims.axes`. Each axis has its extent, then the strides of three
//! operands.

// The place of a row in each operand, from that of the first row. Rows are counted over all axes except the innermost.
fn in_row(row: u32, at: vec3<u32>) -> vec3<u32> {
    var rest = row;
    var moved = at;
    for (var axis = 1u; axis + 1u < dims.rank; axis++) {
        let extent = dims.axes[axis].x;
        let outer = rest / extent;
        moved += (rest - outer * extent) * dims.axes[axis].yzw;
        rest = outer;
    }
    // What is left is the index along the outermost axis.
    if dims.rank > 1u {
        moved += rest * dims.axes[dims.rank - 1u].yzw;
    }
    return moved;
}
