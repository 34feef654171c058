//! Reads the texels of an image as a tensor of its colours. An earlier copy has written the texels to a buffer.
//!
//! shapes    texels (height, width) in rows of `texel_row` words -> C (height, width, channels), any strides that do not overlap
//! grid      one invocation per word of C that a run of neighbours may touch, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive words of a run
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     other elements of a word are kept: only the run's own bits are replaced, atomically

//#import image_dims
//#slot dims default immediate
//#import block
//#import texels

//#param  set by ImageProblem::kernel
const FORMAT: u32 = RGBA8UNORM;
const TYPE: u32 = F32; // of C, a constant of `numbers`
const PER_WORD: u32 = 1u; // elements of C in a word
const SCALED: bool = false;
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read> texels: array<u32>;
@group(0) @binding(1) var<storage, read_write> c: array<atomic<u32>>;

//#import own_bits

// An element of C, counted row-major, in the lowest bits.
fn element(at: u32) -> u32 {
    let texel = at / dims.channels;
    let channel = at - texel * dims.channels;
    let row = texel / dims.width;
    let pixel = texel - row * dims.width;
    let in_word = channels_in_word(FORMAT);
    let word = texels[row * dims.texel_row + pixel * words_of(FORMAT) + channel / in_word];
    var value = decoded(FORMAT, word, channel % in_word);
    if SCALED { value = bitcast<u32>(bitcast<f32>(value) * dims.scale + dims.shift); }
    return narrowed(TYPE, value) & MASK;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let index = block_index(workgroup, grid) * LANES + lane;
    if index >= dims.units {
        return;
    }
    let run = index / dims.row_units;
    // The run's first element, counted row-major, and its place in C.
    let begin = run * dims.run;
    let texel = begin / dims.channels;
    let row = texel / dims.width;
    let start = element_at(row, texel - row * dims.width, begin - texel * dims.channels);
    let word = start / PER_WORD + (index - run * dims.row_units);
    // The elements of the run in this word of C.
    let first = max(word * PER_WORD, start);
    let end = min((word + 1u) * PER_WORD, start + dims.run);
    if first >= end {
        return;
    }
    var bits = 0u;
    for (var i = first; i < end; i++) {
        bits |= element(begin + (i - start)) << (i % PER_WORD * BITS);
    }
    store_elements(word, first, end - first, bits);
}
