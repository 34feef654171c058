//! The sizes of taking elements by index, and the places that an element of C comes from.

//#slot axes default six

struct Dims {
    axes: Axes,                // of C, innermost first: extent, then the strides of A and of the indices, then 0
    a_offset: u32,             // first elements, or vectors, in the bindings
    index_offset: u32,
    a_stride: u32, // along the axis of A that is indexed
    extent: u32,   // of that axis
    count: u32,    // elements, or vectors, of C
    rank: u32,     // number of axes, at least 1
    missing: u32,  // the bits of what an index out of range gives
    start: u32,    // index of the first position of A's window along that axis
}

// The places in A, at index 0, and in the indices for the first element of a row of C, which runs along the innermost axis.
fn row_place(row: u32) -> vec2<u32> {
    var rest = row;
    var at = vec2<u32>(dims.a_offset, dims.index_offset);
    for (var axis = 1u; axis + 1u < dims.rank; axis++) {
        let sizes = axis_at(axis);
        let outer = rest / sizes.x;
        at += (rest - outer * sizes.x) * sizes.yz;
        rest = outer;
    }
    // What is left is the index along the outermost axis.
    if dims.rank > 1u {
        at += rest * axis_at(dims.rank - 1u).yz;
    }
    return at;
}

// Whether an index is one of the axis. The buffer may hold any.
fn is_within(index: i32) -> bool {
    return index >= 0 && u32(index) < dims.extent;
}
