//! Four rows of A at one k of a step: `a_column(held, kk, place)`. Their vector lies at `place` of shared memory; where
//! `A_HELD`, `held` is what this invocation has read of them before the step's products, at the k of its place in its
//! subgroup.

//#variant shared
// From shared memory, when they are needed.
const A_HELD: bool = false;

fn a_column(held: vec4<iteration_sum>, kk: u32, place: u32) -> vec4<iteration_sum> {
    return a_tile[place];
}

//#variant subgroup
// From the invocation of the subgroup that holds them: subgroups of BK invocations, which have the same rows of A.
const A_HELD: bool = true;

fn a_column(held: vec4<iteration_sum>, kk: u32, place: u32) -> vec4<iteration_sum> {
    return subgroupShuffle(held, kk);
}
