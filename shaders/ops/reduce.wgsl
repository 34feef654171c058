//! Reductions along lines, in a fixed order: sums, products, extremes, their places, and variances.
//!
//! shapes    A of up to 6 axes, any strides -> C without some of them, row-major; sums in f32 or i32, extremes as bits
//! grid      dims.lanes invocations per element of C and part, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end have no terms and are not stored: any length >= 0, any rows >= 1

//#import reduce_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ReduceProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias element = f32; // an element of A that was loaded, or its bits
alias held = f32; // what an invocation knows of its terms
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four elements that a lane loads together
const LANES: u32 = 256u;
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup

//#slot row_lanes default shared
//#import across x=terms
//#slot reduction default sum
//#slot line_quad default elements
//#slot reduced default result

fn joined_terms(x: held, y: held) -> held {
    return joined(x, y);
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let member = block_index(workgroup, grid) * (LANES / dims.lanes) + lane / dims.lanes;
    let row = member / dims.parts;
    let part = member - row * dims.parts;
    let at = kept_at(min(row, dims.rows - 1u), 0u);
    let groups = (dims.length + WIDTH - 1u) / WIDTH; // of a line
    let terms = select(0u, groups * dims.lines, row < dims.rows); // rows past the end are empty
    let origin = origin_at(at.y);
    var own = NOTHING;
    for (var i = part * dims.lanes + lane % dims.lanes; i < terms; i += dims.lanes * dims.parts) {
        var group = i;
        var start = at.y;
        if dims.lines > 1u {
            let line = i / groups;
            group = i - line * groups;
            start += line_at(line);
        }
        let left = dims.length - group * WIDTH;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let v = line_quad(start + group * WIDTH * dims.a_stride, dims.a_stride, k, left);
            let is_within = vec4<u32>(0u, 1u, 2u, 3u) + 4u * k < vec4<u32>(left);
            own = joined(own, quad_term(v, is_within, group * WIDTH + 4u * k, origin));
        }
    }
    let all = across_terms(own, lane);
    if lane % dims.lanes == 0u && row < dims.rows {
        store_reduced(at.x, part, all);
    }
}
