//! The sizes of a matrix product, in elements. Outer is the axis that the product keeps: m for A, n for B.

struct Dims {
    m: u32,
    n: u32,
    k: u32,
    a_outer: u32,  // stride of A along m
    a_k: u32,      // stride of A along k
    a_offset: u32, // first element of A in its binding
    b_outer: u32,  // stride of B along n
    b_k: u32,      // stride of B along k
    b_offset: u32,
    ldc: u32,      // stride of C along m; along n it is 1
    c_offset: u32,
    reserved: u32, // uniforms come in multiples of 16 bytes
}
