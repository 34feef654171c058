//! The sizes of a copy or cast, in elements.

//#slot axes default six
//#import places

struct Dims {
    axes: Axes,    // of the elements: extent, then 0 and the strides of A; innermost first
    a_offset: u32, // of A's first element in its binding
    count: u32,    // number of elements
    rank: u32,     // number of axes
    reserved: u32,
}
