// The self-test of a row of cooperative matrices in SPIR-V: for each order of A and B in shared memory, a product of integers that
// must be exact.
//
// shapes    A and B: for each product and iteration a matrix, by rows or by columns; C: a product's results, stored directly and
//           through shared memory, then the subgroup's size and each lane's index. With FUNCTIONS (N = K), the second results are
//           what else kernels do with matrices (`others`)
// grid      two workgroups, one for each order of B; more, which repeat them, where the row is timed
// subgroup  two in each workgroup, one for each order of A
// requires  a row M x N x K of these types at subgroup scope, or of sizes that these are multiples of; subgroups of SUBGROUP and no
//           other size
// sibling   gemm/coop_verify.wgsl; gemm/scalar_verify.wgsl computes as much without matrices
//
// module f16   -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16
// module bf16  -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16
// module i8    -DAB=int8_t -DSUM=int -DBITS=8 -DOF_I8
// module e4m3  -DAB=floate4m3_t -DSUM=float -DBITS=8 -DOF_E4M3
// module e5m2  -DAB=floate5m2_t -DSUM=float -DBITS=8 -DOF_E5M2
// module f16_nv2   --target-env vulkan1.3 -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16 -DFUNCTIONS -DFLEXIBLE
// module bf16_nv2  --target-env vulkan1.3 -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16 -DFUNCTIONS -DFLEXIBLE
// module i8_nv2    --target-env vulkan1.3 -DAB=int8_t -DSUM=int -DBITS=8 -DOF_I8 -DFUNCTIONS -DFLEXIBLE
// module f16_exact   --target-env vulkan1.3 -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16 -DFUNCTIONS
// module bf16_exact  --target-env vulkan1.3 -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16 -DFUNCTIONS
// module f16_maintenance1   -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16 -DFUNCTIONS -DMAINTENANCE1
// module bf16_maintenance1  -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16 -DFUNCTIONS -DMAINTENANCE1
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef OF_F16
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#ifdef OF_BF16
#extension GL_EXT_bfloat16 : require
#endif
#ifdef OF_I8
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#endif
#ifdef OF_E4M3
#extension GL_EXT_float_e4m3 : require
#endif
#ifdef OF_E5M2
#extension GL_EXT_float_e5m2 : require
#endif
#ifdef FUNCTIONS
#extension GL_GOOGLE_include_directive : require
#include "matrix_functions.glsl"
#endif

// Set by ModuleCase::plan; these defaults are a legal row.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 64; // 2 subgroups of SUBGROUP
layout(constant_id = 1) const uint SUBGROUP = 32;
layout(constant_id = 2) const uint M = 16;
layout(constant_id = 3) const uint N = 16;
layout(constant_id = 4) const uint K = 16;

// Eight elements of shared memory, as in gemm_coop_khr.comp.
#if BITS == 16
#define Piece uvec4
#else
#define Piece uvec2
#endif

layout(push_constant, std430) uniform Dims {
    uint iterations;
    uint first_block;
} dims;

layout(set = 0, binding = 0, std430) readonly buffer A { Piece a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { Piece b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer C { SUM c[]; };

// For each subgroup.
const uint A_TILE = M * K / 8;
const uint B_TILE = K * N / 8;
shared Piece a_tile[2 * A_TILE];
shared Piece b_tile[2 * B_TILE];
shared SUM c_tile[2 * M * N];

#define MatA coopmat<AB, gl_ScopeSubgroup, M, K, gl_MatrixUseA>
#define MatB coopmat<AB, gl_ScopeSubgroup, K, N, gl_MatrixUseB>
#define MatC coopmat<SUM, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>

#ifdef FUNCTIONS
// Rows of the row of matrices. Of one of multiples, M are twice as many.
#ifdef FLEXIBLE
const uint ROWS = M / 2;
#else
const uint ROWS = M;
#endif
#define PartA coopmat<AB, gl_ScopeSubgroup, ROWS, K, gl_MatrixUseA>
#define PartC coopmat<SUM, gl_ScopeSubgroup, ROWS, N, gl_MatrixUseAccumulator>

SUM least_bits(const in uint row, const in uint col, const in SUM x) {
    return SUM(int(x) & 63);
}

SUM larger(const in SUM x, const in SUM y) {
    return max(x, y);
}

SUM save(const in uint row, const in uint col, const in SUM x, const in uint first) {
    c[first + row * N + col] = x;
    return x;
}

// Operations of kernels on matrices besides products: (sums mod 64) B + the largest sum of each row, by a function of each
// element, a conversion of the sums to an operand, and a reduction of rows; stored by a function with each element's row and
// column. NOTE: no kernel reduces matrices of several times the row's M: Mesa 26.1 takes the wrong blocks then
// (findings/mesa_reductions_of_several_blocks.sh).
void others(uint tile, MatB mb, uint first) {
    [[unroll]] for (uint part = 0; part < M / ROWS; part++) {
        const uint at = part * ROWS * N;
        PartC sums;
        coopMatLoad(sums, c_tile, tile + at, N, gl_CooperativeMatrixLayoutRowMajor);
        PartC bits;
        EACH_ELEMENT(bits, sums, least_bits);
        PartC largest;
        REDUCE_ROWS(largest, sums, larger);
        PartC results = coopMatMulAdd(PartA(bits), mb, largest);
        EACH_ELEMENT(results, results, save, first + at);
    }
}
#endif

void main() {
    const uint lane = gl_SubgroupInvocationID;
    // If subgroups are smaller than SUBGROUP there are more: they compute the same as another.
    const uint part = gl_SubgroupID & 1;
    const uint product = (dims.first_block + gl_WorkGroupID.x) * 2 + part;
    const bool a_by_columns = (product & 1) == 1;
    const bool b_by_columns = (product & 2) == 2;
    MatC acc = MatC(SUM(0));
    MatB mb;
    [[dont_unroll]] for (uint i = 0; i < dims.iterations; i++) {
        const uint at = (product & 3) * dims.iterations + i; // more than four products are only timed
        for (uint e = lane; e < A_TILE; e += SUBGROUP) {
            a_tile[part * A_TILE + e] = a[at * A_TILE + e];
        }
        for (uint e = lane; e < B_TILE; e += SUBGROUP) {
            b_tile[part * B_TILE + e] = b[at * B_TILE + e];
        }
        barrier();
        MatA ma;
        if (a_by_columns) {
            coopMatLoad(ma, a_tile, part * A_TILE, M / 8, gl_CooperativeMatrixLayoutColumnMajor);
        } else {
            coopMatLoad(ma, a_tile, part * A_TILE, K / 8, gl_CooperativeMatrixLayoutRowMajor);
        }
        if (b_by_columns) {
            coopMatLoad(mb, b_tile, part * B_TILE, K / 8, gl_CooperativeMatrixLayoutColumnMajor);
        } else {
            coopMatLoad(mb, b_tile, part * B_TILE, N / 8, gl_CooperativeMatrixLayoutRowMajor);
        }
        acc = coopMatMulAdd(ma, mb, acc);
        barrier();
    }
    const uint first = product * (2 * M * N + 2 * SUBGROUP);
    coopMatStore(acc, c, first, N, gl_CooperativeMatrixLayoutRowMajor);
    coopMatStore(acc, c_tile, part * M * N, N, gl_CooperativeMatrixLayoutRowMajor);
    barrier();
#ifdef FUNCTIONS
    others(part * M * N, mb, first + M * N);
#else
    for (uint e = lane; e < M * N; e += SUBGROUP) {
        c[first + M * N + e] = c_tile[part * M * N + e];
    }
#endif
    // Further invocations of a larger subgroup store nothing.
    if (lane < SUBGROUP) {
        c[first + 2 * M * N + lane] = SUM(gl_SubgroupSize);
        c[first + 2 * M * N + SUBGROUP + lane] = SUM(lane);
    }
}
