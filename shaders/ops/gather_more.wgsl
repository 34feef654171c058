//! Takes the elements with indices in a further window of A, bit by bit. Other elements of C keep their values.
//!
//! shapes    as gather; A is a window along the axis that is indexed, from index dims.start on
//! grid      one invocation per four consecutive elements of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive elements
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     an index outside the window is skipped; the last elements are stored one by one, the rest of C's last word is preserved

//#import gather_dims
//#slot dims default immediate
//#import block

//#param  set by GatherProblem::kernel
alias c_unit = vec4<u32>;    // the memory of four elements
const PER_WORD: u32 = 1u;    // elements of a word
const LANES: u32 = 64u;
//#end
const BITS: u32 = 32u / PER_WORD;
const MASK: u32 = 0xffffffffu >> (32u - BITS);

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> indices: array<i32>;

//#slot save_bits x=c
//#slot quad_bits x=c

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
    let row = first / length;
    var col = first - row * length;
    var places: array<vec2<u32>, 4>;
    // Past the end of C the last element is taken again.
    var next = row;
    //#unroll
    for (var i = 0u; i < 4u; i++) {
        places[i] = row_place(next) + col * dims.axes.axis0.yz;
        if first + i + 1u < dims.count {
            col += 1u;
            if col == length {
                col = 0u;
                next += 1u;
            }
        }
    }
    var found: vec4<bool>;
    var taken: vec4<u32>;
    //#unroll
    for (var i = 0u; i < 4u; i++) {
        // The difference wraps for an index below the window, and then it is not within.
        let index = bitcast<i32>(bitcast<u32>(indices[places[i].y]) - dims.start);
        found[i] = is_within(index);
        let place = places[i].x + select(0u, u32(index), found[i]) * dims.a_stride;
        taken[i] = (a[place / PER_WORD] >> (place % PER_WORD * BITS)) & MASK;
    }
    if !any(found) {
        return;
    }
    let v = select(quad_bits_c(quad), taken, found);
    if first + 4u <= dims.count {
        save_bits_c(quad, v);
    } else {
        save_first_bits_c(quad, dims.count - first, v);
    }
}
