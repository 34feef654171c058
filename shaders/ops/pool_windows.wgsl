//! Windows along one axis of a pooling: `taps_in(window, sizes, more)` are the elements of a window, and
//! `windows_with(at, sizes, more)` are the windows, from the first to before the second, among which are all that have the element
//! `at`. `sizes` and `more` are the numbers of the axis.

//#variant strided
// Windows at equal distances. `sizes`: elements, windows, taps of a window, distance of windows; `more`: padding before the first
// element, distance of taps, end of the padding, distance from the first tap to the last. Padding has no taps.
fn taps_in(window: u32, sizes: vec4<u32>, more: vec4<u32>) -> Taps {
    let begin = window * sizes.w;
    let skipped = (max(more.x, begin) - begin + more.y - 1u) / more.y;
    let reached = min(sizes.z, (max(sizes.x + more.x, begin) - begin + more.y - 1u) / more.y);
    let first = begin + skipped * more.y - more.x;
    return Taps(first, max(reached, skipped) - skipped, more.y, min(begin + sizes.z, more.z) - begin);
}

fn windows_with(at: u32, sizes: vec4<u32>, more: vec4<u32>) -> vec2<u32> {
    let place = at + more.x;
    return vec2<u32>((max(place, more.w) - more.w + sizes.w - 1u) / sizes.w, min(sizes.y, place / sizes.w + 1u));
}

//#variant adaptive
// Windows that divide the axis into equal parts; a part that ends within an element has all of it. `sizes`: elements, windows, and
// both, divided by their greatest common divisor.
fn taps_in(window: u32, sizes: vec4<u32>, more: vec4<u32>) -> Taps {
    let first = window * sizes.z / sizes.w;
    let count = ((window + 1u) * sizes.z + sizes.w - 1u) / sizes.w - first;
    return Taps(first, count, 1u, count);
}

fn windows_with(at: u32, sizes: vec4<u32>, more: vec4<u32>) -> vec2<u32> {
    return vec2<u32>(at * sizes.w / sizes.z, ((at + 1u) * sizes.w - 1u) / sizes.z + 1u);
}
