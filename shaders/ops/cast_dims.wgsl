//! The sizes of a copy or cast. Axes are outermost first; missing ones have extent 1.

struct Dims {
    extents: vec4<u32>, // of axes 2 to 5; that of axis 0 is not needed: the last quotient is its index
    strides: vec4<u32>, // of axes 2 to 5, in elements
    extent1: u32,
    stride0: u32,
    stride1: u32,
    a_offset: u32, // first element of A in its binding
    count: u32,    // number of elements
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}
