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
const KEPT: u32 = 1u; // of a unit, from the sums on until its results
const PATHS: u32 = 1u;
const BUFFERS: u32 = 1u;
const SUBGROUP: u32 = 8u;
//#end
const_assert LANES % PART == 0u && (PART & (PART - 1u)) == 0u;
const ROWS: u32 = LANES / PART; // at once

//#slot row_operands default sample
//#slot gate default none
//#slot row_memory default parts

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
    let of_row = block - strip * dims.blocks;
    let slot = lane / PART;
    let part = lane % PART;
    //#inline strip_memory
    //#unroll
    for (var u = 0u; u < UNITS; u++) {
        //#inline row_unit
        //#inline strip_begin
    }
    for (var step = 0u; step < dims.steps; step++) {
        let row = (strip * dims.steps + step) * ROWS + slot;
        let at_row = min(row, dims.rows - 1u);
        var own: array<f32, SUMS>;
        var kept: array<lanes, UNITS * KEPT>;
        //#unroll
        for (var u = 0u; u < UNITS; u++) {
            //#inline row_unit
            let is_mine = row < dims.rows && unit < dims.units;
            //#inline row_sums
        }
        //#inline row_totals
        //#unroll
        for (var u = 0u; u < UNITS; u++) {
            //#inline row_unit
            let is_mine = row < dims.rows && unit < dims.units;
            //#inline row_results
        }
    }
    //#unroll
    for (var u = 0u; u < UNITS; u++) {
        //#inline row_unit
        //#inline strip_end
    }
}
