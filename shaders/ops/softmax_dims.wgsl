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

//#import row_at
