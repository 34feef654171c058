//! The gradient of a softmax or of its logarithm along an axis, from the result Y and its gradient.
//!
//! shapes    A is Y and M its gradient, of up to 6 axes, any strides -> C of their shape, row-major; f32 sums
//! grid      dims.lanes invocations per row, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end are empty, elements past a row's end are not stored: any length >= 1, any rows >= 1

//#import softmax_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by SoftmaxProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias m_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four elements that a lane loads together
const GROUPS: u32 = 4u; // groups that a lane keeps
const LANES: u32 = 256u;
const EVEN: bool = false; // each lane of a row has a multiple of GROUPS groups, all whole
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(2) var<storage, read> m: array<m_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = f32;

//#slot row_of x=a default strided
//#slot row_of x=m default strided
//#slot row_store default strided
//#slot row_lanes default shared
//#slot softmax_gradient default probabilities
//#import across x=rows

fn joined_rows(x: held, y: held) -> held {
    return x + y;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let row = block_index(workgroup, grid) * rows_at_once() + row_of(lane);
    let part = part_of(lane);
    let at = row_start(min(row, dims.rows - 1u), 0u);
    let length = select(0u, dims.strides.w, row < dims.rows); // rows past the end are empty
    let groups = (length + WIDTH - 1u) / WIDTH;
    let four = vec4<u32>(0u, 1u, 2u, 3u);

    var sums = vec4<f32>(0.0);
    var ys: array<array<vec4<f32>, QUADS>, GROUPS>;
    var gradients: array<array<vec4<f32>, QUADS>, GROUPS>;
    for (var first = part; first < groups; first += dims.lanes * GROUPS) {
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            let group = first + g * dims.lanes;
            if EVEN || group < groups {
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    ys[g][k] = row_quad_a(at.y, dims.strides.y, group, k, length);
                    gradients[g][k] = row_quad_m(at.z, dims.strides.z, group, k, length);
                    let terms = term_of(ys[g][k], gradients[g][k]);
                    let is_within = four + 4u * k < vec4<u32>(length - group * WIDTH);
                    sums += select(vec4<f32>(0.0), terms, vec4<bool>(EVEN) | is_within);
                }
            }
        }
    }
    let all = vec4<f32>(across_rows((sums.x + sums.y) + (sums.z + sums.w), lane));
    for (var first = part; first < groups; first += dims.lanes * GROUPS) {
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            let group = first + g * dims.lanes;
            if EVEN || group < groups {
                // A short row is kept as a whole.
                if groups > dims.lanes * GROUPS {
                    //#unroll
                    for (var k = 0u; k < QUADS; k++) {
                        ys[g][k] = row_quad_a(at.y, dims.strides.y, group, k, length);
                        gradients[g][k] = row_quad_m(at.z, dims.strides.z, group, k, length);
                    }
                }
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    ys[g][k] = gradient_of(ys[g][k], gradients[g][k], all);
                }
                store_group(at.x, dims.strides.x, group, select(length - group * WIDTH, WIDTH, EVEN), ys[g]);
            }
        }
    }
}
