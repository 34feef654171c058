//! Finds the first pair of each key among sorted pairs.
//!
//! shapes    `count` sorted pairs of words -> after them, for each key up to `slots`, the number of pairs with smaller keys
//! grid      one invocation per key, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the end return

struct Dims {
    count: u32, // of pairs
    slots: u32,
    reserved: vec2<u32>,
}

//#slot dims default immediate
//#import block

//#param  set by ScatterProblem::starts_kernel
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> sorted: array<u32>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let key = block_index(workgroup, grid) * LANES + lane;
    if key > dims.slots {
        return;
    }
    var low = 0u;
    var high = dims.count;
    while low < high {
        let middle = low + (high - low) / 2u;
        if sorted[2u * middle] < key {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    sorted[2u * dims.count + key] = low;
}
