//! The gradient of a softmax, or of its logarithm, along an axis whose elements are far apart.
//!
//! shapes    as softmax_backward
//! grid      dims.parts invocations per WIDTH neighbours, LANES a workgroup; consecutive ones have neighbouring columns
//! subgroup  not used; invocations that share columns combine their values in shared memory
//! requires  nothing
//! edges     rows past the end are empty, columns past a row's end are not stored: any length >= 1, any rows >= 1

//#import softmax_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by SoftmaxProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias m_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four columns that an invocation loads together
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS;
const HELD: u32 = QUADS; // vectors of an invocation's state: the sums of its columns

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(2) var<storage, read> m: array<m_unit>;

//#slot row_of x=a default strided
//#slot row_of x=m default strided
//#slot row_store default strided
//#slot softmax_gradient default probabilities
//#slot column_parts default one

// The joined states of two invocations for the same columns.
fn joined_columns(x: array<vec4<f32>, HELD>, y: array<vec4<f32>, HELD>) -> array<vec4<f32>, HELD> {
    var all: array<vec4<f32>, HELD>;
    //#unroll
    for (var k = 0u; k < HELD; k++) {
        all[k] = x[k] + y[k];
    }
    return all;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let index = block_index(workgroup, grid) * groups_together() + lane % groups_together();
    let part = lane / groups_together();
    let row = index / dims.lanes;
    let group = index - row * dims.lanes;
    let at = row_start(min(row, dims.rows - 1u), 1u);
    let length = select(0u, dims.strides.w, row < dims.rows); // rows past the end are empty
    let columns = dims.axes.axis0.x;

    let rows = rows_of_part(part, length, 1u);
    var own: array<vec4<f32>, HELD>;
    for (var i = rows.x; i < rows.y; i += rows.z) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let y = row_quad_a(at.y + i * dims.strides.y, dims.axes.axis0.z, group, k, columns);
            own[k] += term_of(y, row_quad_m(at.z + i * dims.strides.z, dims.axes.axis0.w, group, k, columns));
        }
    }
    let sums = known_together(own, lane);
    for (var i = rows.x; i < rows.y; i += rows.z) {
        var results: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let y = row_quad_a(at.y + i * dims.strides.y, dims.axes.axis0.z, group, k, columns);
            let g = row_quad_m(at.z + i * dims.strides.z, dims.axes.axis0.w, group, k, columns);
            results[k] = gradient_of(y, g, sums[k]);
        }
        store_group(at.x + i * dims.strides.x, dims.axes.axis0.y, group, columns - group * WIDTH, results);
    }
}
