//! Sorts blocks of LANES indices, stably. A pair has a key (the slot that the index names) and an offset in the values.
//!
//! shapes    indices of up to 6 axes, any strides -> pairs in runs of LANES; the last run may be shorter
//! grid      one invocation per index, LANES a workgroup: one run
//! subgroup  not used
//! requires  nothing
//! edges     an index out of range, or the skipped one, has the key `slots`, which is larger than all others

//#import places

//#slot dims default immediate
//#import block

//#param  set by ScatterProblem::sort_kernel
const LANES: u32 = 256u;
//#end

@group(0) @binding(0) var<storage, read_write> pairs: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> indices: array<i32>;

var<workgroup> keys: array<u32, LANES>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let first = block_index(workgroup, grid) * LANES;
    // A grid may have workgroups past the end.
    let at = min(first + lane, dims.count - 1u);
    let row = at / dims.axes.axis0.x;
    let col = at - row * dims.axes.axis0.x;
    let place = places(row, 1u, dims.rank, vec3<u32>(dims.index_offset, 0u, dims.value_offset) + col * dims.axes.axis0.yzw);
    let index = indices[place.x];
    var key = dims.slots;
    if index >= 0 && u32(index) < dims.extent && u32(index) != dims.skipped {
        key = place.y + u32(index) * dims.key_stride;
    }
    keys[lane] = key;
    workgroupBarrier();
    if first + lane >= dims.count {
        return;
    }
    // The number of keys before this one; equal keys of earlier indices come first.
    var rank = 0u;
    let end = min(dims.count - first, LANES);
    for (var i = 0u; i < end; i++) {
        let is_before = keys[i] < key || (keys[i] == key && i < lane);
        rank += select(0u, 1u, is_before);
    }
    pairs[first + rank] = vec2<u32>(key, place.z);
}
