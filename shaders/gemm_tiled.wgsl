//! C = A B, a BM x BN block of C per workgroup, its operands staged in shared memory BK deep.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n); any strides of A and B, C row-major; f32 sums
//! grid      ceil(m / BM) * ceil(n / BN) blocks, GROUP rows of blocks at a time: neighbours share operands in the cache
//! subgroup  not used; an invocation holds TM x TN of the block in registers, as 4 x 4 pieces LANES_M, LANES_N apart
//! requires  LANES invocations and the two blocks in shared memory
//! edges     zero-filled on load, guarded on store: any m, n >= 1, any k >= 0

//#import gemm_dims
//#import dims
//#import pack_f16

//#param  set by Tile::kernel; these defaults are a legal tile
alias a_unit = f32;
alias b_unit = f32;
alias c_unit = f32;
const BM: u32 = 64u;
const BN: u32 = 64u;
const BK: u32 = 8u;
const TM: u32 = 8u;
const TN: u32 = 8u;
const A_STAGE: u32 = 0u;
const B_STAGE: u32 = 1u;
//#end
const_assert BM % TM == 0u && BN % TN == 0u;
const_assert TM % 4u == 0u && TN % 4u == 0u && BK % 4u == 0u;
// How an operand comes from memory: by elements or vectors of four, lanes along k or along the outer axis.
const STAGE_SCALAR_K: u32 = 0u;
const STAGE_SCALAR_OUTER: u32 = 1u;
const STAGE_VECTOR_K: u32 = 2u;
const STAGE_VECTOR_OUTER: u32 = 3u;

const LANES_M: u32 = BM / TM;
const LANES_N: u32 = BN / TN;
const LANES: u32 = LANES_M * LANES_N;
const A_BLOCK: u32 = BM;
const B_BLOCK: u32 = BN;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#import load_x x=a
//#import load_x x=b
//#import stage_x x=a
//#import stage_x x=b
//#import store_c

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    //#import gemm_block
    let lane_m = lane / LANES_N;
    let lane_n = lane % LANES_N;

    var acc: array<array<vec4<f32>, TN / 4u>, TM>;
    for (var k0 = 0u; k0 < dims.k; k0 += BK) {
        stage_a(row0, dims.m, k0, lane);
        stage_b(col0, dims.n, k0, lane);
        workgroupBarrier();
        for (var kk = 0u; kk < BK; kk++) {
            var b_row: array<vec4<f32>, TN / 4u>;
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                b_row[j] = b_tile[kk * B_LD + j * LANES_N + lane_n];
            }
            //#unroll
            for (var i = 0u; i < TM / 4u; i++) {
                let a_col = a_tile[kk * A_LD + i * LANES_M + lane_m];
                //#unroll
                for (var j = 0u; j < TN / 4u; j++) {
                    acc[i * 4u + 0u][j] = fma(vec4<f32>(a_col.x), b_row[j], acc[i * 4u + 0u][j]);
                    acc[i * 4u + 1u][j] = fma(vec4<f32>(a_col.y), b_row[j], acc[i * 4u + 1u][j]);
                    acc[i * 4u + 2u][j] = fma(vec4<f32>(a_col.z), b_row[j], acc[i * 4u + 2u][j]);
                    acc[i * 4u + 3u][j] = fma(vec4<f32>(a_col.w), b_row[j], acc[i * 4u + 3u][j]);
                }
            }
        }
        workgroupBarrier();
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
