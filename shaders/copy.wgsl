//! Copies a view element by element into a tensor without gaps, converting its type.
//!
//! shapes    A of up to 6 axes, any strides -> C of the same shape, row-major from the start of its binding
//! grid      one invocation per element of C (per pair of f16 where shaders know no f16), LANES a workgroup
//! subgroup  not used; consecutive invocations write consecutive elements
//! requires  nothing
//! edges     invocations past the end leave: any count >= 1

// Axes are outermost first; missing ones have extent 1.
struct Dims {
    extents: vec4<u32>, // of axes 2 to 5; those of axes 0 and 1 are not needed: the last quotient is axis 0's index
    strides: vec4<u32>, // of axes 2 to 5, in elements
    extent1: u32,
    stride0: u32,
    stride1: u32,
    a_offset: u32, // first element of A in its binding
    count: u32,    // elements
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}

//#import dims
//#import block
//#import pack_pair

//#param  set by CopyProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#import load_x x=a

fn element(at: u32) -> f32 {
    var rest = at;
    var index = dims.a_offset;
    index += rest % dims.extents.w * dims.strides.w;
    rest /= dims.extents.w;
    index += rest % dims.extents.z * dims.strides.z;
    rest /= dims.extents.z;
    index += rest % dims.extents.y * dims.strides.y;
    rest /= dims.extents.y;
    index += rest % dims.extents.x * dims.strides.x;
    rest /= dims.extents.x;
    index += rest % dims.extent1 * dims.stride1 + rest / dims.extent1 * dims.stride0;
    return load_a(index);
}

//#import copy_unit

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = block_index(workgroup, grid) * LANES + lane;
    if unit < units() {
        copy_unit(unit);
    }
}
