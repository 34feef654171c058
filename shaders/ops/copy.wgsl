//! Copies a view into a view of the same shape, bit by bit, in units of 4, 8 or 16 bytes.
//!
//! shapes    A of up to 6 axes, any strides -> C of the same shape, any strides that do not overlap; `shift` moves one of them
//! grid      one invocation per unit, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive units of a row
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     invocations past the end return: any extents >= 1; nothing but the units of C is written

//#import copy_dims
//#slot dims default immediate
//#import block

//#param  set by CopyProblem::kernel
alias unit = vec4<u32>; // memory that is moved together
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<unit>;
@group(0) @binding(1) var<storage, read> a: array<unit>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let index = block_index(workgroup, grid) * LANES + lane;
    if index >= dims.units {
        return;
    }
    let row = index / dims.row_units;
    let col = index - row * dims.row_units;
    let at = places(row, 0u, dims.rank, vec3<u32>(dims.c_offset, dims.a_offset, 0u)).xy + shift();
    c[at.x + col * dims.c_stride] = a[at.y + col * dims.a_stride];
}
