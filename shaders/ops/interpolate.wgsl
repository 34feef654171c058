//! Images with channels last in another size: the nearest element, or a weighted mean of the two by two elements around a position.
//!
//! shapes    A (n, h, w, channels), any strides -> C (n, new h, new w, channels), contiguous
//! grid      one invocation per four channels of a position of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive channels
//! requires  nothing
//! edges     channels past the last one are not stored; an element of weight 0 is not used: any extents >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by PlaneProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const LINEAR: bool = true; // else the nearest element
const LANES: u32 = 64u;
//#end
const QUADS: u32 = 1u;
const WIDTH: u32 = 4u; // channels of an invocation

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#slot row_of x=a default strided
//#slot row_store default strided
//#import plane_position
//#import sampled

// Between two elements.
fn between(x: vec4<f32>, y: vec4<f32>, weight: f32) -> vec4<f32> {
    return select(x * (1.0 - weight) + y * weight, x, weight == 0.0);
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
    let position = unit / dims.groups;
    let group = unit - position * dims.groups;
    let at = plane_position(position, dims.height.y, dims.width.y);
    let row = sample_of(at.y, dims.height, dims.height_more);
    let column = sample_of(at.z, dims.width, dims.width_more);

    let stride = dims.a_strides.w;
    let above = plane_start(at.x, row.first, column.first);
    var v = row_quad_a(above, stride, group, 0u, dims.channels);
    if LINEAR {
        let above_right = plane_start(at.x, row.first, column.second);
        let below = plane_start(at.x, row.second, column.first);
        let below_right = plane_start(at.x, row.second, column.second);
        let upper = between(v, row_quad_a(above_right, stride, group, 0u, dims.channels), column.weight);
        let left = row_quad_a(below, stride, group, 0u, dims.channels);
        let right = row_quad_a(below_right, stride, group, 0u, dims.channels);
        v = between(upper, between(left, right, column.weight), row.weight);
    }
    store_group(position * dims.channels, 1u, group, dims.channels - 4u * group, array<vec4<sum>, QUADS>(v));
}
