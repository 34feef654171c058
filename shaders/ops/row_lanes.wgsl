//! The lanes of a workgroup: `lane_at(place)` is a lane's number, and `exchanged(v, step)` the value of the lane whose number differs by
//! the bit `step`, less than SUBGROUP.

//#variant shared
// Subgroups are not used: their size is not known, and lanes exchange values in shared memory.
const SUBGROUP: u32 = 1u;

struct Place {
    @builtin(local_invocation_id) local: vec3<u32>,
}

fn lane_at(place: Place) -> u32 {
    return place.local.x;
}

fn exchanged(v: held, step: u32) -> held {
    return v; // never called
}

//#variant subgroups
// Subgroups of a known size. Lanes are numbered by their places in subgroups, because WGSL does not promise that those of a
// subgroup have neighbouring indices.
//#param  set by with_subgroups
const SUBGROUP: u32 = 32u;
//#end

struct Place {
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) index: u32,
}

fn lane_at(place: Place) -> u32 {
    return place.subgroup * SUBGROUP + place.index;
}

fn exchanged(v: held, step: u32) -> held {
    return subgroupShuffleXor(v, step);
}
