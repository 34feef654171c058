//! The keys that a query attends, by distance, and the queries that attend a key: `range_of(i, count)`, the first key of query i
//! and the end of its keys, of `count` keys; and `queries_of(j)`.

//#variant fixed
// Distances count from the corner of all keys.
fn range_of(i: u32, count: u32) -> vec2<u32> {
    let first = clamp(i32(i) + dims.lower, 0, i32(count));
    let end = clamp(i32(i) + dims.upper + 1, 0, i32(count));
    return vec2<u32>(u32(first), u32(max(first, end)));
}

// The first query that attends a key, and the end of these queries.
fn queries_of(j: u32) -> vec2<u32> {
    let queries = i32(dims.queries);
    let first = clamp(i32(j) - dims.upper, 0, queries);
    let end = clamp(i32(j) - dims.lower, -1, queries - 1) + 1;
    return vec2<u32>(u32(first), u32(max(first, end)));
}

//#variant moving
// Distances count from the corner of the filled keys: the last query is at the last filled key. An open side stays open, because
// its distance exceeds the number of keys.
fn range_of(i: u32, count: u32) -> vec2<u32> {
    let own = i32(i) + min(i32(count) - i32(dims.keys), 0);
    let first = clamp(own + dims.lower, 0, i32(count));
    let end = clamp(own + dims.upper + 1, 0, i32(count));
    return vec2<u32>(u32(first), u32(max(first, end)));
}
