//! How the lanes of a workgroup exchange values: `exchanged(v, step)` is the value of the lane whose number differs by the bit
//! `step`, less than SUBGROUP.

//#variant shared
// Subgroups are not used: their size is not known, and lanes exchange values in shared memory.
const SUBGROUP: u32 = 1u;

fn exchanged(v: held, step: u32) -> held {
    return v; // never called
}

//#variant subgroups
// Subgroups of a known size. Their lanes have consecutive indices, because a workgroup has one dimension.
//#param  set by AxisProblem::kernel
const SUBGROUP: u32 = 32u;
//#end

fn exchanged(v: held, step: u32) -> held {
    return subgroupShuffleXor(v, step);
}
