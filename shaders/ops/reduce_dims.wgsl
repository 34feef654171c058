//! The sizes of a reduction, in elements. An element of C is reduced from several lines of A: each line is a run along one axis,
//! one line per index of the other axes that are reduced.

//#import places

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
