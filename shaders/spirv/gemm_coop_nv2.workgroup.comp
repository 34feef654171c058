// C = epilogue(A B) on cooperative matrices of a whole workgroup, whose sums are one matrix, a BM x BN block of C. A and B are read through
// tensor layouts: the driver stages them as it likes.
//
// shapes    A (m, k)  B (k, n)  C (m, n), batches of them; operands of any strides, C row-major
// grid      ceil(m / BM) * ceil(n / BN) blocks per matrix and split, GROUP rows of blocks at a time, to share the cache
// requires  a flexible row of these types at workgroup scope with LANES invocations, whose granularity divides BM, BN and BK
// edges     A and B are zero past every end, and C is not stored there: any m, n >= 1, k >= 0
// sibling   gemm/coop.wgsl for f16, gemm/tiled.wgsl for bf16, gemm/dot.wgsl for i8; gemm_coop_nv2.subgroup.comp
//
// module f16   --target-env vulkan1.3 -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16
// module bf16  --target-env vulkan1.3 -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16
// module i8    --target-env vulkan1.3 -DAB=int8_t -DSUM=int -DBITS=8 -DOF_I8
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
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

// Set by CoopNv2::build; these defaults are a legal tile.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 128;
layout(constant_id = 1) const uint BM = 128;
layout(constant_id = 2) const uint BN = 128;
layout(constant_id = 3) const uint BK = 32;
layout(constant_id = 4) const uint a_OUTER = 0; // 1: lines of memory run along the outer axis, 0: along k
layout(constant_id = 5) const uint b_OUTER = 1;
layout(constant_id = 6) const uint C_FORM = 5;          // OF_.. of gemm_result.glsl
layout(constant_id = 7) const uint EPILOGUE = 0;        // 0: sums are stored unchanged, and the following constants are not read
layout(constant_id = 8) const uint PREVIOUS = 0;        // 1: the previous contents of C are added
layout(constant_id = 9) const uint BIAS = 0;            // its form, or NOT_THERE
layout(constant_id = 10) const uint RESIDUAL = 0;       // its form, or NOT_THERE
layout(constant_id = 11) const uint ROW_SCALES = 0;     // 1: there are some
layout(constant_id = 12) const uint COLUMN_SCALES = 0;
layout(constant_id = 13) const uint ACTIVATION = 0;     // its place in Activation::ALL

#include "gemm_block.glsl"

#define Plane tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV>
#define Transposed tensorViewNV<2, false, 1, 0>

#define OF(name) a_##name
#define BINDING 0
#include "gemm_tensor.glsl"
#undef OF
#undef BINDING
#define OF(name) b_##name
#define BINDING 1
#include "gemm_tensor.glsl"
#undef OF
#undef BINDING

#include "gemm_epilogue.glsl"

#define MatA coopmat<AB, gl_ScopeWorkgroup, BM, BK, gl_MatrixUseA>
#define MatB coopmat<AB, gl_ScopeWorkgroup, BK, BN, gl_MatrixUseB>
#define MatC coopmat<SUM, gl_ScopeWorkgroup, BM, BN, gl_MatrixUseAccumulator>
#if BITS == 16
#define MatRounded coopmat<AB, gl_ScopeWorkgroup, BM, BN, gl_MatrixUseAccumulator>
#endif

// The result of one sum of a block whose first row and column in C are these. Past the end it is that of the last row or column.
float finish(const in uint row, const in uint col, const in float sum, const in uint row0, const in uint col0) {
    return finished(min(row0 + row, dims.m - 1), min(col0 + col, dims.n - 1), sum);
}

// Stores the result of one sum of such a block.
SUM save_element(const in uint row, const in uint col, const in SUM sum, const in uint row0, const in uint col0) {
    save(row0 + row, col0 + col, sum);
    return sum;
}

void main() {
    const uint index = block_index();
    if (index >= count_blocks()) {
        return;
    }
    const Block block = block_at(index);
    const Plane a_lines = a_plane(dims.m, block.k_end);
    const Plane b_lines = b_plane(dims.n, block.k_end);
    const Transposed transposed = createTensorViewNV(2, false, 1, 0);

    MatC acc = MatC(SUM(0));
    [[dont_unroll]] for (uint k0 = block.k_begin; k0 < block.k_end; k0 += BK) {
        MatA a;
        if (a_OUTER == 1) {
            coopMatLoadTensorNV(a, a_elements, a_first, sliceTensorLayoutNV(a_lines, k0, BK, block.row0, BM), transposed);
        } else {
            coopMatLoadTensorNV(a, a_elements, a_first, sliceTensorLayoutNV(a_lines, block.row0, BM, k0, BK));
        }
        MatB b;
        if (b_OUTER == 1) {
            coopMatLoadTensorNV(b, b_elements, b_first, sliceTensorLayoutNV(b_lines, k0, BK, block.col0, BN));
        } else {
            coopMatLoadTensorNV(b, b_elements, b_first, sliceTensorLayoutNV(b_lines, block.col0, BN, k0, BK), transposed);
        }
        acc = coopMatMulAdd(a, b, acc);
    }

    Plane c_lines = createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
    c_lines = setTensorLayoutDimensionNV(c_lines, dims.m, dims.n);
    c_lines = setTensorLayoutStrideNV(c_lines, dims.ldc, 1);
    c_lines = sliceTensorLayoutNV(c_lines, block.row0, BM, block.col0, BN);
#ifdef OF_I8
    if (EPILOGUE == 1) {
        coopMatPerElementNV(acc, acc, save_element, block.row0, block.col0);
        return;
    }
#else
    if (EPILOGUE == 1) {
        coopMatPerElementNV(acc, acc, finish, block.row0, block.col0);
    }
#endif
#if BITS == 16
    if (C_FORM == OF_OPERANDS) {
        coopMatStoreTensorNV(MatRounded(acc), c_rounded, c_first, c_lines);
        return;
    }
#endif
    coopMatStoreTensorNV(acc, c, c_first, c_lines);
}
