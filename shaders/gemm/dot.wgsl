//! C = epilogue(A B) of i8, with exact sums: a BM x BN block of C per workgroup, its operands staged in shared memory as words for dot4I8Packed.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches of them; i8, any strides of A and B, C row-major; sums in i32, epilogue in f32
//! grid      ceil(m / BM) * ceil(n / BN) blocks per matrix, GROUP rows of blocks at a time, to share the cache
//! subgroup  not used; an invocation holds TM x TN of C, in pieces of 4 x 4 that are LANES_M, LANES_N pieces apart
//! requires  LANES invocations and STAGES of both blocks in shared memory; naga emulates dot4I8Packed where it is missing
//! edges     rows and columns past the end repeat the last one and are not stored, k is zero-filled: any m, n >= 1, k >= 0

//#slot gemm_dims default product
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by Dot::build; these defaults are a legal tile
alias c_unit = i32;
alias sum = i32;
const BM: u32 = 64u;
const BN: u32 = 64u;
const BK: u32 = 32u;
const TM: u32 = 8u;
const TN: u32 = 8u;
const A_STAGE: u32 = 2u;
const B_STAGE: u32 = 3u;
const STAGES: u32 = 2u;
//#end
//#import register_tile
const GROUP: u32 = 8u; // rows of blocks
const_assert BK % 4u == 0u;
const_assert BM * WORDS % (4u * LANES) == 0u && BN * WORDS % (4u * LANES) == 0u;
// How an operand is loaded: elements, with lanes along k or along the outer axis, or words of four along either.
const STAGE_ELEMENTS_K: u32 = 0u;
const STAGE_ELEMENTS_OUTER: u32 = 1u;
const STAGE_WORDS_K: u32 = 2u;
const STAGE_WORDS_OUTER: u32 = 3u;

const WORDS: u32 = BK / 4u; // along k, of a block

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#slot windows default none
//#import dot_stage x=a
//#import dot_stage x=b
//#slot dot_load x=a default memory
//#slot dot_load x=b default memory
//#slot epilogue default none
//#slot store_c default elements

// The dot products of four elements of a row of A with four columns of B: at most 2^16 each, so the sums over the largest
// allowed k fit into i32.
fn dots(row: u32, cols: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(
        dot4I8Packed(row, cols.x),
        dot4I8Packed(row, cols.y),
        dot4I8Packed(row, cols.z),
        dot4I8Packed(row, cols.w),
    );
}

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
    let k_end = min(dims.k, k_begin + dims.k_per_split);
    let lane_m = tile_m(lane);
    let lane_n = tile_n(lane);

    prepare_windows(row0, lane);
    var acc: array<array<vec4<i32>, TN / 4u>, TM>;
    // This lane's vectors of the next iteration, which are loaded during this one.
    var a_next: array<vec4<u32>, A_SHARE>;
    var b_next: array<vec4<u32>, B_SHARE>;
    //#unroll
    for (var v = 0u; v < A_SHARE; v++) {
        a_next[v] = fetch_a(row0, dims.m, k_begin, lane + v * LANES);
    }
    //#unroll
    for (var v = 0u; v < B_SHARE; v++) {
        b_next[v] = fetch_b(col0, dims.n, k_begin, lane + v * LANES);
    }
    var stage = 0u;
    for (var k0 = k_begin; k0 < k_end; k0 += BK) {
        //#unroll
        for (var v = 0u; v < A_SHARE; v++) {
            put_a(lane + v * LANES, stage, a_next[v]);
        }
        //#unroll
        for (var v = 0u; v < B_SHARE; v++) {
            put_b(lane + v * LANES, stage, b_next[v]);
        }
        // NOTE: two stages need no other barrier: the stage that is filled next was read before this barrier.
        workgroupBarrier();
        //#unroll
        for (var v = 0u; v < A_SHARE; v++) {
            a_next[v] = fetch_a(row0, dims.m, k0 + BK, lane + v * LANES);
        }
        //#unroll
        for (var v = 0u; v < B_SHARE; v++) {
            b_next[v] = fetch_b(col0, dims.n, k0 + BK, lane + v * LANES);
        }
        for (var word = 0u; word < WORDS; word++) {
            var b_row: array<vec4<u32>, TN / 4u>;
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                b_row[j] = b_tile[(stage * WORDS + word) * B_LD + j * LANES_N + lane_n];
            }
            //#unroll
            for (var i = 0u; i < TM / 4u; i++) {
                let a_col = a_tile[(stage * WORDS + word) * A_LD + i * LANES_M + lane_m];
                //#unroll
                for (var j = 0u; j < TN / 4u; j++) {
                    acc[i * 4u + 0u][j] += dots(a_col.x, b_row[j]);
                    acc[i * 4u + 1u][j] += dots(a_col.y, b_row[j]);
                    acc[i * 4u + 2u][j] += dots(a_col.z, b_row[j]);
                    acc[i * 4u + 3u][j] += dots(a_col.w, b_row[j]);
                }
            }
        }
        // The next iteration fills the other stage. If there is only one, it waits until this one has been read.
        if STAGES == 1u {
            workgroupBarrier();
        }
        stage = (stage + 1u) % STAGES;
    }

    //#unroll
    for (var i = 0u; i < TM / 4u; i++) {
        let row = row0 + (i * LANES_M + lane_m) * 4u;
        //#unroll
        for (var j = 0u; j < TN / 4u; j++) {
            let col = col0 + (j * LANES_N + lane_n) * 4u;
            //#unroll
            for (var r = 0u; r < 4u; r++) {
                // With an epilogue, `sum` is f32, and this rounds.
                store_c(row + r, col, vec4<sum>(acc[i * 4u + r][j]));
            }
        }
    }
}
