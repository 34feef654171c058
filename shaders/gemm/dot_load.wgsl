//! Words of operand x of a product of i8: `x_words(outer, extent, k, within)` returns four words at `outer` and `k`, one for each
//! index of the outer axis. There are `within` elements along k before its end, and the caller masks those past it.

//#variant memory
// A stored operand.

fn x_words(outer: u32, extent: u32, k: u32, within: u32) -> vec4<u32> {
    // Past the end of k the last elements are read again; the caller masks them.
    let ks = vec4<u32>(k) + min(vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(within - 1u));
    if X_STAGE == STAGE_WORDS_OUTER {
        let at = vec4<u32>(matrices.x_offset + min(outer, (extent - 1u) / 4u * 4u)) + ks * dims.x_k;
        // Words along the outer axis, one for each k, are transposed so that each word holds one row.
        let w = vec4<u32>(x[at.x / 4u], x[at.y / 4u], x[at.z / 4u], x[at.w / 4u]);
        let even = (w.xz & vec2<u32>(0xff00ffu)) | ((w.yw & vec2<u32>(0xff00ffu)) << vec2<u32>(8u));
        let odd = ((w.xz >> vec2<u32>(8u)) & vec2<u32>(0xff00ffu)) | (w.yw & vec2<u32>(0xff00ff00u));
        return vec4<u32>(
            (even.x & 0xffffu) | (even.y << 16u),
            (odd.x & 0xffffu) | (odd.y << 16u),
            (even.x >> 16u) | (even.y & 0xffff0000u),
            (odd.x >> 16u) | (odd.y & 0xffff0000u),
        );
    }
    let rows = min(vec4<u32>(outer) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(extent - 1u));
    let at = vec4<u32>(matrices.x_offset) + rows * dims.x_outer;
    if X_STAGE == STAGE_WORDS_K {
        let first = (at + vec4<u32>(k)) / 4u;
        return vec4<u32>(x[first.x], x[first.y], x[first.z], x[first.w]);
    }
    return vec4<u32>(x_word(at.x, ks), x_word(at.y, ks), x_word(at.z, ks), x_word(at.w, ks));
}

// A word, element by element.
fn x_word(row: u32, ks: vec4<u32>) -> u32 {
    let at = vec4<u32>(row) + ks * dims.x_k;
    return x_element(at.x) | (x_element(at.y) << 8u) | (x_element(at.z) << 16u) | (x_element(at.w) << 24u);
}

//#variant windows
// Operand A whose rows are windows of an image: words of four channels, or elements.
fn window_word(row: u32, k: u32) -> u32 {
    var element = window_element(k);
    if X_STAGE == STAGE_WORDS_K {
        // A window consists of whole words.
        let place = window_place(row, element);
        return select(0u, x[place.at / 4u], place.is_inside);
    }
    var word = 0u;
    for (var e = 0u; e < 4u; e++) {
        let place = window_place(row, element);
        word |= select(0u, x_element(place.at), place.is_inside) << (e * 8u);
        element = next_window_element(element);
    }
    return word;
}

fn x_words(outer: u32, extent: u32, k: u32, within: u32) -> vec4<u32> {
    return vec4<u32>(
        window_word(outer, k),
        window_word(outer + 1u, k),
        window_word(outer + 2u, k),
        window_word(outer + 3u, k),
    );
}
