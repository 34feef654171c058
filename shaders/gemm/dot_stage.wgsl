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
