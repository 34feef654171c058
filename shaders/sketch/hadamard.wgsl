//! One pass of a fast Walsh-Hadamard transform along an axis: the levels of consecutive bits of the row index.
//!
//! shapes    A and C of 2^bits rows, any columns, batches and strides; the first and last pass may have fewer rows
//! grid      LINES lines per workgroup; a line is a column of a set: ROWS rows that differ only in these bits
//! subgroup  not used; neighbouring lanes have neighbouring columns, then neighbouring sets
//! requires  LANES invocations; their elements in shared memory if there is more than one stage
//! edges     rows past the end are zero on load and guarded on store: any rows >= 1, columns >= 1, batches >= 1

// The last two rounds, then the first two. They are members: WGSL allows no arrays in immediates.
struct InverseRounds {
    last: vec4<u32>,
    first: vec4<u32>,
}

//#slot dims default immediate
//#import block

//#param  set by HadamardPass::kernel; these defaults are a legal tile
const RADIX: u32 = 4u;         // rows that a lane holds between two barriers
const RADIX_BITS: u32 = 2u;    // its binary logarithm
const FIRST: u32 = 4u;         // rows that the first stage transforms together: at most RADIX
const FIRST_BITS: u32 = 2u;    // its binary logarithm
const STAGES: u32 = 1u;        // separated by barriers; all but the first transform RADIX rows
const LINES: u32 = 64u;       // lines of a workgroup: columns times sets
const WIDE: u32 = 0u;          // 1: all lines are columns of one set, not folded; 0: the dims say
//#end
const_assert FIRST == 1u << FIRST_BITS && RADIX == 1u << RADIX_BITS && (STAGES > 1u || FIRST == RADIX);

const ROW_BITS: u32 = FIRST_BITS + RADIX_BITS * (STAGES - 1u);
const ROWS: u32 = 1u << ROW_BITS;
const ROW_LANES: u32 = ROWS / RADIX;
const LANES: u32 = LINES * ROW_LANES;

//#slot hadamard_operands default apart
//#slot seed default number
//#slot row_order default given
//#slot hadamard_signs default generated
//#slot hadamard_read default plain
//#slot hadamard_write default plain

// The rows that stages exchange. It has one element if there is only one stage.
var<workgroup> tile: array<f32, TILE>;
const TILE: u32 = 1u + min(STAGES - 1u, 1u) * (LANES * RADIX - 1u);

// The index of a set's row in the tile. NOTE: rows of neighbouring lanes are a power of two apart, so the bits that
// choose the bank are xored with higher ones.
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
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    var column_lanes = LINES;
    var folded_bits = 0u;
    if WIDE == 0u {
        column_lanes = dims.column_lanes;
        folded_bits = dims.folded_bits;
    }
    let columns = dims.columns << folded_bits;
    let set_bits = dims.bits - ROW_BITS - folded_bits;
    let sets = dims.batches << set_bits;
    let set_lanes = LINES / column_lanes;
    let across = (columns + column_lanes - 1u) / column_lanes;
    let index = block_index(workgroup, grid);
    if index >= across * ((sets + set_lanes - 1u) / set_lanes) {
        return;
    }
    let column0 = index % across * column_lanes;
    let set0 = index / across * set_lanes;
    // NOTE: with ROW_LANES of 1 this is the constant 0, so that compilers see which values all lanes share.
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

    // The rows of a set have the same bits above and below those of the pass.
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
    find_row_order(lane);
    generate_signs(high0 << (dims.low_bits + ROW_BITS), low0, lane);

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
            workgroupBarrier(); // all lanes have read the rows of the previous exchange
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
        let row_stride = ROW_LANES; // between the rows of a lane in the last stage
        //#unroll
        for (var i = 0u; i < RADIX; i++) {
            write_row(y0, row0 + (first_row(part, row_stride) << dims.low_bits), row_stride << dims.low_bits, i, v[i]);
        }
    }
}
