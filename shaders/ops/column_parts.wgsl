//! Invocations that share columns. Each has HELD vectors of state for a part of its columns; `known_together(own, lane)` joins the
//! states of all parts in a fixed order by `joined_columns`. Every invocation of the workgroup calls it. `groups_together()` groups
//! of columns lie side by side in a workgroup: invocation `lane` has part `lane / groups_together()`. `rows_of_part(part, length,
//! turn)` are the rows of a part of columns of this length, `turn` at a time: the begin, the end, and the step.

//#variant one
// An invocation has whole columns; `dims.parts` is 1.
fn groups_together() -> u32 {
    return LANES;
}

fn rows_of_part(part: u32, length: u32, turn: u32) -> vec3<u32> {
    return vec3<u32>(0u, length, turn);
}

fn known_together(own: array<vec4<f32>, HELD>, lane: u32) -> array<vec4<f32>, HELD> {
    return own;
}

//#variant several
// Invocations have one of `dims.parts` parts of their columns.
//#param  set by SoftmaxProblem::kernel
const RANGES: bool = false; // the rows of a part are neighbours
//#end
var<workgroup> known: array<array<vec4<f32>, HELD>, LANES>;

fn groups_together() -> u32 {
    return LANES / dims.parts;
}

fn rows_of_part(part: u32, length: u32, turn: u32) -> vec3<u32> {
    if RANGES {
        let share = (length + dims.parts * turn - 1u) / (dims.parts * turn) * turn;
        return vec3<u32>(part * share, min(length, (part + 1u) * share), turn);
    }
    return vec3<u32>(part * turn, length, dims.parts * turn);
}

fn known_together(own: array<vec4<f32>, HELD>, lane: u32) -> array<vec4<f32>, HELD> {
    known[lane] = own;
    workgroupBarrier();
    for (var half = dims.parts / 2u; half > 0u; half /= 2u) {
        if lane < half * groups_together() {
            known[lane] = joined_columns(known[lane], known[lane + half * groups_together()]);
        }
        workgroupBarrier();
    }
    return known[lane % groups_together()];
}
