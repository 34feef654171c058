//! For each chunk, sums the values of the leading pairs that belong to a slot which begins in an earlier chunk.
//!
//! shapes    values of any strides, sorted pairs -> a row of `columns` sums for each chunk; rows that are not needed stay as they are
//! grid      one invocation per four neighbours of a row along the innermost axis, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the end return, elements past a row's end are not stored

//#import scatter_dims
//#slot dims default immediate
//#import block

//#param  set by ScatterProblem::add_kernel
alias v_unit = f32;
alias sum = f32;
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> parts: array<sum>;
@group(0) @binding(1) var<storage, read> v: array<v_unit>;
@group(0) @binding(2) var<storage, read> sorted: array<u32>;

//#slot load x=v default element
//#slot load_quad x=v default reals

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
    let chunk = unit / dims.slot_units;
    let first = chunk * CHUNK;
    let slot = slot_of(first);
    // The slot itself adds the pairs of the chunk in which they begin. Pairs past the last slot belong to no slot.
    if slot >= dims.slots || start(slot) >= first {
        return;
    }
    let in_slot = unit - chunk * dims.slot_units;
    let row = in_slot / dims.row_units;
    let col = (in_slot - row * dims.row_units) * 4u;
    let count = min(dims.axes.axis0.x - col, 4u);
    let at = places(row, 1u, dims.rank, col * dims.axes.axis0.yzw).y;
    var total: vec4<sum>;
    let end = min(start(slot + 1u), first + CHUNK);
    for (var pair = first; pair < end; pair++) {
        total += load_quad_v(at + value_place(pair), dims.axes.axis0.z, count);
    }
    let to = chunk * dims.columns + row * dims.axes.axis0.x + col;
    parts[to] = total.x;
    if count > 1u { parts[to + 1u] = total.y; }
    if count > 2u { parts[to + 2u] = total.z; }
    if count > 3u { parts[to + 3u] = total.w; }
}
