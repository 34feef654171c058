//! Where a row begins: `row_at(row)`. The rows are counted along the axes of `dims`, of which there are `dims.rank`: extent, then
//! the strides of C and A, innermost first.

// The places in C and A of the first element, or unit, of a row.
fn row_at(row: u32) -> vec2<u32> {
    var rest = row;
    var at = vec2<u32>(dims.c_offset, dims.a_offset);
    for (var axis = 0u; axis < dims.rank; axis++) {
        let sizes = axis_at(axis);
        let outer = rest / sizes.x;
        at += (rest - outer * sizes.x) * sizes.yz;
        rest = outer;
    }
    return at;
}
