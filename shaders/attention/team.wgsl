//! The invocations that share a row, `team_size()` neighbours: `lane_at(place)` is an invocation's number in its workgroup, and
//! `summed(v, lane)` the sum of v over those that share its row, in a fixed order. Every invocation of the workgroup calls it.

//#variant alone
// Each invocation has a row; dims.lanes is 1.
struct Place {
    @builtin(local_invocation_id) local: vec3<u32>,
}

fn team_size() -> u32 {
    return 1u;
}

fn lane_at(place: Place) -> u32 {
    return place.local.x;
}

fn summed(v: vec4<f32>, lane: u32) -> vec4<f32> {
    return v;
}

//#variant subgroups
// They are in one subgroup. Invocations are numbered by their index in the subgroup, because WGSL does not promise that those of
// a subgroup have neighbouring local indices.
//#param  set by AttentionProblem::kernel
const SUBGROUP: u32 = 32u;
//#end

struct Place {
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) index: u32,
}

fn team_size() -> u32 {
    return dims.lanes;
}

fn lane_at(place: Place) -> u32 {
    return place.subgroup * SUBGROUP + place.index;
}

fn summed(v: vec4<f32>, lane: u32) -> vec4<f32> {
    var all = v;
    for (var step = 1u; step < dims.lanes; step *= 2u) {
        all += subgroupShuffleXor(all, step);
    }
    return all;
}

//#variant shared
// They exchange values in shared memory.
var<workgroup> shares: array<vec4<f32>, LANES>;

struct Place {
    @builtin(local_invocation_id) local: vec3<u32>,
}

fn team_size() -> u32 {
    return dims.lanes;
}

fn lane_at(place: Place) -> u32 {
    return place.local.x;
}

fn summed(v: vec4<f32>, lane: u32) -> vec4<f32> {
    shares[lane] = v;
    workgroupBarrier();
    var all = v;
    for (var step = 1u; step < dims.lanes; step *= 2u) {
        all += shares[lane ^ step];
        workgroupBarrier();
        shares[lane] = all;
        workgroupBarrier();
    }
    return all;
}
