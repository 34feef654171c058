//! The keys that a query attends: `range_of(i, count)`, the first key of query i and the one behind its last, of `count` keys.

fn range_of(i: u32, count: u32) -> vec2<u32> {
    let first = clamp(i32(i) + dims.lower, 0, i32(count));
    let end = clamp(i32(i) + dims.upper + 1, 0, i32(count));
    return vec2<u32>(u32(first), u32(max(first, end)));
}
