// Attention on cooperative matrices; functions change their elements, so scores, softmax and sums of values stay in
// matrices (FlashAttention-2: Dao, 2023). No number goes through shared memory between the two products.
//
// shapes    Q (batch, heads, queries, D), K (batch, kv_heads, keys, D), V (batch, kv_heads, keys, DV), any strides -> Y (batch, heads,
//           queries, DV), the largest scores and the logarithms of the sums of exponentials; f32 sums
// grid      SUBGROUPS * BR rows of one key head a workgroup; rows, then key heads
// subgroup  BR rows: their scores for BC keys at a time are one matrix, or with EXACT one for each CHUNK keys; their sums are one for
//           each CHUNK columns
// requires  a row of multiples with sums of f32 that divides BR, BC and CHUNK, at subgroup scope; with EXACT a row of exact sizes
//           BR x CHUNK x CHUNK: scores are converted to A of the second product. BR are the row's own m: Mesa 26.1 reduces rows of
//           taller matrices over wrong blocks. Functions of VK_NV_cooperative_matrix2, with MAINTENANCE1 those of
//           VK_EXT_cooperative_matrix_maintenance1. Subgroups of SUBGROUP and no other size
// edges     rows past the end are computed as the last one and not stored; keys outside a row's range, its length or its mask have no
//           weight: any queries, keys >= 1
// sibling   attention/attention_coop.wgsl for f16, attention/attention.wgsl for bf16
//
// module f16   --target-env vulkan1.3 -DAB=float16_t -DOF_F16
// module bf16  --target-env vulkan1.3 -DAB=bfloat16_t -DOF_BF16
// module f16_exact          --target-env vulkan1.3 -DAB=float16_t -DOF_F16 -DEXACT
// module bf16_exact         --target-env vulkan1.3 -DAB=bfloat16_t -DOF_BF16 -DEXACT
// module f16_maintenance1   -DAB=float16_t -DOF_F16 -DEXACT -DMAINTENANCE1
// module bf16_maintenance1  -DAB=bfloat16_t -DOF_BF16 -DEXACT -DMAINTENANCE1
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_EXT_shader_16bit_storage : require
#ifdef OF_F16
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#else
#extension GL_EXT_bfloat16 : require
#endif
#include "matrix_functions.glsl"

// Set by Nv2Tile::kernel; these defaults are a legal tile.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 128; // SUBGROUPS * SUBGROUP
layout(constant_id = 1) const uint SUBGROUP = 32;
layout(constant_id = 2) const uint BR = 16;
layout(constant_id = 3) const uint BC = 32;
layout(constant_id = 4) const uint D = 64;
layout(constant_id = 5) const uint DV = 64;
layout(constant_id = 6) const uint CHUNK = 16;      // columns of the matrices of Q, K, V and sums, which divide D and DV
layout(constant_id = 7) const uint BY_UNITS = 1;     // 1: operands are loaded by units of 16 bytes, 0: element by element
layout(constant_id = 8) const uint BIAS = 0;         // 1: there is one
layout(constant_id = 9) const uint LENGTHS = 0;      // 1: batches have lengths
layout(constant_id = 10) const uint KEEPS = 0;        // 1: there is a mask of keys
layout(constant_id = 11) const uint SLOPES = 0;      // 1: heads have slopes
layout(constant_id = 12) const uint CORNER_MOVES = 0; // 1: distances count from the last key within the length
layout(constant_id = 13) const uint STATISTICS = 0;  // 1: the largest scores and logarithms are stored

const uint SUBGROUPS = LANES / SUBGROUP;
const uint BLOCK_ROWS = SUBGROUPS * BR;
// NOTE: an odd number of 16 bytes, so that rows start in different banks.
const uint K_LD = (D / 8) | 1;
const uint V_LD = (DV / 8) | 1;
const uint P_LD = BC + 4;
const float LOWEST = -3.4028234663852886e38; // the lowest f32: the largest score of no key

#include "attention_dims.glsl"
#include "attention_elements.glsl"

#define OF(name) q_##name
#define BINDING 0
#define ALONG dims.along.x
#include "attention_side.glsl"
#undef OF
#undef BINDING
#undef ALONG
#define OF(name) k_##name
#define BINDING 1
#define ALONG dims.along.y
#include "attention_side.glsl"
#undef OF
#undef BINDING
#undef ALONG
#define OF(name) v_##name
#define BINDING 2
#define ALONG dims.along.z
#include "attention_side.glsl"
#undef OF
#undef BINDING
#undef ALONG

#include "attention_scores.glsl"
#include "exponential.glsl"

layout(set = 0, binding = 7, std430) writeonly buffer Y { AB y[]; };
layout(set = 0, binding = 7, std430) writeonly buffer Words { uint y_words[]; };
layout(set = 0, binding = 8, std430) writeonly buffer Statistics { vec2 statistics[]; };

// BC keys; or the rows of Q, before. BC values. Weights, for values that are not finite.
const uint K_UNITS = BC * K_LD;
const uint Q_UNITS = BLOCK_ROWS * K_LD;
shared uvec4 k_tile[K_UNITS > Q_UNITS ? K_UNITS : Q_UNITS];
shared uvec4 v_tile[BC * V_LD];
shared float p_tile[BLOCK_ROWS * P_LD];
shared uint strange[SUBGROUPS]; // whether a subgroup has put zeros for values that are not finite

// Columns of a matrix of scores: all keys of a block, or the columns of the driver's row. Macros, so that exact matrices of scores
// and of sums have one type.
#ifdef EXACT
#define KEYS CHUNK
#else
#define KEYS BC
#endif
const uint PARTS = BC / KEYS; // of a block of keys

#define MatQ coopmat<AB, gl_ScopeSubgroup, BR, CHUNK, gl_MatrixUseA>
#define MatK coopmat<AB, gl_ScopeSubgroup, CHUNK, KEYS, gl_MatrixUseB>
#define MatS coopmat<float, gl_ScopeSubgroup, BR, KEYS, gl_MatrixUseAccumulator>
#define MatP coopmat<AB, gl_ScopeSubgroup, BR, KEYS, gl_MatrixUseA>
#define MatV coopmat<AB, gl_ScopeSubgroup, KEYS, CHUNK, gl_MatrixUseB>
#define MatO coopmat<float, gl_ScopeSubgroup, BR, CHUNK, gl_MatrixUseAccumulator>

// Row `r` of a key head: its batch, its head, its query.
uvec3 row_of(uint batch_head, uint r) {
    const uint known = min(r, dims.group * dims.queries - 1); // rows past the end are computed as the last one
    const uint head = batch_head % dims.kv_heads * dims.group + known % dims.group;
    return uvec3(batch_head / dims.kv_heads, head, known / dims.group);
}

// Whether a row attends a key.
bool attends(uvec3 row, uint j) {
    const uvec2 range = range_of(row.z, key_count(row.x));
    return j >= range.x && j < range.y && is_kept(row.x, min(j, dims.keys - 1));
}

// The score of a product: scaled, plus the bias; minus infinity for a key that the row does not attend.
float score(const in uint row, const in uint col, const in float x, const in uvec4 at) {
    const uvec3 of = row_of(at.x, at.y + row);
    const uint j = at.z + col;
    float sum = x * dims.scale;
    if (BIAS == 1 || SLOPES == 1) {
        sum += added(of.x, of.y, of.z, min(j, dims.keys - 1));
    }
    if (at.w == 1) {
        sum = attends(of, j) ? sum : uintBitsToFloat(0xff800000);
    }
    return sum;
}

// e^(x - most), where most is at least x. A score of infinity is no number.
float weight(const in uint row, const in uint col, const in float x, const in float most) {
    return exp_of_negative(x - most);
}

float larger_element(const in uint row, const in uint col, const in float x, const in float other) {
    return max(x, other);
}

float sum_of(const in float x, const in float y) {
    return x + y;
}

// x plus the weighted values that are not finite, for the keys of a block that the row attends. The matrix begins at column
// `first_col`.
float with_strange(
    const in uint row, const in uint col, const in float x, const in uvec4 at, const in uint first_col
) {
    const uvec3 of = row_of(at.x, at.y + row);
    const uint first = dims.v.x + of.x * dims.v.y + at.x % dims.kv_heads * dims.v.z;
    float sum = x;
    [[dont_unroll]] for (uint c = 0; c < BC; c++) {
        const uint j = at.z + c;
        if (j < dims.keys && attends(of, j)) {
            const uint place = first + j * dims.v.w + (first_col + col) * dims.along.z;
            const float value = number(bitfieldExtract(v_words[place / 2], int(place % 2 * 16), 16));
            if ((floatBitsToUint(value) & 0x7f800000) == 0x7f800000) {
                sum += p_tile[(gl_SubgroupID * BR + row) * P_LD + c] * value;
            }
        }
    }
    return sum;
}

// Stores a result: the sum over the total weight, 0 for a row without keys.
float store(const in uint row, const in uint col, const in float x, const in float total, const in uvec3 at) {
    if (at.y + row < dims.group * dims.queries) {
        const uvec3 of = row_of(at.x, at.y + row);
        const uint start = dims.y.x + of.x * dims.y.y + of.y * dims.y.z + of.z * dims.y.w;
        y[start + at.z + col] = AB(total == 0.0 ? 0.0 : x / total);
    }
    return x;
}

// Stores the statistics of a row for the backward pass: both are minus infinity for a row without keys.
float store_statistics(
    const in uint row, const in uint col, const in float most, const in float total, const in uvec3 at
) {
    if (col == 0 && at.y + row < dims.group * dims.queries) {
        const uvec3 of = row_of(at.x, at.y + row);
        const vec2 known = vec2(most, log_of(total));
        const uint place = (of.x * dims.kv_heads * dims.group + of.y) * dims.queries + of.z;
        statistics[place] = total == 0.0 ? uintBitsToFloat(uvec2(0xff800000)) : known;
    }
    return most;
}

void main() {
    const uint lane = gl_LocalInvocationIndex;
    // Launched with zeros for dims, once, when the kernel is compiled: report the subgroup size.
    if (dims.heads == 0) {
        if (lane == 0) {
            y_words[0] = gl_SubgroupSize;
        }
        return;
    }
    const uint rows = dims.group * dims.queries; // of a key head
    const uint row_blocks = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const uint grid_row = gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z;
    const uint index = dims.first_block + gl_WorkGroupID.x + gl_NumWorkGroups.x * grid_row;
    const uint batch_head = index / row_blocks; // counted over the batch
    if (batch_head >= dims.heads) {
        return;
    }
    const uint batch = batch_head / dims.kv_heads;
    const uint kv_head = batch_head % dims.kv_heads;
    const uint block_row = (index - batch_head * row_blocks) * BLOCK_ROWS;
    const uint own_row = block_row + gl_SubgroupID * BR;
    const uint k_base = dims.k.x + batch * dims.k.y + kv_head * dims.k.z;
    const uint v_base = dims.v.x + batch * dims.v.y + kv_head * dims.v.z;

    // Q stays in matrices.
    for (uint unit = lane; unit < BLOCK_ROWS * (D / 8); unit += LANES) {
        const uvec3 of = row_of(batch_head, block_row + unit / (D / 8));
        const uint start = dims.q.x + of.x * dims.q.y + of.y * dims.q.z + of.z * dims.q.w;
        k_tile[unit / (D / 8) * K_LD + unit % (D / 8)] = q_unit(start, unit % (D / 8) * 8);
    }
    barrier();
    MatQ q_rows[D / CHUNK];
    [[unroll]] for (uint c = 0; c < D / CHUNK; c++) {
        const uint at = gl_SubgroupID * BR * K_LD + c * (CHUNK / 8);
        coopMatLoad(q_rows[c], k_tile, at, K_LD, gl_CooperativeMatrixLayoutRowMajor);
    }
    barrier();
    MatO sums[DV / CHUNK];
    [[unroll]] for (uint c = 0; c < DV / CHUNK; c++) {
        sums[c] = MatO(0.0);
    }
    // All elements of a row hold its largest score, and the sum of its weights.
    MatO most = MatO(LOWEST);
    MatO total = MatO(0.0);

    // Keys that all rows of the workgroup attend, then keys that only some rows attend.
    const uint count = key_count(batch);
    const uvec2 first_range = range_of(block_row / dims.group, count);
    const uvec2 last_range = range_of((min(block_row + BLOCK_ROWS, rows) - 1) / dims.group, count);
    const uint all_first = max(first_range.x, last_range.x);
    const uint all_end = min(first_range.y, last_range.y);
    const uint some_first = min(first_range.x, last_range.x);
    const uint some_end = max(first_range.y, last_range.y);

    [[dont_unroll]] for (uint j0 = some_first; j0 < some_end; j0 += BC) {
        const bool is_edge = j0 < all_first || j0 + BC > all_end;
        bool is_strange = false;
        for (uint unit = lane; unit < BC * (D / 8); unit += LANES) {
            const uint j = min(j0 + unit / (D / 8), some_end - 1);
            k_tile[unit / (D / 8) * K_LD + unit % (D / 8)] = k_unit(k_base + j * dims.k.w, unit % (D / 8) * 8);
        }
        for (uint unit = lane; unit < BC * (DV / 8); unit += LANES) {
            const uint j = min(j0 + unit / (DV / 8), some_end - 1);
            uvec4 values = v_unit(v_base + j * dims.v.w, unit % (DV / 8) * 8);
            if (KEEPS == 1 && !is_kept(batch, j)) {
                values = uvec4(0);
            }
            // Zero times infinity or NaN is not zero.
            if (KEEPS == 1 || is_edge) {
                values = only_finite(values, is_strange);
            }
            v_tile[unit / (DV / 8) * V_LD + unit % (DV / 8)] = values;
        }
        is_strange = subgroupAny(is_strange);
        if (gl_SubgroupInvocationID == 0) {
            strange[gl_SubgroupID] = is_strange ? 1 : 0;
        }
        barrier();
        uint are_strange = 0;
        [[unroll]] for (uint n = 0; n < SUBGROUPS; n++) {
            are_strange |= strange[n];
        }
        MatV values[PARTS];
        MatS scores[PARTS];
        [[unroll]] for (uint p = 0; p < PARTS; p++) {
            coopMatLoad(values[p], v_tile, p * KEYS * V_LD, V_LD, gl_CooperativeMatrixLayoutRowMajor);
            scores[p] = MatS(0.0);
        }
        [[unroll]] for (uint c = 0; c < D / CHUNK; c++) {
            [[unroll]] for (uint p = 0; p < PARTS; p++) {
                MatK keys;
                const uint from = p * KEYS * K_LD + c * (CHUNK / 8);
                coopMatLoad(keys, k_tile, from, K_LD, gl_CooperativeMatrixLayoutColumnMajor);
                scores[p] = coopMatMulAdd(q_rows[c], keys, scores[p]);
            }
        }

        const uvec4 at = uvec4(batch_head, own_row, j0, KEEPS == 1 || is_edge ? 1 : 0);
        MatO top = most;
        [[unroll]] for (uint p = 0; p < PARTS; p++) {
            const uvec4 part_at = uvec4(at.xy, j0 + p * KEYS, at.w);
            EACH_ELEMENT(scores[p], scores[p], score, part_at);
            MatO part_top;
            REDUCE_ROWS(part_top, scores[p], larger);
            EACH_ELEMENT(top, part_top, larger_element, top);
        }
        MatO factor;
        EACH_ELEMENT(factor, most, weight, top);
        most = top;
#ifdef EXACT
        const MatS tops = top;
#else
        MatS tops;
        REDUCE_ROWS(tops, top, first_of);
#endif
        EACH_ELEMENT(total, total, product, factor);
        MatS weights[PARTS];
        MatP factors_of_values[PARTS];
        [[unroll]] for (uint p = 0; p < PARTS; p++) {
            EACH_ELEMENT(weights[p], scores[p], weight, tops);
            MatO part_total;
            REDUCE_ROWS(part_total, weights[p], sum_of);
            total += part_total;
            factors_of_values[p] = MatP(weights[p]);
        }
        [[unroll]] for (uint c = 0; c < DV / CHUNK; c++) {
            EACH_ELEMENT(sums[c], sums[c], product, factor);
            [[unroll]] for (uint p = 0; p < PARTS; p++) {
                sums[c] = coopMatMulAdd(factors_of_values[p], values[p], sums[c]);
                if (c + 1 < DV / CHUNK) {
                    const uint from = p * KEYS * V_LD + (c + 1) * (CHUNK / 8);
                    coopMatLoad(values[p], v_tile, from, V_LD, gl_CooperativeMatrixLayoutRowMajor);
                }
            }
        }

        if (are_strange != 0) {
            const uint own_weights = gl_SubgroupID * BR * P_LD;
            [[unroll]] for (uint p = 0; p < PARTS; p++) {
                const uint to = own_weights + p * KEYS;
                coopMatStore(weights[p], p_tile, to, P_LD, gl_CooperativeMatrixLayoutRowMajor);
            }
            barrier();
            [[unroll]] for (uint c = 0; c < DV / CHUNK; c++) {
                EACH_ELEMENT(sums[c], sums[c], with_strange, at, c * CHUNK);
            }
        }
        barrier();
    }

    [[unroll]] for (uint c = 0; c < DV / CHUNK; c++) {
        EACH_ELEMENT(sums[c], sums[c], store, total, uvec3(batch_head, own_row, c * CHUNK));
    }
    if (STATISTICS == 1) {
        EACH_ELEMENT(most, most, store_statistics, total, uvec3(batch_head, own_row, 0));
    }
}
