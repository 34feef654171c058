//! Segments of k: the planes of both operands differ from segment to segment. `SEGMENTED` says whether there are segments;
//! `k_extent(matrix)` returns the length of k for a matrix of the batch, uniform in a workgroup; `enter_segment(k0)` selects
//! the segment of the current matrix that contains k0, the start of an iteration; `k_in_segment(k)` returns the index of k
//! within its segment.

//#variant one
// A single segment: all of k.
const SEGMENTED: bool = false;

fn k_extent(matrix: u32) -> u32 {
    return dims.k;
}

fn enter_segment(k0: u32) {}

fn k_in_segment(k: u32) -> u32 {
    return k;
}

//#variant planes
// Segments from a table. It holds the place of each matrix's first segment, and the end; then three words per segment: A's
// plane or the place of A's first term, B's plane, and the end of A's terms, or 0. Segments start at multiples of 32, so no
// iteration and no split contains parts of two.
const SEGMENTED: bool = true;

@group(0) @binding(3) var<storage, read> table: array<u32>;

// The current segment, with A's terms.
struct Segment {
    first: u32, // k of its start
    terms: u32,
    terms_end: u32,
}

var<private> segment: Segment;

// The table gives the number of segments of a matrix.
fn k_extent(matrix: u32) -> u32 {
    return (table[matrix + 1u] - table[matrix]) / 3u * dims.segment_step;
}

fn k_in_segment(k: u32) -> u32 {
    return k - segment.first;
}

fn enter_segment(k0: u32) {
    let index = k0 / dims.segment_step;
    let first = index * dims.segment_step;
    let at = table[matrices.index] + 3u * index;
    segment = Segment(first, table[at], table[at + 2u]);
    // A generated A has terms, and no plane.
    matrices.a_offset = dims.a_offset + select(table[at], 0u, table[at + 2u] > 0u) * dims.a_plane;
    matrices.b_offset = dims.b_offset + table[at + 1u] * dims.b_plane;
    matrices.k_end = first + dims.segment_length;
}
