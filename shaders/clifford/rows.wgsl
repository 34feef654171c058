//! A function of multivectors that combines the features of a row: a product normalised row by row, or its gradients.
//!
//! shapes    X, Y and G (blade, row, feature), any strides; W (feature, path), any strides; results contiguous
//! grid      dims.blocks workgroups per strip of rows; PART lanes share a row, each has UNITS units of WIDTH features
//! subgroup  not used on GPUs, which add the sums of a row in shared memory; software devices add within subgroups first
//! requires  SUMS * LANES numbers in shared memory
//! edges     lanes past the end repeat the last unit or row and add nothing: any rows, any features >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by RowProblem::kernel; these defaults are a legal kernel
alias lanes = f32; // one value per feature of a unit
alias sum = f32; // type of a result before it is stored
const WIDTH: u32 = 1u; // features per unit
const UNITS: u32 = 2u; // units per invocation
const LANES: u32 = 64u;
const PART: u32 = 16u; // lanes of the workgroup that share a row
const SUMS: u32 = 1u; // sums over a row, at least 1
const BUFFERS: u32 = 1u;
const SUBGROUP: u32 = 8u;
//#end
const_assert LANES % PART == 0u && (PART & (PART - 1u)) == 0u;
const ROWS: u32 = LANES / PART; // rows of a workgroup at once

// Adjacent features of a row.
struct Unit {
    index: u32,   // below dims.units if the unit exists
    feature: u32, // the first feature; past the end of a row, that of its last unit
    count: u32,   // features of the unit, at most WIDTH
}

// Unit `u` of lane `part` of a row, in workgroup `row_block` of the row.
fn unit_of(row_block: u32, u: u32, part: u32) -> Unit {
    let index = (row_block * UNITS + u) * PART + part;
    let feature = min(index, dims.units - 1u) * WIDTH;
    return Unit(index, feature, min(dims.features - feature, WIDTH));
}

//#slot gate default none

//#generated operands
// The operands of a function of rows: for each a binding and an alias `x_unit`, with a function `load_x(at)` if it is
// read and `save_x(at, value)` if it is written, where `at` counts elements. They are C; in a product's gradients D
// (the gradient of Y) and `slab`, the sums of weight gradients; `sums`, which one launch passes to the next; X, Y, G
// and the weights W. Plans generate the declarations.

//#generated row_terms
// The computation of a function of rows, which plans generate from the algebra's table. A `Unit` is WIDTH adjacent
// features of a row, with a value of type `lanes`. Features past the end add nothing.
// - `StripState`: the state of a unit over all rows of its strip. WGSL has no empty struct, so an empty state has a
//   member `none`.
// - `strip_begin(unit)` returns the first state, with the weights.
// - `RowState`: the values of a unit that `row_results` needs from `row_sums`.
// - `row_sums(row, unit, is_mine, strip, own)` loads a unit of a row, adds its contribution to the lane's sums `own`,
//   and returns the row state. If `is_mine` is false, `row` and the features belong to another lane: they exist, but
//   nothing is added.
// - `row_results(row, unit, is_mine, strip, kept, total)` stores the unit's results from the sums `total` of the row,
//   and returns the strip's new state. If `is_mine` is false, `row` may be past the end, and nothing is stored.
// - `strip_end(place, unit, strip)` stores the unit's sums over its strip. `place` counts the rows that all workgroups
//   compute at once.
//
//     struct StripState
//     struct RowState
//     fn strip_begin(unit: Unit) -> StripState
//     fn row_sums(row: u32, unit: Unit, is_mine: bool, strip: StripState, own: ptr<function, array<f32, SUMS>>) -> RowState
//     fn row_results(row: u32, unit: Unit, is_mine: bool, strip: StripState, kept: RowState,
//         total: ptr<function, array<f32, SUMS>>) -> StripState
//     fn strip_end(place: u32, unit: Unit, strip: StripState)

//#slot row_totals default shared
//#slot store_totals default none

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let block = block_index(workgroup, grid);
    let strip = block / dims.blocks;
    if strip >= dims.strips {
        return;
    }
    let row_block = block - strip * dims.blocks; // index among the workgroups of a row
    let nth = lane / PART; // index among the ROWS rows at once
    let part = lane % PART; // index among the lanes of the row
    var strip_state: array<StripState, UNITS>;
    //#unroll
    for (var u = 0u; u < UNITS; u++) {
        strip_state[u] = strip_begin(unit_of(row_block, u, part));
    }
    for (var iteration = 0u; iteration < dims.iterations; iteration++) {
        let row = (strip * dims.iterations + iteration) * ROWS + nth;
        let at_row = min(row, dims.rows - 1u);
        var own: array<f32, SUMS>;
        var row_state: array<RowState, UNITS>;
        //#unroll
        for (var u = 0u; u < UNITS; u++) {
            let unit = unit_of(row_block, u, part);
            let is_mine = row < dims.rows && unit.index < dims.units;
            row_state[u] = row_sums(at_row, unit, is_mine, strip_state[u], &own);
        }
        var total: array<f32, SUMS>;
        row_totals(&own, &total, iteration, lane, at_row);
        if part == 0u && row < dims.rows {
            store_totals(row, row_block, &total);
        }
        //#unroll
        for (var u = 0u; u < UNITS; u++) {
            let unit = unit_of(row_block, u, part);
            let is_mine = row < dims.rows && unit.index < dims.units;
            strip_state[u] = row_results(row, unit, is_mine, strip_state[u], row_state[u], &total);
        }
    }
    //#unroll
    for (var u = 0u; u < UNITS; u++) {
        strip_end(strip * ROWS + nth, unit_of(row_block, u, part), strip_state[u]);
    }
}
