//! Writes a tensor of colours as the texels of an image, to a buffer. A later copy moves them to the texture.
//!
//! shapes    A (height, width, channels), any strides -> texels (height, width) in rows of `texel_row` words
//! grid      one invocation per word of a texel, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive words of a row
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     invocations past the end return; channels that A lacks are 1; the ends of rows are not written

//#import image_dims
//#slot dims default immediate
//#import block
//#import texels

//#param  set by ImageProblem::kernel
const FORMAT: u32 = RGBA8UNORM;
const TYPE: u32 = F32; // of A, a constant of `numbers`
const PER_WORD: u32 = 1u; // elements of A in a word
const SCALED: bool = false;
const LANES: u32 = 64u;
//#end
const BITS: u32 = 32u / PER_WORD;
const MASK: u32 = 0xffffffffu >> (32u - BITS);

@group(0) @binding(0) var<storage, read_write> texels: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<u32>;

// The bits of the f32 of a channel.
fn colour(row: u32, pixel: u32, channel: u32) -> u32 {
    if channel >= dims.channels {
        return 0x3f800000u;
    }
    let at = element_at(row, pixel, channel);
    let value = widened(TYPE, (a[at / PER_WORD] >> (at % PER_WORD * BITS)) & MASK);
    if SCALED { return bitcast<u32>((bitcast<f32>(value) - dims.shift) * dims.scale); }
    return value;
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
    let row = index / dims.row_units;
    let word = index - row * dims.row_units;
    let pixel = word / words_of(FORMAT);
    let in_word = channels_in_word(FORMAT);
    let first = word % words_of(FORMAT) * in_word;
    var bits = 0u;
    for (var i = 0u; i < in_word; i++) {
        bits |= encoded(FORMAT, colour(row, pixel, first + i), i);
    }
    texels[row * dims.texel_row + word] = bits;
}
