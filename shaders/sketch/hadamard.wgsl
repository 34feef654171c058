//! One pass of a fast Walsh-Hadamard transform along an axis: the levels of a run of bits of the index along it.
//!
//! shapes    A and C of 2^bits rows and any columns and batches, any strides; the first and the last pass may have fewer
//! grid      BESIDE lines a workgroup, columns of sets of rows; a set is the ROWS rows that differ in these bits alone
//! subgroup  not used; neighbours run along the columns, then along the rows that no set has two of
//! requires  LANES invocations, and their elements in shared memory if there is more than one stage
//! edges     rows past the end are zero on load and guarded on store: any rows >= 1, columns >= 1, batches >= 1

struct Dims {
    undo: array<vec4<u32>, 2>, // of the order of rows, the last round first: factors and summands
    rows_in: u32,              // of the operand; of its axis as it is padded, there are 2^bits
    rows_out: u32,             // of the result
    x_offset: u32,             // elements before the first of the operand, and its strides
    x_row: u32,
    x_column: u32,
    x_batch0: u32,
    x_batch1: u32,
    y_offset: u32, // of the result
    y_row: u32,
    y_column: u32,
    y_batch0: u32,
    y_batch1: u32,
    columns: u32,
    batch0: u32, // extent of the inner axis of batches
    batches: u32,
    low_bits: u32, // of the index, below those of the pass
    bits: u32,     // of the index
    shift: u32,    // of the order of rows
    scale: f32,
    seed_low: u32,
    seed_high: u32,
    tag: u32, // the last word of the signs' counter
    column_lanes: u32, // side by side, the others have other sets; a power of two, at most BESIDE
    folded_bits: u32,  // low_bits, if columns are those of all rows below the pass's bits, one behind another; or 0
}

//#slot dims default immediate
//#import block

//#param  set by HadamardPass::kernel; these defaults are a legal tile
const RADIX: u32 = 4u;         // rows that a lane holds between two barriers
const RADIX_BITS: u32 = 2u;    // the binary logarithm of that
const FIRST: u32 = 4u;         // rows that the first stage transforms together: RADIX, or less
const FIRST_BITS: u32 = 2u;    // the binary logarithm of that
const STAGES: u32 = 1u;        // with a barrier between two; all but the first are of RADIX rows
const BESIDE: u32 = 64u;       // lines of a workgroup: columns times sets
const WIDE: u32 = 0u;          // 1: all are columns of one set, and not folded; 0: the dims say
//#end
const_assert FIRST == 1u << FIRST_BITS && RADIX == 1u << RADIX_BITS && (STAGES > 1u || FIRST == RADIX);

const ROW_BITS: u32 = FIRST_BITS + RADIX_BITS * (STAGES - 1u);
const ROWS: u32 = 1u << ROW_BITS;
const ROW_LANES: u32 = ROWS / RADIX;
const LANES: u32 = BESIDE * ROW_LANES;

// The place at which an operator has a row of the Hadamard matrix (`src/sketch/hadamard/rows.rs`).
fn place_of(row: u32) -> u32 {
    let mask = (1u << dims.bits) - 1u;
    var x = ((row - dims.undo[0].y) * dims.undo[0].x) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - dims.undo[0].w) * dims.undo[0].z) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - dims.undo[1].y) * dims.undo[1].x) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - dims.undo[1].w) * dims.undo[1].z) & mask; // wraps: numbers modulo 2^bits
    return x ^ (x >> dims.shift);
}

//#slot hadamard_operands default apart
//#slot hadamard_signs default made
//#slot hadamard_read default plain
//#slot hadamard_write default plain

// What stages exchange; the lines below let it be small where there is only one.
var<workgroup> tile: array<f32, TILE>;
const TILE: u32 = 1u + min(STAGES - 1u, 1u) * (LANES * RADIX - 1u);

// Where the row of a set is in the tile. NOTE: the lower bits of the index, which choose the bank, with others, as the rows
// of a lane and its neighbours are powers of two apart.
fn tile_at(set_lane: u32, row: u32, column_lanes: u32, column_lane: u32) -> u32 {
    let at = (set_lane * ROWS + row) * column_lanes + column_lane;
    return at ^ (at / 32u % 32u);
}

// The first row of a lane whose rows are `stride` apart.
fn first_row(part: u32, stride: u32) -> u32 {
    return part / stride * (stride * RADIX) + part % stride;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    var column_lanes = BESIDE;
    var folded_bits = 0u;
    if WIDE == 0u {
        column_lanes = dims.column_lanes;
        folded_bits = dims.folded_bits;
    }
    let columns = dims.columns << folded_bits;
    let set_bits = dims.bits - ROW_BITS - folded_bits;
    let sets = dims.batches << set_bits;
    let set_lanes = BESIDE / column_lanes;
    let across = (columns + column_lanes - 1u) / column_lanes;
    let index = block_index(workgroup, grid);
    if index >= across * ((sets + set_lanes - 1u) / set_lanes) {
        return;
    }
    let column0 = index % across * column_lanes;
    let set0 = index / across * set_lanes;
    // NOTE: one lane in 1 is the first: what is the same for all lanes is computed once where compilers see that.
    var part = 0u;
    if ROW_LANES > 1u {
        part = lane / column_lanes % ROW_LANES;
    }
    var set_lane = 0u;
    if WIDE == 0u {
        set_lane = lane / (column_lanes * ROW_LANES);
    }
    let column_lane = lane % column_lanes;
    let is_inside = column0 + column_lane < columns && set0 + set_lane < sets;
    let folded = min(column0 + column_lane, columns - 1u);
    let set_index = min(set0 + set_lane, sets - 1u);
    let batch = set_index >> set_bits;
    let within = set_index & ((1u << set_bits) - 1u);
    let within0 = set0 & ((1u << set_bits) - 1u);

    // The rows of a set are those with the same bits above and below the pass's.
    var column = folded;
    var low = within & ((1u << dims.low_bits) - 1u);
    var low0 = within0 & ((1u << dims.low_bits) - 1u);
    var high = within >> dims.low_bits;
    var high0 = within0 >> dims.low_bits;
    if WIDE == 0u && folded_bits > 0u {
        low = folded / dims.columns;
        low0 = column0 / dims.columns;
        column = folded - low * dims.columns;
        high = within;
        high0 = within0;
    }
    let row0 = (high << (dims.low_bits + ROW_BITS)) + low;
    make_signs(high0 << (dims.low_bits + ROW_BITS), low0, lane);

    let outer = batch / dims.batch0;
    let inner = batch - outer * dims.batch0;
    let x0 = dims.x_offset + column * dims.x_column + inner * dims.x_batch0 + outer * dims.x_batch1;
    let y0 = dims.y_offset + column * dims.y_column + inner * dims.y_batch0 + outer * dims.y_batch1;

    var v: array<f32, RADIX>;
    //#unroll
    for (var i = 0u; i < RADIX; i++) {
        v[i] = read_row(x0, row0 + ((part * RADIX) << dims.low_bits), 1u << dims.low_bits, i);
    }
    //#unroll
    for (var half = 1u; half < FIRST; half *= 2u) {
        //#unroll
        for (var pair = 0u; pair < RADIX / 2u; pair++) {
            let a0 = v[pair / half * (2u * half) + pair % half];
            let a1 = v[pair / half * (2u * half) + pair % half + half];
            v[pair / half * (2u * half) + pair % half] = a0 + a1;
            v[pair / half * (2u * half) + pair % half + half] = a0 - a1;
        }
    }
    //#unroll
    for (var stage = 1u; stage < STAGES; stage++) {
        let before = select(FIRST << (RADIX_BITS * (max(stage, 2u) - 2u)), 1u, stage == 1u);
        let after = FIRST << (RADIX_BITS * (stage - 1u));
        if stage > 1u {
            workgroupBarrier(); // all have read what the stage before exchanged
        }
        //#unroll
        for (var i = 0u; i < RADIX; i++) {
            tile[tile_at(set_lane, first_row(part, before) + i * before, column_lanes, column_lane)] = v[i];
        }
        workgroupBarrier();
        //#unroll
        for (var i = 0u; i < RADIX; i++) {
            v[i] = tile[tile_at(set_lane, first_row(part, after) + i * after, column_lanes, column_lane)];
        }
        //#unroll
        for (var half = 1u; half < RADIX; half *= 2u) {
            //#unroll
            for (var pair = 0u; pair < RADIX / 2u; pair++) {
                let a0 = v[pair / half * (2u * half) + pair % half];
                let a1 = v[pair / half * (2u * half) + pair % half + half];
                v[pair / half * (2u * half) + pair % half] = a0 + a1;
                v[pair / half * (2u * half) + pair % half + half] = a0 - a1;
            }
        }
    }
    if is_inside {
        let apart = ROW_LANES; // rows of a lane in the last stage
        //#unroll
        for (var i = 0u; i < RADIX; i++) {
            write_row(y0, row0 + (first_row(part, apart) << dims.low_bits), apart << dims.low_bits, i, v[i]);
        }
    }
}
