//! The sizes of an elementwise function, in elements. A row is a line along the innermost axis. Its units are the groups of
//! neighbours that a kernel moves together: four elements, or a vector of 16 bytes.

struct Dims {
    axes: array<vec4<u32>, 6>, // extent, then the strides of C, A and B, in elements; innermost first
    offsets: vec4<u32>,        // first elements of C, A and B in their bindings, and the number of units of all rows
    units: u32,                // of a row
    rank: u32,                 // number of axes, at least 1
    reserved0: u32,
    reserved1: u32,
}
