//! Rotary position embeddings: rotates pairs of elements of each row by the angles of a table, and copies the other elements.
//!
//! shapes    A of 2 to 6 axes, any strides -> C of its shape, contiguous, the other axes in any order; T (2, positions, pairs) in f32
//! grid      one invocation per two groups of WIDTH elements of a row, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive groups
//! requires  nothing
//! edges     invocations past the end return, elements past the end of the pairs or of the row are not stored: any extents >= 1

//#import rotary_dims
//#slot dims default immediate
//#slot rotary_start default number
//#import block
//#slot pack_pair default f16

//#param  set by RotaryProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias t_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four elements that an invocation loads together
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS;
const BOTH: u32 = 2u * QUADS; // quads of two groups

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(2) var<storage, read> t: array<t_unit>;

// Two groups of WIDTH elements of a row.
struct Groups {
    begins: vec2<u32>,  // the element from which each group is counted
    numbers: vec2<u32>, // their numbers, counted from there
    length: u32,        // elements from there on
}

//#slot row_of x=a default strided
//#slot row_of x=t default strided
//#slot row_store default strided
//#slot rotary_pairs default halves

// The two groups of an invocation whose elements are not rotated.
fn groups_of_others(unit: u32) -> Groups {
    let first = 2u * dims.pairs;
    return Groups(vec2<u32>(first), vec2<u32>(2u * unit, 2u * unit + 1u), dims.width - first);
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    if unit >= dims.units {
        return;
    }
    let row = unit / dims.row_units;
    let own = unit - row * dims.row_units;
    let at = row_start(row);
    var groups: Groups;
    if own < dims.pair_units {
        groups = groups_of_pairs(own);
    } else {
        groups = groups_of_others(own - dims.pair_units);
    }
    // If there is no second group, the first is loaded twice.
    let has_second = groups.numbers.y * WIDTH < groups.length;
    let second = select(groups.numbers.x, groups.numbers.y, has_second);
    let places = at.y + groups.begins * dims.a_stride;

    var v: array<vec4<f32>, BOTH>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        v[k] = row_quad_a(places.x, dims.a_stride, groups.numbers.x, k, groups.length);
        v[QUADS + k] = row_quad_a(places.y, dims.a_stride, second, k, groups.length);
    }
    if own < dims.pair_units {
        var cosines: array<vec4<f32>, QUADS>;
        var sines: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            cosines[k] = row_quad_t(at.z, 1u, own, k, dims.pairs);
            sines[k] = row_quad_t(at.z + dims.sines, 1u, own, k, dims.pairs) * dims.sign;
        }
        v = rotated(v, cosines, sines);
    }
    var parts: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        parts[k] = v[k];
    }
    store_group(at.x + groups.begins.x, 1u, groups.numbers.x, groups.length - groups.numbers.x * WIDTH, parts);
    if has_second {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            parts[k] = v[QUADS + k];
        }
        store_group(at.x + groups.begins.y, 1u, second, groups.length - second * WIDTH, parts);
    }
}
