//! The blocks of a row: GROUPS groups, `step` apart, that an invocation loads together. `followed_by_blocks(terms, i, end, step,
//! first, origin)` is the state of some terms, joined with the blocks from group *i on that end before group `end`; it moves *i
//! past them.

//#variant terms
// One group follows another.
fn followed_by_blocks(terms: held, i: ptr<function, u32>, end: u32, step: u32, first: u32, origin: element) -> held {
    var all = terms;
    for (; *i + (GROUPS - 1u) * step < end; *i += GROUPS * step) {
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            all = followed_by_group(all, *i + g * step, first, origin);
        }
    }
    return all;
}

//#variant search
// Finds the block with the largest key (the first one of several), then the index in it. The largest key of a block is that of its
// largest or smallest element as signed integers, or of its largest as unsigned ones.
fn followed_by_blocks(terms: held, i: ptr<function, u32>, end: u32, step: u32, first: u32, origin: element) -> held {
    let start = *i;
    var found = start;
    var best = LOWEST_KEY;
    for (; *i + (GROUPS - 1u) * step < end; *i += GROUPS * step) {
        var largest = vec4<i32>(-2147483647 - 1);
        var smallest = vec4<i32>(2147483647);
        var top = vec4<u32>(0u);
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            let at = group_at(*i + g * step, first).x;
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                let bits = line_quad(at, dims.a_stride, k, WIDTH) << vec4<u32>(UNUSED_BITS);
                largest = max(largest, bitcast<vec4<i32>>(bits));
                smallest = min(smallest, bitcast<vec4<i32>>(bits));
                top = max(top, bits);
            }
        }
        let most = vec4<u32>(
            bitcast<u32>(max(max(largest.x, largest.y), max(largest.z, largest.w))),
            bitcast<u32>(min(min(smallest.x, smallest.y), min(smallest.z, smallest.w))),
            max(max(top.x, top.y), max(top.z, top.w)),
            top.x,
        );
        let keys = keys_of(most >> vec4<u32>(UNUSED_BITS));
        let key = max(max(keys.x, keys.y), keys.z);
        found = select(found, *i, key > best);
        best = max(best, key);
    }
    if *i == start {
        return terms;
    }
    var all = terms;
    //#unroll
    for (var g = 0u; g < GROUPS; g++) {
        all = followed_by_group(all, found + g * step, first, origin);
    }
    return all;
}
