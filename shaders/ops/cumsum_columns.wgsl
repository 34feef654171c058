//! Cumulative sums along an axis whose elements are far apart, in a fixed order. Each invocation has neighbouring columns.
//!
//! shapes    as cumsum
//! grid      one invocation per WIDTH neighbours and part, LANES a workgroup; consecutive ones have neighbouring columns
//! subgroup  not used
//! requires  nothing
//! edges     rows past the end are empty, columns past a row's end are not stored: any length >= 1, any rows >= 1

//#import cumsum_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by CumsumProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four columns that an invocation loads together
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#slot row_of x=a default strided
//#slot cumsum_output default whole

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let index = block_index(workgroup, grid) * LANES + lane;
    let member = index / dims.lanes;
    let group = index - member * dims.lanes;
    let row = member / dims.parts;
    let part = member - row * dims.parts;
    let at = row_start(min(row, dims.rows - 1u), 1u);
    let columns = dims.axes.axis0.x;
    let left = columns - group * WIDTH;
    let end = select(0u, min(dims.strides.w, (part + 1u) * dims.chunk), row < dims.rows); // rows past the end are empty
    let sums_at = at.z + group * WIDTH * dims.axes.axis0.w;

    var running: array<vec4<f32>, QUADS>;
    if row < dims.rows {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            //#unroll
            for (var j = 0u; j < 4u; j++) {
                if 4u * k + j < left { running[k][j] = sum_before(sums_at + (4u * k + j) * dims.axes.axis0.w, part); }
            }
        }
    }
    for (var i = part * dims.chunk; i < end; i++) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            running[k] += row_quad_a(at.y + i * dims.strides.y, dims.axes.axis0.z, group, k, columns);
        }
        emit_group(at.x + i * dims.strides.x, dims.axes.axis0.y, group, left, running);
    }
    if row < dims.rows {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            //#unroll
            for (var j = 0u; j < 4u; j++) {
                if 4u * k + j < left { emit_total(sums_at + (4u * k + j) * dims.axes.axis0.w, part, running[k][j]); }
            }
        }
    }
}
