// The self-test of a row of cooperative matrices that a workgroup holds: for each order of A and B in memory, a product of integers that
// must be exact.
//
// shapes    A and B: for each product and iteration a matrix, by rows or by columns; C: a product's results, then those of a clipped
//           product (`clipped`), the subgroup's size and the index of each lane of a subgroup
// grid      two workgroups, one for each order of B, with a product for each order of A; more, which repeat them, where the row is timed
// requires  a flexible row of these types at workgroup scope with LANES invocations, whose sizes M, N and K are multiples of
// sibling   coop_verify.comp; gemm/scalar_verify.wgsl computes as much without matrices
//
// module f16   --target-env vulkan1.3 -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16
// module bf16  --target-env vulkan1.3 -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16
// module i8    --target-env vulkan1.3 -DAB=int8_t -DSUM=int -DBITS=8
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_NV_cooperative_matrix2 : require
#ifdef OF_F16
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#ifdef OF_BF16
#extension GL_EXT_bfloat16 : require
#endif
#if BITS == 16
#extension GL_EXT_shader_16bit_storage : require
#else
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#endif

// Set by ModuleCase::plan; these defaults are a legal row.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 128;
layout(constant_id = 1) const uint SUBGROUP = 32;
layout(constant_id = 2) const uint M = 64;
layout(constant_id = 3) const uint N = 32;
layout(constant_id = 4) const uint K = 32;

layout(push_constant, std430) uniform Dims {
    uint iterations;
    uint first_block;
} dims;

layout(set = 0, binding = 0, std430) readonly buffer A { AB a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { AB b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer C { SUM c[]; };

#define MatA coopmat<AB, gl_ScopeWorkgroup, M, K, gl_MatrixUseA>
#define MatB coopmat<AB, gl_ScopeWorkgroup, K, N, gl_MatrixUseB>
#define MatC coopmat<SUM, gl_ScopeWorkgroup, M, N, gl_MatrixUseAccumulator>
#define Plane tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV>
#define Transposed tensorViewNV<2, false, 1, 0>

const uint CUT = 3; // columns of A and rows of B that `clipped` leaves out

// A matrix of lines that are `stride` apart. Elements past an end are loaded as zeros and not stored.
Plane plane(uint lines, uint length, uint stride) {
    Plane plane = createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
    return setTensorLayoutStrideNV(setTensorLayoutDimensionNV(plane, lines, length), stride, 1);
}

// Loads the matrices A and B at index `at`, whose first `k` columns and rows are read.
void load(out MatA ma, out MatB mb, uint at, uint k, bool a_by_columns, bool b_by_columns) {
    const Transposed transposed = createTensorViewNV(2, false, 1, 0);
    if (a_by_columns) {
        coopMatLoadTensorNV(ma, a, at * M * K, sliceTensorLayoutNV(plane(k, M, M), 0, K, 0, M), transposed);
    } else {
        coopMatLoadTensorNV(ma, a, at * M * K, sliceTensorLayoutNV(plane(M, k, K), 0, M, 0, K));
    }
    if (b_by_columns) {
        coopMatLoadTensorNV(mb, b, at * K * N, sliceTensorLayoutNV(plane(N, k, K), 0, N, 0, K), transposed);
    } else {
        coopMatLoadTensorNV(mb, b, at * K * N, sliceTensorLayoutNV(plane(k, N, N), 0, K, 0, N));
    }
}

// The operations of kernels at edges: the last iteration's product without the last CUT of k is stored, except its last row and
// column, which are ones.
void clipped(uint at, uint first, bool a_by_columns, bool b_by_columns) {
    MatA ma;
    MatB mb;
    load(ma, mb, at, K - CUT, a_by_columns, b_by_columns);
    MatC product = coopMatMulAdd(ma, mb, MatC(SUM(0)));
    coopMatStoreTensorNV(product, c, first, sliceTensorLayoutNV(plane(M - 1, N - 1, N), 0, M, 0, N));
    for (uint row = gl_LocalInvocationIndex; row < M; row += LANES) {
        c[first + row * N + N - 1] = SUM(1);
    }
    for (uint col = gl_LocalInvocationIndex; col < N - 1; col += LANES) {
        c[first + (M - 1) * N + col] = SUM(1);
    }
}

void main() {
    [[dont_unroll]] for (uint part = 0; part < 2; part++) {
        const uint product = (dims.first_block + gl_WorkGroupID.x) * 2 + part;
        const bool a_by_columns = (product & 1) == 1;
        const bool b_by_columns = (product & 2) == 2;
        const uint begin = (product & 3) * dims.iterations; // more than four products are only timed
        MatC acc = MatC(SUM(0));
        [[dont_unroll]] for (uint i = 0; i < dims.iterations; i++) {
            MatA ma;
            MatB mb;
            load(ma, mb, begin + i, K, a_by_columns, b_by_columns);
            acc = coopMatMulAdd(ma, mb, acc);
        }
        const uint first = product * (2 * M * N + 2 * SUBGROUP);
        coopMatStoreTensorNV(acc, c, first, sliceTensorLayoutNV(plane(M, N, N), 0, M, 0, N));
        clipped(begin + dims.iterations - 1, first + M * N, a_by_columns, b_by_columns);
        if (gl_SubgroupID == 0 && gl_SubgroupInvocationID < SUBGROUP) {
            c[first + 2 * M * N + gl_SubgroupInvocationID] = SUM(gl_SubgroupSize);
            c[first + 2 * M * N + SUBGROUP + gl_SubgroupInvocationID] = SUM(gl_SubgroupInvocationID);
        }
    }
}
