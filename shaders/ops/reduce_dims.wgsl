//! The sizes of a reduction, in elements. An element of C is reduced from several lines of A: each line is a run along one axis,
//! one line per index of the other axes that are reduced.

//#slot axes default five
//#import places

struct Dims {
    axes: Axes,                // extent, then the strides of C and A, then 0: axes that are kept, then others; innermost first
    a_offset: u32,             // of A's first element in its binding
    a_stride: u32,             // along a line
    length: u32,               // of a line
    lines: u32,                // for one element of C
    rows: u32,                 // elements of C, or of C's axes without the innermost
    kept: u32,                 // number of axes that are kept
    reduced: u32,              // number of axes that are reduced, without the lines' own
    lanes: u32,                // invocations that share a row: a power of two, at most LANES; or groups of columns of a row
    parts: u32,                // of the terms of an element of C
    finish: u32,               // how the result is computed from the final state: one of the constants below
    number: u32,               // the bits of a number, or a pattern that reverses the order
    start: u32,                // index of a window's first element along the axis, if several windows are joined
}
const DIVIDED: u32 = 1u; // the sum, divided by `number`
const ROOT: u32 = 2u; // the root of the sum
const SMALLEST: u32 = 3u; // the smallest element, instead of the largest
const MAGNITUDE: u32 = 4u; // the largest absolute value

// The begin of the elements of C with this index, in C and A. The index counts along the kept axes from this one on.
fn kept_at(index: u32, first: u32) -> vec2<u32> {
    return places(index, first, dims.kept, vec3<u32>(0u, dims.a_offset, 0u)).xy;
}

// The begin of a line in A, from the first line of its element of C.
fn line_at(line: u32) -> u32 {
    return places(line, dims.kept, dims.kept + dims.reduced, vec3<u32>()).y;
}
