//! Adds the values of each slot's pairs, in their order, to the slot in C, or to 0.
//!
//! shapes    values of any strides, sorted pairs -> C of up to 6 axes, any strides that do not overlap
//! grid      one invocation per four neighbours of C along the innermost axis, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the end return, elements past a row's end are not stored: any extents >= 1

//#import scatter_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ScatterProblem::add_kernel
alias c_unit = f32;
alias v_unit = f32;
alias sum = f32;
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> v: array<v_unit>;
@group(0) @binding(2) var<storage, read> sorted: array<u32>;
@group(0) @binding(3) var<storage, read> parts: array<sum>;

//#slot load x=v default element
//#slot load_quad x=v default reals
//#slot previous default none
//#slot store_quad default elements

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
    let slot = unit / dims.slot_units;
    let row = unit / dims.row_units;
    let col = (unit - row * dims.row_units) * 4u;
    let count = min(dims.axes.axis0.x - col, 4u);
    let at = places(row, 1u, dims.rank, vec3<u32>(dims.c_offset, 0u, 0u) + col * dims.axes.axis0.yzw);
    let begin = start(slot);
    let end = start(slot + 1u);
    var total: vec4<sum>;
    let next = (begin / CHUNK + 1u) * CHUNK; // the first pair of the next chunk
    for (var pair = begin; pair < min(end, next); pair++) {
        total += load_quad_v(at.y + value_place(pair), dims.axes.axis0.z, count);
    }
    // The sums of the pairs in later chunks.
    var next_part = next / CHUNK * dims.columns + row * dims.axes.axis0.x + col - slot * dims.columns;
    for (var pair = next; pair < end; pair += CHUNK) {
        var part = vec4<sum>(parts[next_part]);
        if count > 1u { part.y = parts[next_part + 1u]; }
        if count > 2u { part.z = parts[next_part + 2u]; }
        if count > 3u { part.w = parts[next_part + 3u]; }
        total += part;
        next_part += dims.columns;
    }
    store_quad(at.x, dims.axes.axis0.y, count, previous(at.x, dims.axes.axis0.y, count) + total);
}
