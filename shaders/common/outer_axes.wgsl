//! The places of rows, which run along the innermost of `dims.axes`. Each axis has its extent, then the strides of three
//! operands.

// The place of a row in each operand, from that of the first row. Rows are counted over all axes except the innermost.
fn in_row(row: u32, at: vec3<u32>) -> vec3<u32> {
    var rest = row;
    var moved = at;
    for (var axis = 1u; axis + 1u < dims.rank; axis++) {
        let sizes = axis_at(axis);
        let outer = rest / sizes.x;
        moved += (rest - outer * sizes.x) * sizes.yzw;
        rest = outer;
    }
    // What is left is the index along the outermost axis.
    if dims.rank > 1u {
        moved += rest * axis_at(dims.rank - 1u).yzw;
    }
    return moved;
}
