//! Copies the elements of matrices that lie in a band of diagonals, bit by bit, and writes zeros elsewhere.
//!
//! shapes    A of up to 6 axes, the last two are (rows, columns), any strides -> C of these axes, without gaps from the start of its binding
//! grid      one invocation per four consecutive elements of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive elements
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     the last elements are stored one by one, the rest of C's last word is preserved: any count >= 1

//#slot dims default immediate
//#import places
//#import block

//#param  set by BandProblem::plan_of_one
alias c_unit = vec4<u32>; // the memory of four elements
const PER_WORD: u32 = 1u; // elements of a word
const LANES: u32 = 64u;
//#end
const BITS: u32 = 32u / PER_WORD;
const MASK: u32 = 0xffffffffu >> (32u - BITS);

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> a: array<u32>;

//#slot save_bits x=c

// The bits of the element of an index.
fn element(index: u32) -> u32 {
    let row = index / dims.columns;
    let col = index - row * dims.columns;
    let diagonal = i32(col) - i32(row % dims.rows);
    if diagonal < dims.lowest || diagonal > dims.highest {
        return 0u;
    }
    let place = places(index, 0u, dims.rank, vec3<u32>(dims.a_offset, 0u, 0u)).x;
    return (a[place / PER_WORD] >> (place % PER_WORD * BITS)) & MASK;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let quad = block_index(workgroup, grid) * LANES + lane;
    if quad >= (dims.count + 3u) / 4u {
        return;
    }
    let first = quad * 4u;
    var v: vec4<u32>;
    //#unroll
    for (var i = 0u; i < 4u; i++) {
        // Past the end of C the last element is taken again.
        v[i] = element(min(first + i, dims.count - 1u));
    }
    if first + 4u <= dims.count {
        save_bits_c(quad, v);
    } else {
        save_first_bits_c(quad, dims.count - first, v);
    }
}
