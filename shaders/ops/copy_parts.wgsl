//! Copies a view into a view of the same shape, bit by bit: elements of 8 or 16 bits that do not form whole words.
//!
//! shapes    A of up to 6 axes, any strides -> C of the same shape, any strides that do not overlap; `shift` moves one of them
//! grid      one invocation per word of C that a row may touch, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive words of a row
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     other elements of a word are kept: only the row's own bits are replaced, atomically

//#import copy_dims
//#slot dims default immediate
//#import block

//#param  set by CopyProblem::kernel
const PER_WORD: u32 = 2u; // elements in a word
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read> a: array<u32>;

//#import own_bits

// The bits of an element of A.
fn element(at: u32) -> u32 {
    return (a[at / PER_WORD] >> (at % PER_WORD * BITS)) & MASK;
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
    let at = places(row, 0u, dims.rank, vec3<u32>(dims.c_offset, dims.a_offset, 0u)).xy + shift();
    let word = at.x / PER_WORD + (index - row * dims.row_units);
    // The elements of the row in this word of C.
    let first = max(word * PER_WORD, at.x);
    let end = min((word + 1u) * PER_WORD, at.x + dims.row);
    if first >= end {
        return;
    }
    var bits = 0u;
    for (var i = first; i < end; i++) {
        bits |= element(at.y + (i - at.x) * dims.a_stride) << (i % PER_WORD * BITS);
    }
    store_elements(word, first, end - first, bits);
}
