//! The sizes of a copy into a view. A row is a line along one axis. Sizes are in units for `copy`, in elements for
//! `copy_parts`.

struct Dims {
    axes: array<vec4<u32>, 6>, // of the rows: extent, then the strides of C and A, then 0; innermost first
    c_offset: u32,             // first unit or element in the bindings
    a_offset: u32,
    c_stride: u32, // along a row
    a_stride: u32,
    row: u32,       // length of a row
    row_units: u32, // invocations for a row
    units: u32,     // invocations for all rows
    rank: u32,      // number of axes of the rows
}

// The places in C and A of the first unit or element of a row.
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
