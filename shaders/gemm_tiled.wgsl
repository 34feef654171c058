//! C = epilogue(A B), a BM x BN block of C per workgroup, its operands staged in shared memory BK deep.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches; any strides of A and B, C row-major; sums in f32, of a step in f16
//! grid      ceil(m / BM) * ceil(n / BN) blocks a part, GROUP rows of blocks at a time: neighbours share operands in the cache
//! subgroup  hands A around on software devices; an invocation holds TM x TN of C, 4 x 4 pieces LANES_M, LANES_N apart
//! requires  LANES invocations and STAGES of both blocks in shared memory
//! edges     rows and columns past the end repeat the last and are not stored, k is zero-filled: any m, n >= 1, k >= 0

//#import gemm_dims
//#import dims
//#import pack_pair

//#param  set by tiled::kernel; these defaults are a legal tile
alias a_unit = f32;
alias b_unit = f32;
alias c_unit = f32;
alias sum = f32;
alias step_sum = f32; // of the BK products of one step
const BM: u32 = 64u;
const BN: u32 = 64u;
const BK: u32 = 8u;
const TM: u32 = 8u;
const TN: u32 = 8u;
const A_STAGE: u32 = 0u;
const B_STAGE: u32 = 1u;
const STAGES: u32 = 2u;
//#end
const_assert BM % TM == 0u && BN % TN == 0u;
const_assert TM % 4u == 0u && TN % 4u == 0u;
const_assert LANES_M % NEAR_M == 0u && LANES_N % NEAR_N == 0u;
const_assert BM * BK % (4u * LANES) == 0u && BN * BK % (4u * LANES) == 0u;
// How an operand comes from memory: by elements, lanes along k or along the outer axis, or by vectors of four along it.
const STAGE_SCALAR_K: u32 = 0u;
const STAGE_SCALAR_OUTER: u32 = 1u;
const STAGE_VECTOR_OUTER: u32 = 2u;

const LANES_M: u32 = BM / TM;
const LANES_N: u32 = BN / TN;
const LANES: u32 = LANES_M * LANES_N;
const NEAR_M: u32 = min(4u, LANES_M); // of neighbours
const NEAR_N: u32 = 8u;
const A_BLOCK: u32 = BM;
const B_BLOCK: u32 = BN;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#import load_x x=a
//#import load_x x=b
//#import stage_x x=a
//#import stage_x x=b
//#import epilogue
//#import store_element
//#import store_c

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    //#import gemm_block
    // NOTE: 32 neighbours hold 4 x 8 patches: they read 4 vectors of A at once and 8 of B, no other shape needs fewer.
    let lane_m = lane / NEAR_N % NEAR_M + lane / (NEAR_M * LANES_N) * NEAR_M;
    let lane_n = lane % NEAR_N + lane / (NEAR_M * NEAR_N) % (LANES_N / NEAR_N) * NEAR_N;

    var acc: array<array<vec4<f32>, TN / 4u>, TM>;
    // Where this lane's vectors lie at k = 0, and those of the next step, on their way while this one is computed.
    var a_from: array<u32, A_VECTORS>;
    var b_from: array<u32, B_VECTORS>;
    var a_next: array<vec4<f32>, A_VECTORS>;
    var b_next: array<vec4<f32>, B_VECTORS>;
    //#unroll
    for (var v = 0u; v < A_VECTORS; v++) {
        a_from[v] = a_at(row0 + a_outer_of(lane + v * LANES), dims.m, a_k_of(lane + v * LANES));
    }
    //#unroll
    for (var v = 0u; v < B_VECTORS; v++) {
        b_from[v] = b_at(col0 + b_outer_of(lane + v * LANES), dims.n, b_k_of(lane + v * LANES));
    }
    var stage = 0u;
    for (var k0 = k_begin; k0 < k_end; k0 += BK) {
        if k0 > k_begin && k0 + BK <= k_end {
            //#unroll
            for (var v = 0u; v < A_VECTORS; v++) {
                put_a(lane + v * LANES, stage, a_next[v]);
            }
            //#unroll
            for (var v = 0u; v < B_VECTORS; v++) {
                put_b(lane + v * LANES, stage, b_next[v]);
            }
        } else {
            stage_a(row0, dims.m, k0, stage, lane);
            stage_b(col0, dims.n, k0, stage, lane);
        }
        // NOTE: with two stages no other barrier is needed: what is filled next was read before this one.
        workgroupBarrier();
        let next = k0 + BK;
        if next + BK <= k_end {
            //#unroll
            for (var v = 0u; v < A_VECTORS; v++) {
                a_next[v] = a_vector(a_from[v] + next * dims.a_k, row0 + a_outer_of(lane + v * LANES), dims.m);
            }
            //#unroll
            for (var v = 0u; v < B_VECTORS; v++) {
                b_next[v] = b_vector(b_from[v] + next * dims.b_k, col0 + b_outer_of(lane + v * LANES), dims.n);
            }
        }
        //#import step_sums
        //#import a_columns
        for (var kk = 0u; kk < BK; kk++) {
            var b_row: array<vec4<step_sum>, TN / 4u>;
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                b_row[j] = b_tile[(stage * BK + kk) * B_LD + j * LANES_N + lane_n];
            }
            //#unroll
            for (var i = 0u; i < TM / 4u; i++) {
                //#import a_column
                //#unroll
                for (var j = 0u; j < TN / 4u; j++) {
                    (*sums)[i * 4u + 0u][j] = fma(vec4<step_sum>(a_col.x), b_row[j], (*sums)[i * 4u + 0u][j]);
                    (*sums)[i * 4u + 1u][j] = fma(vec4<step_sum>(a_col.y), b_row[j], (*sums)[i * 4u + 1u][j]);
                    (*sums)[i * 4u + 2u][j] = fma(vec4<step_sum>(a_col.z), b_row[j], (*sums)[i * 4u + 2u][j]);
                    (*sums)[i * 4u + 3u][j] = fma(vec4<step_sum>(a_col.w), b_row[j], (*sums)[i * 4u + 3u][j]);
                }
            }
        }
        //#import step_end
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
                store_c(row + r, col, acc[i * 4u + r][j]);
            }
        }
    }
}
