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
//#slot row_operands default sample
//#slot row_terms default sample
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
