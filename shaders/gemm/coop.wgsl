//! C = epilogue(A B) on cooperative matrices, a BM x BN block of C per workgroup, its operands staged in shared memory BK deep.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches of them; f16 operands of any strides, C row-major; f32 sums
//! grid      ceil(m / BM) * ceil(n / BN) blocks per matrix and split, GROUP rows of blocks at a time, to share the cache
//! subgroup  one WM x WN tile of the block, held as FRAGMENT x FRAGMENT cooperative matrices
//! requires  f16; cooperative matrices of FRAGMENT cubed, (f16, f16) -> f32; subgroups of SUBGROUP and no other size
//! edges     rows and columns past the end repeat the last one and are not stored, k is zero-filled: any m, n >= 1, k >= 0

//#slot gemm_dims default product
//#slot dims default immediate

//#param  set by Coop::build; these defaults are a legal tile
alias mat_a = coop_mat16x16<f16, A>;
alias mat_b = coop_mat16x16<f16, B>;
alias mat_c = coop_mat16x16<f32, C>;
alias a_unit = Unit;
alias b_unit = Unit;
alias c_unit = f32;
alias sum = f32;
const FRAGMENT: u32 = 16u;
const BM: u32 = 64u;
const BN: u32 = 64u;
const BK: u32 = 32u;
const WM: u32 = 32u;
const WN: u32 = 32u;
const SUBGROUP: u32 = 32u;
const STAGES: u32 = 2u;
const A_OUTER: u32 = 0u; // 1: a unit runs along the outer axis
const B_OUTER: u32 = 1u;
const A_SHARED_OUTER: u32 = 0u; // 1: rows of shared memory run along the outer axis
const B_SHARED_OUTER: u32 = 1u;
const TAG: u32 = 0u; // last word of the Philox counters, for a sign half
//#end
const_assert BM % WM == 0u && BN % WN == 0u && WM % FRAGMENT == 0u && WN % FRAGMENT == 0u && BK % FRAGMENT == 0u;
const_assert BM * BK % (8u * LANES) == 0u && BN * BK % (8u * LANES) == 0u;

const SUBGROUPS_N: u32 = BN / WN;
const LANES: u32 = BM / WM * SUBGROUPS_N * SUBGROUP;
const A_BLOCK: u32 = BM;
const B_BLOCK: u32 = BN;
const ROWS: u32 = WM / FRAGMENT; // of cooperative matrices in a subgroup tile
const COLS: u32 = WN / FRAGMENT;
const GROUP: u32 = 8u; // rows of blocks
const OUT_LD: u32 = FRAGMENT / 4u + 1u; // NOTE: odd, so that rows start in different banks
const OUT: u32 = FRAGMENT * OUT_LD;

// Eight f16 elements along an axis, 16 bytes. A lane loads one unit at a time.
struct Unit {
    x: vec4<f16>,
    y: vec4<f16>,
}

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#slot segments default one
//#slot windows default none

//#slot pack_pair default f16
//#slot epilogue default none
//#slot store_c default elements
//#slot coop_load x=a default units
//#slot coop_load x=b default units
//#import coop_stage x=a
//#import coop_stage x=b
//#slot store_whole default matrices

// One matrix of each subgroup tile, if it cannot be stored to memory directly.
var<workgroup> out_tile: array<vec4<f32>, LANES / SUBGROUP * OUT>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(subgroup_id) subgroup_index: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
    let lane = local.x;
    // The order of blocks: GROUP rows of blocks at a time, column by column, so that concurrent blocks share operands in the
    // cache; then the next matrix of the batch, then the next split. NOTE: this is not in a function, because naga treats
    // function results as non-uniform, and whole blocks are stored as cooperative matrices in uniform control flow.
    let rows = (dims.m + BM - 1u) / BM;
    let cols = (dims.n + BN - 1u) / BN;
    let index = workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
    if index >= rows * cols * dims.batches * dims.splits {
        return;
    }
    let pair = index / (rows * cols);
    let block = index % (rows * cols);
    let first = block / (GROUP * cols) * GROUP;
    let height = min(GROUP, rows - first);
    let within = block - first * cols;
    let row0 = (first + within % height) * BM;
    let col0 = within / height * BN;
    enter(pair);
    let k_begin = pair / dims.batches * dims.k_per_split;
    let k_end = min(k_extent(pair % dims.batches), k_begin + dims.k_per_split);
    let tile_row = subgroup_index / SUBGROUPS_N * WM;
    let tile_col = subgroup_index % SUBGROUPS_N * WN;

    var acc: array<array<mat_c, COLS>, ROWS>;
    //#unroll
    for (var i = 0u; i < ROWS; i++) {
        //#unroll
        for (var j = 0u; j < COLS; j++) {
            acc[i][j] = mat_c();
        }
    }
    // Offsets in the first stage of shared memory: those of the subgroup's first matrices, and of this lane's first
    // puts.
    let a_first = a_place(tile_row, 0u);
    let b_first = b_place(tile_col, 0u);
    let a_to = a_place(a_outer_of(lane), a_k_of(lane));
    let b_to = b_place(b_outer_of(lane), b_k_of(lane));
    // The places of this lane's units at k = 0, and the units of the next iteration, which are loaded during this one.
    var a_from: array<u32, A_SHARE>;
    var b_from: array<u32, B_SHARE>;
    var a_next: array<Unit, A_SHARE>;
    var b_next: array<Unit, B_SHARE>;
    //#unroll
    for (var v = 0u; v < A_SHARE; v++) {
        a_from[v] = locate_a(row0, dims.m, lane + v / A_PUT * LANES, v % A_PUT);
    }
    //#unroll
    for (var v = 0u; v < B_SHARE; v++) {
        b_from[v] = locate_b(col0, dims.n, lane + v / B_PUT * LANES, v % B_PUT);
    }
    if k_begin < k_end {
        enter_segment(k_begin);
    }
    prepare_windows(row0, lane);
    var stage = 0u;
    for (var k0 = k_begin; k0 < k_end; k0 += BK) {
        // Stage both blocks. The first iteration, and one that extends past the end of k, are not loaded ahead.
        let ahead = k0 > k_begin && k0 + BK <= k_end;
        if A_AHEAD && ahead {
            //#unroll
            for (var v = 0u; v < A_SHARE / A_PUT; v++) {
                let last = a_next[(v + 1u) * A_PUT - 1u];
                put_a(a_put_place(a_to, stage, lane, v), lane + v * LANES, a_next[v * A_PUT], last);
            }
        } else {
            stage_a(row0, dims.m, k0, stage, lane);
        }
        if B_AHEAD && ahead {
            //#unroll
            for (var v = 0u; v < B_SHARE / B_PUT; v++) {
                let last = b_next[(v + 1u) * B_PUT - 1u];
                put_b(b_put_place(b_to, stage, lane, v), lane + v * LANES, b_next[v * B_PUT], last);
            }
        } else {
            stage_b(col0, dims.n, k0, stage, lane);
        }
        // NOTE: two stages need no other barrier: the stage that is filled next was read before this barrier.
        workgroupBarrier();
        // Start to load the units of the next iteration, if it is loaded ahead.
        let next = k0 + BK;
        if next + BK <= k_end {
            enter_segment(next);
            if A_AHEAD {
                //#unroll
                for (var v = 0u; v < A_SHARE; v++) {
                    a_next[v] = fetch_a(a_from[v], row0, dims.m, next, lane + v / A_PUT * LANES, v % A_PUT);
                }
            }
            if B_AHEAD {
                //#unroll
                for (var v = 0u; v < B_SHARE; v++) {
                    b_next[v] = fetch_b(b_from[v], col0, dims.n, next, lane + v / B_PUT * LANES, v % B_PUT);
                }
            }
        }

        let a_now = a_first + stage * A_STAGE;
        let b_now = b_first + stage * B_STAGE;
        //#unroll
        for (var kk = 0u; kk < BK; kk += FRAGMENT) {
            var a_rows: array<mat_a, ROWS>;
            //#unroll
            for (var i = 0u; i < ROWS; i++) {
                let a_at = a_now + (i * A_NEXT_OUTER + kk / FRAGMENT * A_NEXT_K);
                if A_SHARED_OUTER == 0u {
                    var from_rows: mat_a = coopLoadT<mat_a>(&a_tile[a_at], A_LD);
                    a_rows[i] = from_rows;
                } else {
                    var from_columns: mat_a = coopLoad<mat_a>(&a_tile[a_at], A_LD);
                    a_rows[i] = from_columns;
                }
            }
            //#unroll
            for (var j = 0u; j < COLS; j++) {
                let b_at = b_now + (j * B_NEXT_OUTER + kk / FRAGMENT * B_NEXT_K);
                var b_col: mat_b;
                if B_SHARED_OUTER == 1u {
                    var from_rows: mat_b = coopLoadT<mat_b>(&b_tile[b_at], B_LD);
                    b_col = from_rows;
                } else {
                    var from_columns: mat_b = coopLoad<mat_b>(&b_tile[b_at], B_LD);
                    b_col = from_columns;
                }
                //#unroll
                for (var i = 0u; i < ROWS; i++) {
                    acc[i][j] = coopMultiplyAdd(a_rows[i], b_col, acc[i][j]);
                }
            }
        }

        // The next iteration fills the other stage. If there is only one, it waits until this one has been read.
        if STAGES == 1u {
            workgroupBarrier();
        }
        stage = (stage + 1u) % STAGES;
    }

    if WHOLE && row0 + BM <= dims.m && col0 + BN <= dims.n {
        store_whole(&acc, row0 + tile_row, col0 + tile_col);
        return;
    }
    // Store one matrix of each subgroup tile at a time. NOTE: this is a loop with a uniform comparison for each matrix. Unrolled,
    // it would repeat the stores of elements, which are far more code than the comparisons.
    let out = subgroup_index * OUT;
    for (var piece = 0u; piece < ROWS * COLS; piece++) {
        workgroupBarrier();
        //#unroll
        for (var i = 0u; i < ROWS; i++) {
            //#unroll
            for (var j = 0u; j < COLS; j++) {
                if piece == i * COLS + j {
                    let sums = acc[i][j];
                    coopStoreT(sums, &out_tile[out], OUT_LD);
                }
            }
        }
        workgroupBarrier();
        let piece_row = row0 + tile_row + piece / COLS * FRAGMENT;
        let piece_col = col0 + tile_col + piece % COLS * FRAGMENT;
        for (var quad = subgroup_lane; quad < FRAGMENT * FRAGMENT / 4u; quad += SUBGROUP) {
            let row = quad / (FRAGMENT / 4u);
            let col = quad % (FRAGMENT / 4u);
            store_c(piece_row + row, piece_col + col * 4u, out_tile[out + row * OUT_LD + col]);
        }
    }
}
