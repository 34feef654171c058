//! Takes elements by the indices in a tensor along one axis, bit by bit.
//!
//! shapes    A, and indices, of up to 6 axes, any strides -> C of up to 6 axes, without gaps from the start of its binding
//! grid      one invocation per four consecutive elements of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive elements
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     an index out of range gives `missing`; the last elements are stored one by one, the rest of C's last word is preserved

//#import gather_dims
//#slot dims default immediate
//#import block

//#param  set by GatherProblem::kernel
alias c_unit = vec4<u32>;    // the memory of four elements
const PER_WORD: u32 = 1u;    // elements of a word
const WHOLE: bool = true;    // rows are whole quads, or there is only one row
const LANES: u32 = 64u;
//#end
const BITS: u32 = 32u / PER_WORD;
const MASK: u32 = 0xffffffffu >> (32u - BITS);

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> indices: array<i32>;

//#slot save_bits x=c

// The bits of the element of A that the index at `at.y` takes.
fn taken(at: vec2<u32>) -> u32 {
    let index = indices[at.y];
    let place = at.x + select(0u, u32(index), is_within(index)) * dims.a_stride;
    let bits = (a[place / PER_WORD] >> (place % PER_WORD * BITS)) & MASK;
    return select(dims.missing, bits, is_within(index));
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
    let length = dims.axes.axis0.x;
    let strides = dims.axes.axis0.yz;
    var row = first / length;
    var col = first - row * length;
    var begin = row_place(row);
    var v: vec4<u32>;
    // Past the end of C the last element is taken again.
    //#unroll
    for (var i = 0u; i < 4u; i++) {
        if WHOLE {
            v[i] = taken(begin + min(col + i, length - 1u) * strides);
        } else {
            v[i] = taken(begin + col * strides);
            if first + i + 1u < dims.count {
                col += 1u;
                if col == length {
                    col = 0u;
                    row += 1u;
                    begin = row_place(row);
                }
            }
        }
    }
    if first + 4u <= dims.count {
        save_bits_c(quad, v);
    } else {
        save_first_bits_c(quad, dims.count - first, v);
    }
}
