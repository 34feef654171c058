//! C = epilogue(A B), a BM x BN block of C per workgroup, its operands staged in shared memory BK deep.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches; any strides of A and B, C row-major; sums in f32, of a step in f16
//! grid      ceil(m / BM) * ceil(n / BN) blocks a part, GROUP rows of blocks at a time: neighbours share operands in the cache
//! subgroup  hands A around on software devices; an invocation holds TM x TN of C, 4 x 4 pieces LANES_M, LANES_N apart
//! requires  LANES invocations and STAGES of both blocks in shared memory
//! edges     rows and columns past the end repeat the last and are not stored, k is zero-filled: any m, n >= 1, k >= 0

//#import gemm_dims
//#slot dims default immediate
//#slot pack_pair default f16

//#param  set by Tiled::build; these defaults are a legal tile
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
const TAG: u32 = 0u; // of a sketch's words
//#end
//#import patches
const_assert BM * BK % (4u * LANES) == 0u && BN * BK % (4u * LANES) == 0u;
// How an operand comes from memory: by elements, lanes along k or along the outer axis, or by vectors of four along it.
const STAGE_SCALAR_K: u32 = 0u;
const STAGE_SCALAR_OUTER: u32 = 1u;
const STAGE_VECTOR_OUTER: u32 = 2u;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#slot segments default one
//#slot load x=a default element
//#slot load x=b default element
//#slot memory x=a default memory
//#slot memory x=b default memory
//#import stage x=a
//#import stage x=b
//#slot epilogue default none
//#slot store_element default plain
//#slot store_c default elements

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    //#inline gemm_block
    //#inline patch_lanes

    var acc: array<array<vec4<f32>, TN / 4u>, TM>;
    // Where this lane's vectors lie at k = 0, and those of the next step, on their way while this one is computed.
    var a_from: array<u32, A_SHARE>;
    var b_from: array<u32, B_SHARE>;
    var a_next: array<vec4<f32>, A_SHARE>;
    var b_next: array<vec4<f32>, B_SHARE>;
    //#inline step_from
    var stage = 0u;
    for (var k0 = k_begin; k0 < k_end; k0 += BK) {
        // Both blocks of this step are staged, and those of the next on their way.
        //#inline step_start
        //#inline step_sums
        //#inline a_columns
        for (var kk = 0u; kk < BK; kk++) {
            var b_row: array<vec4<step_sum>, TN / 4u>;
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                b_row[j] = b_tile[(stage * BK + kk) * B_LD + j * LANES_N + lane_n];
            }
            //#unroll
            for (var i = 0u; i < TM / 4u; i++) {
                //#inline a_column
                //#unroll
                for (var j = 0u; j < TN / 4u; j++) {
                    (*sums)[i * 4u + 0u][j] = fma(vec4<step_sum>(a_col.x), b_row[j], (*sums)[i * 4u + 0u][j]);
                    (*sums)[i * 4u + 1u][j] = fma(vec4<step_sum>(a_col.y), b_row[j], (*sums)[i * 4u + 1u][j]);
                    (*sums)[i * 4u + 2u][j] = fma(vec4<step_sum>(a_col.z), b_row[j], (*sums)[i * 4u + 2u][j]);
                    (*sums)[i * 4u + 3u][j] = fma(vec4<step_sum>(a_col.w), b_row[j], (*sums)[i * 4u + 3u][j]);
                }
            }
        }
        //#inline step_end
        //#inline stage_switch
    }
    //#inline patch_store
}
