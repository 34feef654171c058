//! Invocations that share columns. Each knows HELD vectors of a part of its columns; `known_together(own, lane)` is what all
//! parts know, joined in a fixed order by `joined_columns`. Every invocation of the workgroup calls it. `groups_together()` groups of
//! columns lie side by side in a workgroup: invocation `lane` has part `lane / groups_together()`.

//#variant one
// An invocation has whole columns; `dims.parts` is 1.
fn groups_together() -> u32 {
    return LANES;
}

fn known_together(own: array<vec4<f32>, HELD>, lane: u32) -> array<vec4<f32>, HELD> {
    return own;
}

//#variant several
// Invocations have every `dims.parts`-th part of their columns.
var<workgroup> known: array<array<vec4<f32>, HELD>, LANES>;

fn groups_together() -> u32 {
    return LANES / dims.parts;
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
