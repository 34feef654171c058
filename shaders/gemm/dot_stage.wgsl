//! Operand x of a product of i8, in shared memory: WORDS rows of X_BLOCK words along the outer axis. A word has four elements
//! along k; a vector has four words, and a lane loads one vector at a time. Consecutive lanes load along the axis that is
//! contiguous in memory. Past the outer edge the last elements are read again, as in stage.wgsl.

const X_LD: u32 = X_BLOCK / 4u + 1u; // NOTE: odd, so that rows start in different banks
const X_QUADS: u32 = X_BLOCK / 4u;
const X_SHARE: u32 = X_QUADS * WORDS / LANES; // vectors per lane
const X_LANES_ALONG_K: bool = X_STAGE == STAGE_ELEMENTS_K || X_STAGE == STAGE_WORDS_K;
var<workgroup> x_tile: array<vec4<u32>, STAGES * WORDS * X_LD>;

// The indices of a vector within the block: along the outer axis in elements, along k in words.
fn x_outer_of(vector: u32) -> u32 {
    return select(vector % X_QUADS, vector / WORDS, X_LANES_ALONG_K) * 4u;
}

fn x_word_of(vector: u32) -> u32 {
    return select(vector / X_QUADS, vector % WORDS, X_LANES_ALONG_K);
}

// The element at `at`, in the lowest byte.
fn x_element(at: u32) -> u32 {
    return extractBits(x[at / 4u], (at & 3u) * 8u, 8u);
}

// Four words at `outer` and `k`. There are `within` elements along k before its end.
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

// A vector of the block, with zeros past the end of k.
fn fetch_x(outer0: u32, extent: u32, k0: u32, vector: u32) -> vec4<u32> {
    let k = k0 + x_word_of(vector) * 4u;
    if k >= matrices.k_end {
        return vec4<u32>();
    }
    let within = min(matrices.k_end - k, 4u);
    return x_words(outer0 + x_outer_of(vector), extent, k, within) & vec4<u32>(0xffffffffu >> (32u - 8u * within));
}

fn put_x(vector: u32, stage: u32, words: vec4<u32>) {
    x_tile[(stage * WORDS + x_word_of(vector)) * X_LD + x_outer_of(vector) / 4u] = words;
}
