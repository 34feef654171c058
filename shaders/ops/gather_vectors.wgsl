//! Takes rows of whole vectors of 16 bytes by the indices in a tensor.
//!
//! shapes    A of contiguous, aligned rows, and indices of any strides -> C without gaps from the start of its binding
//! grid      one invocation per vector of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive vectors
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     an index out of range gives `missing`; invocations past the end return

//#import gather_dims
//#slot dims default immediate
//#import block

//#param  set by GatherProblem::kernel
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> indices: array<i32>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let vector = block_index(workgroup, grid) * LANES + lane;
    if vector >= dims.count {
        return;
    }
    let row = vector / dims.axes[0].x;
    let at = row_place(row);
    let index = indices[at.y];
    var v = vec4<u32>(dims.missing);
    if is_within(index) {
        v = a[at.x + u32(index) * dims.a_stride + (vector - row * dims.axes[0].x)];
    }
    c[vector] = v;
}
