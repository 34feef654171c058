// C = epilogue(A B) on cooperative matrices of flexible size, a BM x BN block of C per workgroup, its operands staged in shared memory BK deep.
//
// shapes    A (m, k)  B (k, n)  C (m, n), batches of them; operands of any strides, C row-major
// grid      ceil(m / BM) * ceil(n / BN) blocks per matrix and split, GROUP rows of blocks at a time, to share the cache
// subgroup  one WM x WN tile of the block, whose sums are one matrix
// requires  a flexible row of these types at subgroup scope, whose granularity divides WM, WN and BK; subgroups of SUBGROUP and no
//           other size
// edges     rows and columns past the end repeat the last one and are not stored, k is zero-filled: any m, n >= 1, k >= 0
// sibling   gemm/coop.wgsl for f16, gemm/tiled.wgsl for bf16, gemm/dot.wgsl for i8
//
// module f16   --target-env vulkan1.3 -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16
// module bf16  --target-env vulkan1.3 -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16
// module i8    --target-env vulkan1.3 -DAB=int8_t -DSUM=int -DBITS=8 -DOF_I8
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
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
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#endif

// Set by CoopNv2::build; these defaults are a legal tile.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 128; // BM / WM * BN / WN subgroups
layout(constant_id = 1) const uint BM = 64;
layout(constant_id = 2) const uint BN = 64;
layout(constant_id = 3) const uint BK = 32;
layout(constant_id = 4) const uint WM = 32;
layout(constant_id = 5) const uint WN = 32;
layout(constant_id = 6) const uint STAGES = 2;
layout(constant_id = 7) const uint a_OUTER = 0;    // 1: a unit of 16 bytes runs along the outer axis, 0: along k
layout(constant_id = 8) const uint b_OUTER = 1;
layout(constant_id = 9) const uint a_BY_UNITS = 1; // 0: units are loaded element by element
layout(constant_id = 10) const uint b_BY_UNITS = 1;
layout(constant_id = 11) const uint a_TRANSPOSED = 0; // 1: units along the outer axis are put into rows along k
layout(constant_id = 12) const uint b_TRANSPOSED = 0;
layout(constant_id = 13) const uint C_DIRECT = 1;      // 1: whole blocks are stored as matrices; not of i8 with an epilogue
layout(constant_id = 14) const uint C_FORM = 5;         // OF_.. of gemm_result.glsl
layout(constant_id = 15) const uint EPILOGUE = 0;       // 0: sums are stored unchanged, and the following constants are not read
layout(constant_id = 16) const uint PREVIOUS = 0;       // 1: the previous contents of C are added
layout(constant_id = 17) const uint BIAS = 0;           // its form, or NOT_THERE
layout(constant_id = 18) const uint RESIDUAL = 0;       // its form, or NOT_THERE
layout(constant_id = 19) const uint ROW_SCALES = 0;     // 1: there are some
layout(constant_id = 20) const uint COLUMN_SCALES = 0;
layout(constant_id = 21) const uint ACTIVATION = 0;     // its place in Activation::ALL

const uint UNIT = 128 / BITS; // elements of 16 bytes
const uint PER_WORD = 32 / BITS;
const uint PIECES = UNIT / 8; // of a unit

// Eight elements of shared memory.
#if BITS == 16
#define Piece uvec4
#else
#define Piece uvec2
#endif

#include "gemm_block.glsl"

#define a_BLOCK BM
#define b_BLOCK BN
#define OF(name) a_##name
#define BINDING 0
#include "gemm_operand.glsl"
#undef OF
#undef BINDING
#define OF(name) b_##name
#define BINDING 1
#include "gemm_operand.glsl"
#undef OF
#undef BINDING

#include "gemm_epilogue.glsl"

#define MatA coopmat<AB, gl_ScopeSubgroup, WM, BK, gl_MatrixUseA>
#define MatB coopmat<AB, gl_ScopeSubgroup, BK, WN, gl_MatrixUseB>
#define MatC coopmat<SUM, gl_ScopeSubgroup, WM, WN, gl_MatrixUseAccumulator>
#if BITS == 16
#define MatRounded coopmat<AB, gl_ScopeSubgroup, WM, WN, gl_MatrixUseAccumulator>
#endif

// The result of one sum of a tile whose first row and column in C are these. Past the end it is that of the last row or column.
float finish(const in uint row, const in uint col, const in float sum, const in uint row0, const in uint col0) {
    return finished(min(row0 + row, dims.m - 1), min(col0 + col, dims.n - 1), sum);
}

// Stores the result of one sum of such a tile.
SUM save_element(const in uint row, const in uint col, const in SUM sum, const in uint row0, const in uint col0) {
    save(row0 + row, col0 + col, sum);
    return sum;
}

void main() {
    // Launched with zeros for dims, once, when the kernel is compiled: report the subgroup size.
    if (dims.m == 0) {
        if (gl_LocalInvocationIndex == 0) {
            c_words[0] = gl_SubgroupSize;
        }
        return;
    }
    const uint index = block_index();
    if (index >= count_blocks()) {
        return;
    }
    const Block block = block_at(index);
    const uint tile_row = gl_SubgroupID / (BN / WN) * WM;
    const uint tile_col = gl_SubgroupID % (BN / WN) * WN;

    MatC acc = MatC(SUM(0));
    a_locate(block.row0, dims.m);
    b_locate(block.col0, dims.n);
    // The places of the subgroup's matrices in the first stage of shared memory.
    const uint a_tile_at = a_place(tile_row, 0);
    const uint b_tile_at = b_place(tile_col, 0);
    uint stage = 0;
    [[dont_unroll]] for (uint k0 = block.k_begin; k0 < block.k_end; k0 += BK) {
        // The first iteration, and one that extends past the end of k, are not loaded ahead.
        const bool is_loaded = k0 > block.k_begin && k0 + BK <= block.k_end;
        a_stage(block.row0, dims.m, k0, block.k_end, is_loaded, stage);
        b_stage(block.col0, dims.n, k0, block.k_end, is_loaded, stage);
        // Two stages need no other barrier: the stage that is filled next was read before this barrier.
        barrier();
        // Start to load the units of the next iteration.
        if (k0 + 2 * BK <= block.k_end) {
            a_load_ahead(block.row0, dims.m, k0 + BK);
            b_load_ahead(block.col0, dims.n, k0 + BK);
        }
        MatA a;
        coopMatLoad(a, a_tile, a_tile_at + stage * a_STAGE, a_LD,
            a_ROWS_OUTER == 1 ? gl_CooperativeMatrixLayoutColumnMajor : gl_CooperativeMatrixLayoutRowMajor);
        MatB b;
        coopMatLoad(b, b_tile, b_tile_at + stage * b_STAGE, b_LD,
            b_ROWS_OUTER == 1 ? gl_CooperativeMatrixLayoutRowMajor : gl_CooperativeMatrixLayoutColumnMajor);
        acc = coopMatMulAdd(a, b, acc);
        // The next iteration fills the other stage. If there is only one, it waits until this one has been read.
        if (STAGES == 1) {
            barrier();
        }
        stage = (stage + 1) % STAGES;
    }

    const uint row0 = block.row0 + tile_row;
    const uint col0 = block.col0 + tile_col;
    const bool is_whole = row0 + WM <= dims.m && col0 + WN <= dims.n;
    if (C_DIRECT == 0 || !is_whole) {
        coopMatPerElementNV(acc, acc, save_element, row0, col0);
        return;
    }
    const uint at = c_first + row0 * dims.ldc + col0;
#ifndef OF_I8
    if (EPILOGUE == 1) {
        coopMatPerElementNV(acc, acc, finish, row0, col0);
    }
#endif
#if BITS == 16
    if (C_FORM == OF_OPERANDS) {
        coopMatStore(MatRounded(acc), c_rounded, at, dims.ldc, gl_CooperativeMatrixLayoutRowMajor);
        return;
    }
#endif
    coopMatStore(acc, c, at, dims.ldc, gl_CooperativeMatrixLayoutRowMajor);
}
