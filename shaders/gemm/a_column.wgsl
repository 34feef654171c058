//! Four rows of A at one k of an iteration: `a_column(held, kk, place)`. Their vector is at index `place` of shared memory. If
//! `A_HELD`, `held` is the vector that this invocation read before the iteration's products, at the k that equals its lane in
//! the subgroup.

//#variant shared
// Read from shared memory when they are needed.
const A_HELD: bool = false;

fn a_column(held: vec4<iteration_sum>, kk: u32, place: u32) -> vec4<iteration_sum> {
    return a_tile[place];
}

//#variant subgroup
// Shuffled from the invocation that holds them. Subgroups have BK invocations, which all use the same rows of A.
const A_HELD: bool = true;

fn a_column(held: vec4<iteration_sum>, kk: u32, place: u32) -> vec4<iteration_sum> {
    return subgroupShuffle(held, kk);
}
