//! The sum of numbers in a fixed order, times a factor: losses of rows or of parts, or the weights of all targets.
//!
//! shapes    count numbers -> one number
//! grid      one workgroup of LANES invocations
//! subgroup  lanes combine their sums, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     each lane adds every LANES-th number: any count >= 0

//#slot dims default immediate
//#import block

//#param  set by total_step
const LANES: u32 = 256u;
//#end

@group(0) @binding(2) var<storage, read_write> total: array<f32>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = f32;

//#slot summands default losses
//#slot row_lanes default shared
//#import across x=sums

fn joined_sums(x: held, y: held) -> held {
    return x + y;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    var own = 0.0;
    for (var i = lane; i < dims.count; i += LANES) {
        own += summand(i);
    }
    let all = across_sums(own, lane);
    if lane == 0u && block_index(workgroup, grid) == 0u {
        total[0] = finished(all);
    }
}
