//! Joins the states of the parts of each element of C, from a first step, in a fixed order.
//!
//! shapes    A (rows, length), row-major: parts -> C (rows)
//! grid      dims.lanes invocations per element of C, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end have no parts and are not stored: any length >= 0, any rows >= 1

//#import reduce_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ReduceProblem::kernel
alias c_unit = f32;
alias element = f32; // a loaded element of A, or its bits
alias held = f32; // an invocation's state of its terms
alias sum = f32; // type of results before they are stored
const LANES: u32 = 256u;
//#end

@group(0) @binding(0) var<storage, read> a: array<held>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup

//#slot row_lanes default shared
//#import across x=terms
//#slot reduction default sum
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
    let row = block_index(workgroup, grid) * rows_at_once() + row_of(lane);
    let start = min(row, dims.rows - 1u) * dims.length;
    let length = select(0u, dims.length, row < dims.rows); // rows past the end are empty
    var own = nothing_from(0u);
    for (var i = part_of(lane); i < length; i += dims.lanes) {
        own = joined(own, a[start + i]);
    }
    let all = across_terms(own, lane);
    if part_of(lane) == 0u && row < dims.rows {
        save_c(row, total(all));
    }
}
