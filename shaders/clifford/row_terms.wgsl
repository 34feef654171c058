//! What a function of rows computes: text that plans make from an algebra's table, for `main` of `clifford/rows`.
//!
//! A `Unit` is WIDTH features of a row side by side, whose numbers are `lanes`; what is past the end counts for nothing.
//! - `StripState`: what a unit keeps through all rows of its strip. WGSL has no empty struct: what keeps nothing has `none`.
//! - `strip_begin(unit)` is its first, with the weights.
//! - `RowState`: what a unit keeps of a row from its sums to its results.
//! - `row_sums(row, unit, is_mine, strip, own)` loads a unit of a row, adds what it has to the lane's own sums of the row,
//!   and returns what the results need of it. `row` and the unit's features are there even where `is_mine` is false: then
//!   they are another lane's, and nothing is added.
//! - `row_results(row, unit, is_mine, strip, kept, total)` stores the unit's results by the sums `total` of the row, and
//!   returns the strip's new state. Where `is_mine` is false, `row` may be past the end, and nothing is stored.
//! - `strip_end(place, unit, strip)` stores what the unit summed over its strip, as that of the row `place` of those that
//!   all workgroups have at once.

//#variant sample
// Each feature over the root mean square of its row: the norm of scalars, which stands here for what plans make.
struct StripState {
    none: u32,
}

struct RowState {
    x_1: lanes,
}

fn strip_begin(unit: Unit) -> StripState {
    return StripState();
}

fn row_sums(
    row: u32,
    unit: Unit,
    is_mine: bool,
    strip: StripState,
    own: ptr<function, array<f32, SUMS>>,
) -> RowState {
    let x_1 = load_x(dims.x.w + row * dims.x.y + unit.feature * dims.x.z);
    (*own)[0] += select(0.0, x_1 * x_1, is_mine);
    return RowState(x_1);
}

fn row_results(
    row: u32,
    unit: Unit,
    is_mine: bool,
    strip: StripState,
    kept: RowState,
    total: ptr<function, array<f32, SUMS>>,
) -> StripState {
    if is_mine {
        save_c(row * dims.features + unit.feature, kept.x_1 / sqrt((*total)[0] / f32(dims.features) + 1e-6));
    }
    return strip;
}

fn strip_end(place: u32, unit: Unit, strip: StripState) {
}
