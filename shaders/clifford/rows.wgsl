//! A function of multivectors in which the features of a row meet: a product that is normalised row by row, or its gradients.
//!
//! shapes    X, Y and G (blade, row, feature), any strides; W (feature, path), any strides; results without gaps
//! grid      dims.blocks workgroups per strip of rows; PART lanes have a row, UNITS units of WIDTH features each
//! subgroup  not used by GPUs: lanes of a row meet in shared memory; those of software devices add within subgroups
//! requires  SUMS * LANES numbers in shared memory
//! edges     lanes past the end repeat the last unit or row and count for nothing: any rows, any features >= 1

struct Dims {
    x: vec4<u32>,  // strides from blade to blade, row to row, feature to feature; and the first element
    y: vec4<u32>,
    g: vec4<u32>,
    w: vec4<u32>,  // strides from path to path and feature to feature; and the first element
    rows: u32,
    features: u32,
    plane: u32,    // elements of a blade in a result
    units: u32,    // of a row: WIDTH features each
    steps: u32,    // rows that a lane goes through
    strips: u32,
    blocks: u32,   // workgroups that a row is cut into
    parts: u32,    // and those that its sums, which were found before, are cut into
}

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by RowProblem::kernel; these defaults are a legal kernel
alias lanes = f32; // the features of a unit
alias sum = f32; // what is stored, before it is
const WIDTH: u32 = 1u; // how many
const UNITS: u32 = 2u; // of an invocation
const LANES: u32 = 64u;
const PART: u32 = 16u;
const SUMS: u32 = 1u; // numbers that the lanes of a row sum, or 1
const BUFFERS: u32 = 1u;
const SUBGROUP: u32 = 8u;
//#end
const_assert LANES % PART == 0u && (PART & (PART - 1u)) == 0u;
const ROWS: u32 = LANES / PART; // at once

// Features side by side, which a lane has of each of its rows.
struct Unit {
    index: u32,   // below dims.units if there is such a unit
    feature: u32, // the first; past the end of a row that of its last unit
    count: u32,   // features from there on, at most WIDTH
}

// The unit `u` of a lane, which is the lane `part` of those that have a row in the workgroup `of_row` of the row's.
fn unit_of(of_row: u32, u: u32, part: u32) -> Unit {
    let index = (of_row * UNITS + u) * PART + part;
    let feature = min(index, dims.units - 1u) * WIDTH;
    return Unit(index, feature, min(dims.features - feature, WIDTH));
}

//#slot gate default none

//#made operands
// The operands of a function of rows: a binding and its `x_unit` for each, with `load_x(at)` of those that are read and
// `save_x(at, value)` of those that are written, where `at` counts elements. C, and of a product's gradients D (those of Y)
// and the sums `slab` of weight gradients; `sums` between two launches; X, Y, G and the weights W. Plans make the
// declarations.

// X and C, of f32, which stand here for them.
//#param
alias c_unit = f32;
alias x_unit = f32;
//#end
@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> x: array<x_unit>;

//#slot load x=x default element
//#slot save x=c default element
//#end

//#made row_terms
// What a function of rows computes, which plans make from an algebra's table. A `Unit` is WIDTH features of a row side by
// side, whose numbers are `lanes`; what is past the end counts for nothing.
// - `StripState`: what a unit keeps through all rows of its strip. WGSL has no empty struct: what keeps nothing has `none`.
// - `strip_begin(unit)` is its first, with the weights.
// - `RowState`: what a unit keeps of a row from its sums to its results.
// - `row_sums(row, unit, is_mine, strip, own)` loads a unit of a row, adds what it has to the lane's own sums of the row,
//   and returns what the results need of it. `row` and the unit's features are there even where `is_mine` is false: then
//   they are another lane's, and nothing is added.
// - `row_results(row, unit, is_mine, strip, kept, total)` stores the unit's results by the sums `total` of the row, and
//   returns the strip's new state. Where `is_mine` is false, `row` may be past the end, and nothing is stored.
// - `strip_end(place, unit, strip)` stores what the unit summed over its strip, as that of the row `place` of those that
//   all workgroups have at once.

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
//#end

//#slot row_totals default shared
//#slot store_totals default none

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = block_index(workgroup, grid);
    let strip = block / dims.blocks;
    if strip >= dims.strips {
        return;
    }
    let of_row = block - strip * dims.blocks; // of the workgroups that have a row
    let nth = lane / PART; // of the ROWS rows at once
    let part = lane % PART; // of the lanes that have it
    var strip_state: array<StripState, UNITS>;
    //#unroll
    for (var u = 0u; u < UNITS; u++) {
        strip_state[u] = strip_begin(unit_of(of_row, u, part));
    }
    for (var step = 0u; step < dims.steps; step++) {
        let row = (strip * dims.steps + step) * ROWS + nth;
        let at_row = min(row, dims.rows - 1u);
        var own: array<f32, SUMS>;
        var row_state: array<RowState, UNITS>;
        //#unroll
        for (var u = 0u; u < UNITS; u++) {
            let unit = unit_of(of_row, u, part);
            let is_mine = row < dims.rows && unit.index < dims.units;
            row_state[u] = row_sums(at_row, unit, is_mine, strip_state[u], &own);
        }
        var total: array<f32, SUMS>;
        row_totals(&own, &total, step, lane, at_row);
        if part == 0u && row < dims.rows {
            store_totals(row, of_row, &total);
        }
        //#unroll
        for (var u = 0u; u < UNITS; u++) {
            let unit = unit_of(of_row, u, part);
            let is_mine = row < dims.rows && unit.index < dims.units;
            strip_state[u] = row_results(row, unit, is_mine, strip_state[u], row_state[u], &total);
        }
    }
    //#unroll
    for (var u = 0u; u < UNITS; u++) {
        strip_end(strip * ROWS + nth, unit_of(of_row, u, part), strip_state[u]);
    }
}
