//! Sums of elements or of their squares along one axis, and largest absolute values, in a fixed order.
//!
//! shapes    A of up to 6 axes, any strides -> C without one of them, any strides; sums in f32, absolute values as bits
//! grid      dims.lanes invocations per element of C, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end are empty and not stored: any length >= 0, any rows >= 1

//#import axis
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by AxisProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias held = f32; // type of a lane's value: a sum, or the bits of an absolute value
alias sum = f32; // type of results before they are stored
const LANES: u32 = 256u;
//#end

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup

//#slot row_lanes default shared
//#import across x=terms
//#slot term default sum
//#slot row_terms default elements
//#slot save x=c default element

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
    let row = block_index(workgroup, grid) * (LANES / dims.lanes) + lane / dims.lanes;
    let part = lane % dims.lanes;
    let at = row_at(min(row, dims.rows - 1u));
    let length = select(0u, dims.length, row < dims.rows); // rows past the end are empty
    var own = held(0);
    let groups = (length + WIDTH - 1u) / WIDTH;
    for (var group = part; group < groups; group += dims.lanes) {
        own = joined(own, row_term(at.y, group, length));
    }
    let all = across_terms(own, lane);
    if part == 0u && row < dims.rows {
        save_c(at.x, total(all));
    }
}
