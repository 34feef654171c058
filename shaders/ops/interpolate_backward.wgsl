//! The gradient of an interpolation of images with channels last: each element adds the gradients of the positions that use it.
//!
//! shapes    A (n, new h, new w, channels), any strides -> C (n, h, w, channels), contiguous
//! grid      one invocation per four channels of a position of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive channels
//! requires  nothing
//! edges     channels past the last one are not stored; an element that no position uses gets 0: any extents >= 1

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

// The weight of an element in the position of an index.
fn weight_in(index: u32, at: u32, sizes: vec4<u32>, more: vec4<u32>) -> f32 {
    let sample = sample_of(index, sizes, more);
    let other = select(0.0, sample.weight, sample.second == at);
    return select(other, 1.0 - sample.weight, sample.first == at);
}

// The indices, from the first to before the second, whose positions are less than an element away from the element `at`.
fn indices_near(at: u32, sizes: vec4<u32>, more: vec4<u32>) -> vec2<u32> {
    let low = max((max(at, 1u) - 1u) * sizes.w + more.y, more.x) - more.x;
    let high = max((at + 1u) * sizes.w + more.y, more.x) - more.x;
    // Positions before the first element count as the first element.
    let first = select((low + sizes.z - 1u) / sizes.z, 0u, at < 2u);
    return vec2<u32>(first, min(sizes.y, (high + sizes.z - 1u) / sizes.z));
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
    let at = plane_position(position, dims.height.x, dims.width.x);
    let rows = indices_near(at.y, dims.height, dims.height_more);
    let columns = indices_near(at.z, dims.width, dims.width_more);

    var total = vec4<f32>();
    for (var row = rows.x; row < rows.y; row++) {
        let row_weight = weight_in(row, at.y, dims.height, dims.height_more);
        for (var column = columns.x; column < columns.y; column++) {
            let weight = row_weight * weight_in(column, at.z, dims.width, dims.width_more);
            let g = row_quad_a(plane_start(at.x, row, column), dims.a_strides.w, group, 0u, dims.channels);
            total += select(weight * g, vec4<f32>(), weight == 0.0);
        }
    }
    let left = dims.channels - 4u * group;
    store_group(position * dims.channels, 1u, group, left, array<vec4<sum>, QUADS>(total));
}
