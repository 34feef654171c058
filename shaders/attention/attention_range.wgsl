//! Which keys a query attends by their distance, and which queries attend a key.

// The first key that a query attends, and the one behind its last.
fn range_of(i: u32, count: u32) -> vec2<u32> {
    let first = clamp(i32(i) + dims.lower, 0, i32(count));
    let end = clamp(i32(i) + dims.upper + 1, 0, i32(count));
    return vec2<u32>(u32(first), u32(max(first, end)));
}

// The first query that attends a key, and the one behind the last.
fn queries_of(j: u32) -> vec2<u32> {
    let queries = i32(dims.queries);
    let first = clamp(i32(j) - dims.upper, 0, queries);
    let end = clamp(i32(j) - dims.lower, -1, queries - 1) + 1;
    return vec2<u32>(u32(first), u32(max(first, end)));
}
