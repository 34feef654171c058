//! Doubles every word of a tensor of i32, which wraps.
//!
//! shapes    A without gaps -> C like it
//! grid      one invocation per element, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the last element do nothing: any count >= 1

struct Dims {
    count: u32, // elements
}

//#slot dims default immediate
//#import block

//#param  set by DoubleProblem::plan
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<u32>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let at = block_index(workgroup, grid) * LANES + local.x;
    if at < dims.count {
        c[at] = a[at] << 1u;
    }
}
