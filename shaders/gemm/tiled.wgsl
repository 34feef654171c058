//! C = epilogue(A B), a BM x BN block of C per workgroup, its operands staged in shared memory BK deep.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches; any strides of A and B, C row-major; f32 sums, f16 within an iteration
//! grid      ceil(m / BM) * ceil(n / BN) blocks per matrix and split, GROUP rows of blocks at a time, to share the cache
//! subgroup  shuffles A on software devices; an invocation holds TM x TN of C, 4 x 4 pieces LANES_M, LANES_N apart
//! requires  LANES invocations and STAGES of both blocks in shared memory
//! edges     rows and columns past the end repeat the last one and are not stored, k is zero-filled: any m, n >= 1, k >= 0

//#slot gemm_dims default product
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by Tiled::build; these defaults are a legal tile
alias a_unit = f32;
alias b_unit = f32;
alias c_unit = f32;
alias sum = f32;
alias iteration_sum = f32;
const ITERATION_SUMS: bool = false; // each iteration sums in iteration_sum, then adds that to the f32 sums
const BM: u32 = 64u;
const BN: u32 = 64u;
const BK: u32 = 8u;
const TM: u32 = 8u;
const TN: u32 = 8u;
const A_STAGE: u32 = 0u;
const B_STAGE: u32 = 1u;
const STAGES: u32 = 2u;
const TAG: u32 = 0u; // last word of the Philox counters, for a generated operand
//#end
//#import register_tile
const GROUP: u32 = 8u; // rows of blocks
const_assert BM * BK % (4u * LANES) == 0u && BN * BK % (4u * LANES) == 0u;
const_assert BM % 16u == 0u && BN % 16u == 0u && BK % 8u == 0u; // for squares
// How an operand is loaded: elements, with lanes along k or along the outer axis; vectors of four along the outer axis; or
// squares, four vectors of four along k.
const STAGE_SCALAR_K: u32 = 0u;
const STAGE_SCALAR_OUTER: u32 = 1u;
const STAGE_VECTOR_OUTER: u32 = 2u;
const STAGE_SQUARES: u32 = 3u;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#slot segments default one
//#slot windows default none
//#slot load x=a default element
//#slot load x=b default element
//#slot tiled_load x=a default memory
//#slot tiled_load x=b default memory
//#import stage x=a
//#import stage x=b
//#slot a_column default shared
//#slot epilogue default none
//#slot store_c default elements

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    // The order of blocks: GROUP rows of blocks at a time, column by column, so that concurrent blocks share operands in the
    // cache; then the next matrix of the batch, then the next split.
    let rows = (dims.m + BM - 1u) / BM;
    let cols = (dims.n + BN - 1u) / BN;
    let index = block_index(workgroup, grid);
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
    let lane_m = tile_m(lane);
    let lane_n = tile_n(lane);

    // The sums of this lane's register tile, and those that products are added to: of the iteration, or of all iterations.
    var acc: array<array<vec4<f32>, TN / 4u>, TM>;
    var sums: array<array<vec4<iteration_sum>, TN / 4u>, TM>;
    // The places of this lane's chunks at k = 0, and the chunks of the next iteration, which are loaded during this one.
    var a_from: array<u32, A_SHARE>;
    var b_from: array<u32, B_SHARE>;
    var a_next: array<a_elements, A_SHARE>;
    var b_next: array<b_elements, B_SHARE>;
    //#unroll
    for (var v = 0u; v < A_SHARE; v++) {
        a_from[v] = locate_a(row0, dims.m, lane + v * LANES);
    }
    //#unroll
    for (var v = 0u; v < B_SHARE; v++) {
        b_from[v] = locate_b(col0, dims.n, lane + v * LANES);
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
            for (var v = 0u; v < A_SHARE; v++) {
                if is_chunk_a(lane + v * LANES) {
                    put_a(lane + v * LANES, stage, a_next[v]);
                }
            }
        } else {
            stage_a(row0, dims.m, k0, stage, lane);
        }
        if B_AHEAD && ahead {
            //#unroll
            for (var v = 0u; v < B_SHARE; v++) {
                if is_chunk_b(lane + v * LANES) {
                    put_b(lane + v * LANES, stage, b_next[v]);
                }
            }
        } else {
            stage_b(col0, dims.n, k0, stage, lane);
        }
        // NOTE: two stages need no other barrier: the stage that is filled next was read before this barrier.
        workgroupBarrier();
        // Start to load the chunks of the next iteration, if they are loaded ahead.
        let next = k0 + BK;
        if next + BK <= k_end {
            enter_segment(next);
            if A_AHEAD {
                //#unroll
                for (var v = 0u; v < A_SHARE; v++) {
                    if is_chunk_a(lane + v * LANES) {
                        a_next[v] = fetch_a(a_from[v], row0, dims.m, next, lane + v * LANES);
                    }
                }
            }
            if B_AHEAD {
                //#unroll
                for (var v = 0u; v < B_SHARE; v++) {
                    if is_chunk_b(lane + v * LANES) {
                        b_next[v] = fetch_b(b_from[v], col0, dims.n, next, lane + v * LANES);
                    }
                }
            }
        }

        if ITERATION_SUMS {
            sums = array<array<vec4<iteration_sum>, TN / 4u>, TM>();
        }
        var a_held: array<vec4<iteration_sum>, TM / 4u>;
        if A_HELD {
            //#unroll
            for (var i = 0u; i < TM / 4u; i++) {
                a_held[i] = a_tile[(stage * BK + lane % BK) * A_LD + i * LANES_M + lane_m];
            }
        }
        for (var kk = 0u; kk < BK; kk++) {
            var b_row: array<vec4<iteration_sum>, TN / 4u>;
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                b_row[j] = b_tile[(stage * BK + kk) * B_LD + j * LANES_N + lane_n];
            }
            //#unroll
            for (var i = 0u; i < TM / 4u; i++) {
                let a_col = a_column(a_held[i], kk, (stage * BK + kk) * A_LD + i * LANES_M + lane_m);
                //#unroll
                for (var j = 0u; j < TN / 4u; j++) {
                    sums[i * 4u + 0u][j] = fma(vec4<iteration_sum>(a_col.x), b_row[j], sums[i * 4u + 0u][j]);
                    sums[i * 4u + 1u][j] = fma(vec4<iteration_sum>(a_col.y), b_row[j], sums[i * 4u + 1u][j]);
                    sums[i * 4u + 2u][j] = fma(vec4<iteration_sum>(a_col.z), b_row[j], sums[i * 4u + 2u][j]);
                    sums[i * 4u + 3u][j] = fma(vec4<iteration_sum>(a_col.w), b_row[j], sums[i * 4u + 3u][j]);
                }
            }
        }
        if ITERATION_SUMS {
            //#unroll
            for (var i = 0u; i < TM; i++) {
                //#unroll
                for (var j = 0u; j < TN / 4u; j++) {
                    acc[i][j] += vec4<f32>(sums[i][j]);
                }
            }
        }

        // The next iteration fills the other stage. If there is only one, it waits until this one has been read.
        if STAGES == 1u {
            workgroupBarrier();
        }
        stage = (stage + 1u) % STAGES;
    }
    if !ITERATION_SUMS {
        //#unroll
        for (var i = 0u; i < TM; i++) {
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                acc[i][j] = vec4<f32>(sums[i][j]);
            }
        }
    }

    //#unroll
    for (var i = 0u; i < TM / 4u; i++) {
        let row = row0 + (i * LANES_M + lane_m) * 4u;
        //#unroll
        for (var j = 0u; j < TN / 4u; j++) {
            let col = col0 + (j * LANES_N + lane_n) * 4u;
            //#unroll
            for (var r = 0u; r < 4u; r++) {
                store_c(row + r, col, acc[i * 4u + r][j]);
            }
        }
    }
}
