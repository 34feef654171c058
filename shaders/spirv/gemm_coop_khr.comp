// C = epilogue(A B) on cooperative matrices of any shape, a BM x BN block of C per workgroup, its operands staged in shared memory BK deep.
//
// shapes    A (m, k)  B (k, n)  C (m, n), batches of them; operands of any strides, C row-major
// grid      ceil(m / BM) * ceil(n / BN) blocks per matrix and split, GROUP rows of blocks at a time, to share the cache
// subgroup  one WM x WN tile of the block, held as M x N cooperative matrices
// requires  a row M x N x K of these types at subgroup scope; subgroups of SUBGROUP and no other size
// edges     rows and columns past the end repeat the last one and are not stored, k is zero-filled: any m, n >= 1, k >= 0
// sibling   gemm/coop.wgsl for f16, gemm/tiled.wgsl for bf16, e4m3 and e5m2 and for sums of f16, gemm/dot.wgsl for i8
//
// module f16   -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16
// module bf16  -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16
// module i8    -DAB=int8_t -DSUM=int -DBITS=8 -DOF_I8
// module e4m3  -DAB=floate4m3_t -DSUM=float -DBITS=8 -DOF_E4M3
// module e5m2  -DAB=floate5m2_t -DSUM=float -DBITS=8 -DOF_E5M2
// module f16_segments   -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16 -DSEGMENTS
// module bf16_segments  -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16 -DSEGMENTS
// module f16_signs      -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16 -DSIGNS
// module bf16_signs     -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16 -DSIGNS
// module f16_windows    -DAB=float16_t -DSUM=float -DBITS=16 -DOF_F16 -DWINDOWS
// module bf16_windows   -DAB=bfloat16_t -DSUM=float -DBITS=16 -DOF_BF16 -DWINDOWS
// module i8_windows     -DAB=int8_t -DSUM=int -DBITS=8 -DOF_I8 -DWINDOWS
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef OF_F16
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#ifdef OF_BF16
#extension GL_EXT_bfloat16 : require
#endif
#if BITS == 16
#extension GL_EXT_shader_16bit_storage : require
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

// Set by CoopKhr::build; these defaults are a legal tile.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 128; // BM / WM * BN / WN subgroups of SUBGROUP
layout(constant_id = 1) const uint SUBGROUP = 32;
layout(constant_id = 2) const uint M = 16;
layout(constant_id = 3) const uint N = 16;
layout(constant_id = 4) const uint K = 16;
layout(constant_id = 5) const uint BM = 64;
layout(constant_id = 6) const uint BN = 64;
layout(constant_id = 7) const uint BK = 32;
layout(constant_id = 8) const uint WM = 32;
layout(constant_id = 9) const uint WN = 32;
layout(constant_id = 10) const uint STAGES = 2;
layout(constant_id = 11) const uint a_OUTER = 0;    // 1: a unit of 16 bytes runs along the outer axis, 0: along k
layout(constant_id = 12) const uint b_OUTER = 1;
layout(constant_id = 13) const uint a_BY_UNITS = 1; // 0: units are loaded element by element
layout(constant_id = 14) const uint b_BY_UNITS = 1;
layout(constant_id = 15) const uint a_TRANSPOSED = 0; // 1: units along the outer axis are put into rows along k
layout(constant_id = 16) const uint b_TRANSPOSED = 0;
layout(constant_id = 17) const uint C_DIRECT = 1;   // 1: whole blocks are stored as matrices, to which the epilogue is applied
layout(constant_id = 18) const uint C_FORM = 5;     // OF_.. of gemm_result.glsl
#ifdef SEGMENTS
layout(constant_id = 19) const uint SOURCE = 0; // of A. 0: it is stored, 1: it consists of products of blades, 2: times gates
#else
layout(constant_id = 19) const uint EPILOGUE = 0;   // 0: sums are stored unchanged, and the following constants are not read
layout(constant_id = 20) const uint PREVIOUS = 0;   // 1: the previous contents of C are added
layout(constant_id = 21) const uint BIAS = 0;       // its form, or NOT_THERE
layout(constant_id = 22) const uint BIAS_OF_ROWS = 0; // 1: the bias has an element for each row, 0: for each column
layout(constant_id = 23) const uint RESIDUAL = 0;   // its form, or NOT_THERE
layout(constant_id = 24) const uint ROW_SCALES = 0; // 1: there are some; 2, with windows: a shift of columns
layout(constant_id = 25) const uint COLUMN_SCALES = 0;
layout(constant_id = 26) const uint ACTIVATION = 0;
#endif
#ifdef OF_F16
layout(constant_id = 27) const uint SUMS_IN_F16 = 0; // 1: each product of two matrices is summed in f16, and these sums in f32
#endif
#ifdef SIGNS
layout(constant_id = 28) const uint HALF_AXIS = 0; // the axis of B with two halves: 0 the outer axis, 1 k
layout(constant_id = 29) const uint SIGN_HALF = 0; // the half of signs: 0 the first, 1 the second
layout(constant_id = 30) const uint SIGN_ROWS = 0; // the axis of B that is indexed by the rows of the signs, as HALF_AXIS
layout(constant_id = 31) const uint TAG = 0;       // the last word of the Philox counters
#endif
#ifdef WINDOWS
layout(constant_id = 28) const uint B_READS = 0; // 0: lines, 1: taps of the windows of A, 2: its rows are windows, and those of A are not
layout(constant_id = 29) const uint GROUPS = 0;  // 1: each matrix along axis 1 of the batch has a group of the image's channels
layout(constant_id = 30) const uint DEPTH = 0;   // 1: images are volumes
#endif

const uint UNIT = 128 / BITS; // elements of 16 bytes
const uint PER_WORD = 32 / BITS;
const uint PIECES = UNIT / 8; // of a unit
const uint ROWS = WM / M;     // of matrices in a subgroup tile
const uint COLS = WN / N;
const uint OUT_LD = N + 4;    // four sums more, so that rows start in different banks

// Eight elements of shared memory, the narrowest row of a matrix.
#if BITS == 16
#define Piece uvec4
#else
#define Piece uvec2
#endif

#include "gemm_block.glsl"

#define a_BLOCK BM
#define b_BLOCK BN
#ifdef SEGMENTS
uvec4 product_unit(uint outer, uint extent, uint k, uint k_end);
#define MADE product_unit
#define IS_MADE (SOURCE != 0)
#endif
#ifdef WINDOWS
uvec4 window_unit(uint outer0, uint outer, uint k, uint k_end);
#define MADE_AHEAD window_unit
#define IS_MADE (B_READS != 2)
#endif
#define OF(name) a_##name
#define BINDING 0
#include "gemm_operand.glsl"
#undef OF
#undef BINDING
#undef MADE
#undef IS_MADE
#undef MADE_AHEAD
#ifdef SIGNS
uvec4 sign_unit(uint outer, uint extent, uint k, uint k_end);
#define MADE sign_unit
#define IS_MADE true
#endif
#ifdef WINDOWS
uvec4 row_unit(uint outer0, uint outer, uint k, uint k_end);
#define MADE_AHEAD row_unit
#define IS_MADE (B_READS != 0)
#endif
#define OF(name) b_##name
#define BINDING 1
#include "gemm_operand.glsl"
#undef OF
#undef BINDING
#undef MADE
#undef IS_MADE
#undef MADE_AHEAD

#ifdef SEGMENTS
#include "gemm_segments.glsl"
#else
#include "gemm_epilogue.glsl"
#endif
#ifdef SIGNS
#include "gemm_signs.glsl"
#endif
#ifdef WINDOWS
#include "gemm_windows.glsl"
#endif

// One matrix of each subgroup tile, if it cannot be stored to memory directly.
shared SUM out_tile[LANES / SUBGROUP * M * OUT_LD];

#define MatA coopmat<AB, gl_ScopeSubgroup, M, K, gl_MatrixUseA>
#define MatB coopmat<AB, gl_ScopeSubgroup, K, N, gl_MatrixUseB>
#define MatC coopmat<SUM, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>
#define Mat16 coopmat<float16_t, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>

#if BITS == 16
#define MatRounded coopmat<AB, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>
#endif

// The epilogue of sums of f32 is applied to matrices. Sums of i8 have another type than their results, and segments have
// no epilogue.
#if !defined(OF_I8) && !defined(SEGMENTS)
#define FINISHES_MATRICES
#include "gemm_lines.glsl"
#endif

// Stores a matrix of sums that lies in shared memory from `first` on, at this row and column of C, by this lane of its subgroup.
void save_piece(uint row0, uint col0, uint first, uint lane) {
    if (C_FORM == OF_SUMS || C_FORM == OF_OPERANDS || C_FORM == OF_F32) {
        for (uint e = lane; e < M * N; e += SUBGROUP) {
            save(row0 + e / N, col0 + e % N, out_tile[first + e / N * OUT_LD + e % N]);
        }
        return;
    }
#ifndef SEGMENTS
    // Four results of a row fill whole words. NOTE: unrolled, four epilogues at once do not fit into an Intel GPU's registers.
    for (uint quad = lane; quad < M * N / 4; quad += SUBGROUP) {
        const uint row = row0 + quad / (N / 4);
        const uint col = col0 + quad % (N / 4) * 4;
        if (row >= dims.m || col >= dims.n) {
            continue;
        }
        uvec2 words = uvec2(0);
        [[dont_unroll]] for (uint e = 0; e < 4; e++) {
            const SUM sum = out_tile[first + quad / (N / 4) * OUT_LD + quad % (N / 4) * 4 + e];
            const uint bits = bits_of_result(finished(row, col + e, float(sum)));
            words = C_FORM == OF_I8_BITS ? uvec2(words.x >> 8 | bits << 24, 0)
                                         : uvec2(words.x >> 16 | words.y << 16, words.y >> 16 | bits << 16);
        }
        const uint at = c_first + row * dims.ldc + col;
        if (C_FORM == OF_I8_BITS) {
            c_words[at / 4] = words.x;
        } else {
            c_words[at / 2] = words.x;
            c_words[at / 2 + 1] = words.y;
        }
    }
#endif
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

    MatC acc[ROWS][COLS];
    [[unroll]] for (uint i = 0; i < ROWS; i++) {
        [[unroll]] for (uint j = 0; j < COLS; j++) {
            acc[i][j] = MatC(SUM(0));
        }
    }
#ifdef WINDOWS
    if (B_READS != 2) {
        prepare_windows(block.row0);
    }
#endif
    a_locate(block.row0, dims.m);
    b_locate(block.col0, dims.n);
    const uint lane = gl_SubgroupInvocationID; // read here, so that drivers do not compute it again for every load of matrices
    // The places of the subgroup's first matrices in the first stage of shared memory.
    const uint a_tile_at = a_place(tile_row, 0);
    const uint b_tile_at = b_place(tile_col, 0);
    uint stage = 0;
    [[dont_unroll]] for (uint k0 = block.k_begin; k0 < block.k_end; k0 += BK) {
#ifdef SEGMENTS
        // Nothing is loaded ahead: the next iteration may be of another segment.
        const uint k_of_segment = k0 - enter_segment(k0);
        a_stage(block.row0, dims.m, k_of_segment, dims.segment_length, false, stage);
        b_stage(block.col0, dims.n, k_of_segment, dims.segment_length, false, stage);
        barrier();
#else
        // The first iteration, and one that extends past the end of k, are not loaded ahead.
        const bool is_loaded = k0 > block.k_begin && k0 + BK <= block.k_end;
        a_stage(block.row0, dims.m, k0, block.k_end, is_loaded, stage);
#ifdef SIGNS
        b_stage(block.col0, dims.n, k0, block.k_end, false, stage); // there is no load to wait for
#else
        b_stage(block.col0, dims.n, k0, block.k_end, is_loaded, stage);
#endif
        // Two stages need no other barrier: the stage that is filled next was read before this barrier.
        barrier();
        // Start to load the units of the next iteration.
        if (k0 + 2 * BK <= block.k_end) {
            a_load_ahead(block.row0, dims.m, k0 + BK);
#ifndef SIGNS
            b_load_ahead(block.col0, dims.n, k0 + BK);
#endif
        }
#endif
        const uint a_now = a_tile_at + stage * a_STAGE;
        const uint b_now = b_tile_at + stage * b_STAGE;
        [[unroll]] for (uint kk = 0; kk < BK; kk += K) {
            MatA a_rows[ROWS];
            [[unroll]] for (uint i = 0; i < ROWS; i++) {
                coopMatLoad(a_rows[i], a_tile, a_now + a_place(i * M, kk), a_LD,
                    a_ROWS_OUTER == 1 ? gl_CooperativeMatrixLayoutColumnMajor : gl_CooperativeMatrixLayoutRowMajor);
            }
            [[unroll]] for (uint j = 0; j < COLS; j++) {
                MatB b_col;
                coopMatLoad(b_col, b_tile, b_now + b_place(j * N, kk), b_LD,
                    b_ROWS_OUTER == 1 ? gl_CooperativeMatrixLayoutRowMajor : gl_CooperativeMatrixLayoutColumnMajor);
                [[unroll]] for (uint i = 0; i < ROWS; i++) {
#ifdef OF_F16
                    if (SUMS_IN_F16 == 1) {
                        acc[i][j] += MatC(coopMatMulAdd(a_rows[i], b_col, Mat16(float16_t(0))));
                        continue;
                    }
#endif
                    acc[i][j] = coopMatMulAdd(a_rows[i], b_col, acc[i][j]);
                }
            }
        }
        // The next iteration fills the other stage. If there is only one, it waits until this one has been read.
        if (STAGES == 1) {
            barrier();
        }
        stage = (stage + 1) % STAGES;
    }

    const uint row0 = block.row0 + tile_row;
    const uint col0 = block.col0 + tile_col;
    const bool is_whole = block.row0 + BM <= dims.m && block.col0 + BN <= dims.n;
    if (C_DIRECT == 1 && is_whole) {
#ifdef FINISHES_MATRICES
        if (EPILOGUE == 1) {
            load_lines(block.row0, block.col0);
        }
#endif
        [[unroll]] for (uint i = 0; i < ROWS; i++) {
            [[unroll]] for (uint j = 0; j < COLS; j++) {
                const uint at = c_first + (row0 + i * M) * dims.ldc + col0 + j * N;
                MatC results = acc[i][j];
#ifdef FINISHES_MATRICES
                if (EPILOGUE == 1) {
                    results = finished(results, tile_row + i * M, tile_col + j * N);
                }
#endif
#if BITS == 16
                if (C_FORM == OF_OPERANDS) {
                    coopMatStore(MatRounded(results), c_rounded, at, dims.ldc, gl_CooperativeMatrixLayoutRowMajor);
                    continue;
                }
#endif
                coopMatStore(results, c, at, dims.ldc, gl_CooperativeMatrixLayoutRowMajor);
            }
        }
        return;
    }
    // One matrix of each subgroup tile at a time. Unrolled, the loop would repeat the epilogue.
    const uint out_first = gl_SubgroupID * M * OUT_LD;
    [[dont_unroll]] for (uint piece = 0; piece < ROWS * COLS; piece++) {
        barrier();
        [[unroll]] for (uint i = 0; i < ROWS; i++) {
            [[unroll]] for (uint j = 0; j < COLS; j++) {
                if (piece == i * COLS + j) {
                    coopMatStore(acc[i][j], out_tile, out_first, OUT_LD, gl_CooperativeMatrixLayoutRowMajor);
                }
            }
        }
        barrier();
        save_piece(row0 + piece / COLS * M, col0 + piece % COLS * N, out_first, lane);
    }
}
