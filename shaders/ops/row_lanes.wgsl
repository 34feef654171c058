//! The lanes of a workgroup, of which dims.lanes, a power of two, share a row: `lane_at(place)` is a lane's number, `row_of(lane)` which
//! of the workgroup's `rows_at_once()` rows it has, `part_of(lane)` which of the row's lanes it is, and `exchanged(v, step)` the value of
//! the lane whose number differs by the bit `step`, less than SUBGROUP.

fn rows_at_once() -> u32 {
    return LANES >> firstTrailingBit(dims.lanes);
}

fn part_of(lane: u32) -> u32 {
    return lane & (dims.lanes - 1u);
}

//#variant shared
// Subgroups are not used: their size is not known, and lanes exchange values in shared memory.
const SUBGROUP: u32 = 1u;

struct Place {
    @builtin(local_invocation_id) local: vec3<u32>,
}

fn lane_at(place: Place) -> u32 {
    return place.local.x;
}

fn row_of(lane: u32) -> u32 {
    return lane >> firstTrailingBit(dims.lanes);
}

fn exchanged(v: held, step: u32) -> held {
    return v; // never called
}

//#variant subgroups
// Subgroups of a known size. Lanes are numbered by their index in the subgroup, because WGSL does not promise that those of
// a subgroup have neighbouring local indices.
//#param  set by with_subgroups
const SUBGROUP: u32 = 32u;
const ROWS_APART: bool = false; // the rows of a subgroup are as far apart as the workgroup allows
//#end

struct Place {
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) index: u32,
}

fn lane_at(place: Place) -> u32 {
    return place.subgroup * SUBGROUP + place.index;
}

// A processor prefetches in each page of memory that it reads. If the rows of a subgroup are far apart, it reads several pages
// at once.
fn row_of(lane: u32) -> u32 {
    if ROWS_APART && dims.lanes <= SUBGROUP {
        let subgroup_row = (lane % SUBGROUP) >> firstTrailingBit(dims.lanes);
        return subgroup_row * (LANES / SUBGROUP) + lane / SUBGROUP;
    }
    return lane >> firstTrailingBit(dims.lanes);
}

fn exchanged(v: held, step: u32) -> held {
    return subgroupShuffleXor(v, step);
}
