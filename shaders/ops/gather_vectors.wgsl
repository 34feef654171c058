//! Takes rows of whole vectors of 16 bytes by the indices in a tensor.
//!
//! shapes    A of contiguous, aligned rows, and indices of any strides -> C without gaps from the start of its binding
//! grid      one invocation per VECTORS neighbours of a row of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive vectors
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     an index out of range gives `missing`; invocations past the end return

//#import gather_dims
//#slot dims default immediate
//#import block

//#param  set by GatherProblem::kernel
const VECTORS: u32 = 1u; // of an invocation; rows are multiples of it
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> indices: array<i32>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let first = (block_index(workgroup, grid) * LANES + lane) * VECTORS;
    if first >= dims.count {
        return;
    }
    let row = first / dims.axes.axis0.x;
    let at = row_place(row);
    let index = indices[at.y];
    let place = at.x + select(0u, u32(index), is_within(index)) * dims.a_stride + (first - row * dims.axes.axis0.x);
    var v: array<vec4<u32>, VECTORS>;
    //#unroll
    for (var i = 0u; i < VECTORS; i++) {
        v[i] = select(vec4<u32>(dims.missing), a[place + i], is_within(index));
    }
    //#unroll
    for (var i = 0u; i < VECTORS; i++) {
        c[first + i] = v[i];
    }
}
