//! Segments of k, in each of which both operands have other planes. `SEGMENTED` says whether there are such;
//! `k_extent(matrix)` how far k goes for a matrix of the batch, the same in a whole workgroup; `enter_segment(k0)` goes to
//! the segment of the matrix that was entered in which k0 lies, the first of a step; `of_segment(k)` is how far behind the
//! first of its segment k lies.

//#variant one
// One segment, which is all of k.
const SEGMENTED: bool = false;

fn k_extent(matrix: u32) -> u32 {
    return dims.k;
}

fn enter_segment(k0: u32) {}

fn of_segment(k: u32) -> u32 {
    return k;
}

//#variant of_planes
// As a table says: for each matrix of the batch the place of its first segment, and the end; then of each segment A's
// plane or the place of A's first term, B's plane, and the place behind A's last term. Segments begin at multiples of
// 32, so that no step and no part of k lies in two.
const SEGMENTED: bool = true;

@group(0) @binding(3) var<storage, read> table: array<u32>;

// The terms of A in the segment that a step lies in.
struct Segment {
    first: u32, // of k
    terms: u32,
    terms_end: u32,
}

var<private> segment: Segment;

// A matrix has as many segments as the table says.
fn k_extent(matrix: u32) -> u32 {
    return (table[matrix + 1u] - table[matrix]) / 3u * dims.segment_step;
}

fn of_segment(k: u32) -> u32 {
    return k - segment.first;
}

fn enter_segment(k0: u32) {
    let index = k0 / dims.segment_step;
    let first = index * dims.segment_step;
    let at = table[matrices.index] + 3u * index;
    segment = Segment(first, table[at], table[at + 2u]);
    // A that is made has terms, and no plane.
    matrices.a_offset = dims.a_offset + select(table[at], 0u, table[at + 2u] > 0u) * dims.a_plane;
    matrices.b_offset = dims.b_offset + table[at + 1u] * dims.b_plane;
    matrices.k_end = first + dims.segment_length;
}
