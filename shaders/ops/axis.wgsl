//! The sizes of an operation along one axis, in elements. A row is a line along the axis, one per index of the other
//! axes.

struct Dims {
    axes: array<vec4<u32>, 5>, // of the rows: extent, then the strides of C and A, then 0; innermost first
    c_offset: u32,             // first elements in their bindings
    a_offset: u32,
    a_stride: u32, // along the axis
    length: u32,   // of the axis
    rows: u32,
    rank: u32,  // number of axes of the rows
    lanes: u32, // invocations that share a row: a power of two, at most LANES
    reserved: u32,
}

// The indices of the first elements of a row in C and A.
fn row_at(row: u32) -> vec2<u32> {
    var rest = row;
    var at = vec2<u32>(dims.c_offset, dims.a_offset);
    for (var axis = 0u; axis < dims.rank; axis++) {
        let extent = dims.axes[axis].x;
        let outer = rest / extent;
        at += (rest - outer * extent) * dims.axes[axis].yz;
        rest = outer;
    }
    return at;
}
