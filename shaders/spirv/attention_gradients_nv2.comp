// The gradient of an attention's queries, or those of its keys and values, on cooperative matrices; functions change their
// elements, so weights and gradients of scores stay in matrices (FlashAttention-2: Dao, 2023).
//
// shapes    Q (batch, heads, queries, D), K (batch, kv_heads, keys, D), V (batch, kv_heads, keys, DV), G (batch, heads, queries, DV), any
//           strides, statistics (rows) of four f32 -> dQ like Q, or dK like K and behind it dV like V; f32 sums
// grid      SUBGROUPS * BR rows of one key head a workgroup: queries of its heads, or keys (OF_KEYS); rows, then key heads
// subgroup  BR rows: their scores, for BC of the other side at a time, are one matrix, or with EXACT one for each CHUNK of them; their
//           sums are one for each CHUNK columns
// requires  what attention_nv2.comp does
// edges     rows past the end are computed as the last one and not stored; pairs of a query and a key that it does not attend have no
//           weight, keys that are masked store zeros: any queries, keys >= 1
// sibling   attention/attention_gradients_coop.wgsl for f16, attention/attention_dq.wgsl and attention_dkv.wgsl for bf16
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

// Set by Nv2GradientTile::kernel; these defaults are a legal tile.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 128; // SUBGROUPS * SUBGROUP
layout(constant_id = 1) const uint SUBGROUP = 32;
layout(constant_id = 2) const uint BR = 16;
layout(constant_id = 3) const uint BC = 16;
layout(constant_id = 4) const uint D = 64;
layout(constant_id = 5) const uint DV = 64;
layout(constant_id = 6) const uint CHUNK = 16;  // columns of the matrices of operands and sums, which divide D and DV
layout(constant_id = 7) const uint OF_KEYS = 0;  // 1: rows are keys, 0: queries
layout(constant_id = 8) const uint BY_UNITS = 1; // 1: operands are loaded by units of 16 bytes, 0: element by element
layout(constant_id = 9) const uint BIAS = 0;     // 1: there is one
layout(constant_id = 10) const uint LENGTHS = 0;  // 1: batches have lengths
layout(constant_id = 11) const uint KEEPS = 0;   // 1: there is a mask of keys
layout(constant_id = 12) const uint SLOPES = 0;  // 1: heads have slopes

const uint CORNER_MOVES = 0; // a backward pass has no cache
const uint SUBGROUPS = LANES / SUBGROUP;
const uint BLOCK_ROWS = SUBGROUPS * BR;
const uint MOST_ROWS = BLOCK_ROWS > BC ? BLOCK_ROWS : BC;
// NOTE: an odd number of 16 bytes, so that rows start in different banks.
const uint D_LD = (D / 8) | 1;
const uint DV_LD = (DV / 8) | 1;
#ifdef OF_F16
const float WEIGHTS = 32768.0; // weights are stored times this, so that small ones keep their digits
#else
const float WEIGHTS = 1.0;
#endif

#include "attention_backward_dims.glsl"
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
#define OF(name) g_##name
#define BINDING 7
#define ALONG dims.along_g
#include "attention_side.glsl"
#undef OF
#undef BINDING
#undef ALONG

#include "attention_scores.glsl"
#include "exponential.glsl"

// For each query its largest score, the logarithm of its sum of exponentials, and the sum of its result times its
// gradient.
layout(set = 0, binding = 8, std430) readonly buffer Statistics { vec4 statistics[]; };
layout(set = 0, binding = 9, std430) writeonly buffer Result { AB result[]; };
layout(set = 0, binding = 9, std430) writeonly buffer Words { uint result_words[]; };

// BC columns of the other side, with zeros for elements that are not finite; or the workgroup's rows, before: the factors of scores, and
// those of gradients of weights.
shared uvec4 score_tile[MOST_ROWS * D_LD];
shared uvec4 weight_tile[MOST_ROWS * DV_LD];
shared uint strange[SUBGROUPS]; // whether a subgroup has found elements that are not finite

// Columns of a matrix of scores, as in attention_nv2.comp.
#ifdef EXACT
#define COLUMNS CHUNK
#else
#define COLUMNS BC
#endif
const uint PARTS = BC / COLUMNS; // of a block of columns

#define Own coopmat<AB, gl_ScopeSubgroup, BR, CHUNK, gl_MatrixUseA>
#define Other coopmat<AB, gl_ScopeSubgroup, CHUNK, COLUMNS, gl_MatrixUseB>
#define Factors coopmat<AB, gl_ScopeSubgroup, BR, COLUMNS, gl_MatrixUseA>
#define Over coopmat<AB, gl_ScopeSubgroup, COLUMNS, CHUNK, gl_MatrixUseB>
#define Pairs coopmat<float, gl_ScopeSubgroup, BR, COLUMNS, gl_MatrixUseAccumulator>
#define Sums coopmat<float, gl_ScopeSubgroup, BR, CHUNK, gl_MatrixUseAccumulator>

// Rows of each side in a key head.
uint query_rows() {
    return dims.group * dims.queries;
}

uint own_rows() {
    return OF_KEYS == 1 ? dims.keys : query_rows();
}

// A head and a query of a key head's group.
uvec2 query_of(uint batch_head, uint row) {
    return uvec2(batch_head % dims.kv_heads * dims.group + row % dims.group, row / dims.group);
}

// Units of a row of each side; those past the end are the last one.
uvec4 query_side(uint operand, uint batch_head, uint row, uint col) {
    const uint batch = batch_head / dims.kv_heads;
    const uvec2 of = query_of(batch_head, min(row, query_rows() - 1));
    if (operand == 0) {
        return q_unit(dims.q.x + batch * dims.q.y + of.x * dims.q.z + of.y * dims.q.w, col);
    }
    return g_unit(dims.g.x + batch * dims.g.y + of.x * dims.g.z + of.y * dims.g.w, col);
}

uvec4 key_side(uint operand, uint batch_head, uint row, uint col) {
    const uint batch = batch_head / dims.kv_heads;
    const uint head = batch_head % dims.kv_heads;
    const uint j = min(row, dims.keys - 1);
    if (operand == 0) {
        return k_unit(dims.k.x + batch * dims.k.y + head * dims.k.z + j * dims.k.w, col);
    }
    return v_unit(dims.v.x + batch * dims.v.y + head * dims.v.z + j * dims.v.w, col);
}

uvec4 row_unit(uint operand, uint batch_head, uint row, uint col) {
    return OF_KEYS == 1 ? key_side(operand, batch_head, row, col) : query_side(operand, batch_head, row, col);
}

uvec4 column_unit(uint operand, uint batch_head, uint column, uint col) {
    return OF_KEYS == 1 ? query_side(operand, batch_head, column, col) : key_side(operand, batch_head, column, col);
}

// The first query that attends a key, and the end of these queries.
uvec2 queries_of(uint j) {
    const int queries = int(dims.queries);
    const int first = clamp(int(j) - dims.upper, 0, queries);
    const int end = clamp(int(j) - dims.lower, -1, queries - 1) + 1;
    return uvec2(first, max(first, end));
}

// Columns that some rows need: the first and the end; then the same for columns that all rows need.
uvec4 columns_of(uint first_row, uint last_row, uint count) {
    if (OF_KEYS == 0) {
        const uvec2 first_range = range_of(first_row / dims.group, count);
        const uvec2 last_range = range_of(last_row / dims.group, count);
        return uvec4(
            min(first_range.x, last_range.x), max(first_range.y, last_range.y), max(first_range.x, last_range.x), min(first_range.y, last_range.y)
        );
    }
    const uvec2 first_range = queries_of(first_row);
    const uvec2 last_range = queries_of(last_row);
    // No query attends keys past a length.
    const uint some_end = first_row >= count ? 0 : max(first_range.y, last_range.y);
    const uint every_end = last_row >= count ? 0 : min(first_range.y, last_range.y);
    return dims.group * uvec4(min(first_range.x, last_range.x), some_end, max(first_range.x, last_range.x), every_end);
}

// A pair of a row and a column, those past the ends as the last ones: its head, its query and its key.
uvec3 pair_of(uint batch_head, uint row, uint column) {
    const uint query_row = min(OF_KEYS == 1 ? column : row, query_rows() - 1);
    const uint j = min(OF_KEYS == 1 ? row : column, dims.keys - 1);
    return uvec3(query_of(batch_head, query_row), j);
}

bool attends(uint batch, uvec3 pair) {
    const uint count = key_count(batch);
    const int distance = int(pair.z) - int(pair.y);
    return pair.z < count && distance >= dims.lower && distance <= dims.upper && is_kept(batch, pair.z);
}

vec4 known_of(uint batch, uvec3 pair) {
    return statistics[(batch * dims.kv_heads * dims.group + pair.x) * dims.queries + pair.y];
}

// Whether a column has elements that are not finite.
bool is_column_strange(uint batch_head, uint column) {
    bool found = false;
    [[dont_unroll]] for (uint col = 0; col < D; col += 8) {
        only_finite(column_unit(0, batch_head, column, col), found);
    }
    [[dont_unroll]] for (uint col = 0; col < DV; col += 8) {
        only_finite(column_unit(1, batch_head, column, col), found);
    }
    return found;
}

// The arguments of a block's functions: its key head, the subgroup's first row, the first column; the end of the columns, whether
// pairs are tested, and whether columns are. NOTE: no struct: lavapipe dies when it compiles a function of elements that is given
// one.
#define BLOCK const in uvec3 at, const in uvec3 of
const uint END = 0;
const uint IS_TESTED = 1;
const uint HAS_STRANGE = 2;

// Whether a pair of a block counts.
bool counts(uint col, uvec3 pair, uvec3 at, uvec3 of) {
    return of[IS_TESTED] == 0 || at.z + col < of[END] && attends(at.x / dims.kv_heads, pair);
}

// The weight of a product of a query and a key, recomputed from the statistics. At most 1, and NaN stays NaN. NOTE: the difference
// of scores comes first: the sum of the logarithm and a large score would lose the logarithm.
float weight(const in uint row, const in uint col, const in float x, BLOCK) {
    const uint batch = at.x / dims.kv_heads;
    const uvec3 pair = pair_of(at.x, at.y + row, at.z + col);
    if (!counts(col, pair, at, of)) {
        return 0.0;
    }
    if (of[HAS_STRANGE] == 1 && is_column_strange(at.x, at.z + col)) {
        return uintBitsToFloat(0x7fc00000);
    }
    float score = x * dims.scale;
    if (BIAS == 1 || SLOPES == 1) {
        score += added(batch, pair.x, pair.y, pair.z);
    }
    const vec4 known = known_of(batch, pair);
    const float distance = score - known.x - known.y;
    return exp_of_negative(distance > 0.0 ? 0.0 : distance);
}

// The gradient of a score, from that of its weight.
float gradient(const in uint row, const in uint col, const in float x, const in float p, BLOCK) {
    const uvec3 pair = pair_of(at.x, at.y + row, at.z + col);
    if (!counts(col, pair, at, of)) {
        return 0.0;
    }
    return p * (x - known_of(at.x / dims.kv_heads, pair).z);
}

// The magnitude of a number, 0 of one that is not finite.
float magnitude(const in uint row, const in uint col, const in float x) {
    const uint bits = floatBitsToUint(x) & 0x7fffffff;
    return bits < 0x7f800000 ? uintBitsToFloat(bits) : 0.0;
}

// The power of two that brings a row's largest gradient to at least 2^14 and below 2^15, as attention/attention_exponent.wgsl has it; it
// only falls.
float down(const in uint row, const in uint col, const in float top, const in float old) {
    const uint level = max(floatBitsToUint(top) >> 23, 27);
    return min(old, uintBitsToFloat((268 - level) << 23));
}

float quotient(const in uint row, const in uint col, const in float x, const in float old) {
    return x / old;
}

float times_weights(const in uint row, const in uint col, const in float x) {
    return x * WEIGHTS;
}

// Stores a gradient of a query or a key: the sum by the power of two of its row, times the scale.
float store(const in uint row, const in uint col, const in float x, const in float scaled, const in uvec3 at) {
    const uint own = at.y + row;
    if (own < own_rows()) {
        const uint batch = at.x / dims.kv_heads;
        const float value = x / scaled * dims.scale;
        if (OF_KEYS == 1) {
            const uint place = dims.dk.x + batch * dims.dk.y + at.x % dims.kv_heads * dims.dk.z + own * dims.dk.w + at.z + col;
            // A masked key may have any elements, even NaN.
            result[place] = AB(own < key_count(batch) && is_kept(batch, own) ? value : 0.0);
        } else {
            const uvec2 of = query_of(at.x, own);
            result[dims.dq.x + batch * dims.dq.y + of.x * dims.dq.z + of.y * dims.dq.w + at.z + col] = AB(value);
        }
    }
    return x;
}

// Stores a gradient of a value.
float store_value(const in uint row, const in uint col, const in float x, const in uvec3 at) {
    const uint own = at.y + row;
    if (own < dims.keys) {
        const uint batch = at.x / dims.kv_heads;
        const uint place = dims.dv.x + batch * dims.dv.y + at.x % dims.kv_heads * dims.dv.z + own * dims.dv.w + at.z + col;
        result[place] = AB(own < key_count(batch) && is_kept(batch, own) ? x / WEIGHTS : 0.0);
    }
    return x;
}

void main() {
    const uint lane = gl_LocalInvocationIndex;
    // Launched with zeros for dims, once, when the kernel is compiled: report the subgroup size.
    if (dims.heads == 0) {
        if (lane == 0) {
            result_words[0] = gl_SubgroupSize;
        }
        return;
    }
    const uint rows = own_rows();
    const uint row_blocks = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const uint grid_row = gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z;
    const uint index = dims.first_block + gl_WorkGroupID.x + gl_NumWorkGroups.x * grid_row;
    const uint batch_head = index / row_blocks; // counted over the batch
    if (batch_head >= dims.heads) {
        return;
    }
    const uint batch = batch_head / dims.kv_heads;
    const uint block_row = (index - batch_head * row_blocks) * BLOCK_ROWS;
    const uint own_row = block_row + gl_SubgroupID * BR;

    // A subgroup's rows stay in matrices.
    for (uint unit = lane; unit < BLOCK_ROWS * (D / 8); unit += LANES) {
        const uint row = unit / (D / 8);
        score_tile[row * D_LD + unit % (D / 8)] = row_unit(0, batch_head, block_row + row, unit % (D / 8) * 8);
    }
    for (uint unit = lane; unit < BLOCK_ROWS * (DV / 8); unit += LANES) {
        const uint row = unit / (DV / 8);
        weight_tile[row * DV_LD + unit % (DV / 8)] = row_unit(1, batch_head, block_row + row, unit % (DV / 8) * 8);
    }
    barrier();
    Own own_scores[D / CHUNK];
    Sums sums[D / CHUNK]; // of queries' or keys' gradients, times `scaled`
    [[unroll]] for (uint c = 0; c < D / CHUNK; c++) {
        const uint at = gl_SubgroupID * BR * D_LD + c * (CHUNK / 8);
        coopMatLoad(own_scores[c], score_tile, at, D_LD, gl_CooperativeMatrixLayoutRowMajor);
        sums[c] = Sums(0.0);
    }
    Own own_weights[DV / CHUNK];
    Sums sums_v[DV / CHUNK]; // of values' gradients, times WEIGHTS
    [[unroll]] for (uint c = 0; c < DV / CHUNK; c++) {
        const uint at = gl_SubgroupID * BR * DV_LD + c * (CHUNK / 8);
        coopMatLoad(own_weights[c], weight_tile, at, DV_LD, gl_CooperativeMatrixLayoutRowMajor);
        sums_v[c] = Sums(0.0);
    }
    barrier();
#ifdef OF_F16
    Sums scaled = Sums(uintBitsToFloat((268 - 27) << 23)); // the power of two of each row, in all of its elements
#else
    Sums scaled = Sums(1.0);
#endif

    const uvec4 columns = columns_of(block_row, min(block_row + BLOCK_ROWS, rows) - 1, key_count(batch));
    [[dont_unroll]] for (uint first = columns.x; first < columns.y; first += BC) {
        bool is_strange = false;
        for (uint unit = lane; unit < BC * (D / 8); unit += LANES) {
            const uint column = unit / (D / 8);
            const uvec4 elements = column_unit(0, batch_head, min(first + column, columns.y - 1), unit % (D / 8) * 8);
            score_tile[column * D_LD + unit % (D / 8)] = only_finite(elements, is_strange);
        }
        for (uint unit = lane; unit < BC * (DV / 8); unit += LANES) {
            const uint column = unit / (DV / 8);
            const uvec4 elements = column_unit(1, batch_head, min(first + column, columns.y - 1), unit % (DV / 8) * 8);
            weight_tile[column * DV_LD + unit % (DV / 8)] = only_finite(elements, is_strange);
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
        const bool is_edge = first < columns.z || first + BC > columns.w;
        const uvec3 of = uvec3(columns.y, KEEPS == 1 || is_edge ? 1 : 0, are_strange);

        Pairs weights[PARTS];
        Pairs gradients[PARTS];
        [[unroll]] for (uint p = 0; p < PARTS; p++) {
            const uvec3 at = uvec3(batch_head, own_row, first + p * COLUMNS);
            weights[p] = Pairs(0.0);
            [[unroll]] for (uint c = 0; c < D / CHUNK; c++) {
                Other other;
                const uint from = p * COLUMNS * D_LD + c * (CHUNK / 8);
                coopMatLoad(other, score_tile, from, D_LD, gl_CooperativeMatrixLayoutColumnMajor);
                weights[p] = coopMatMulAdd(own_scores[c], other, weights[p]);
            }
            EACH_ELEMENT(weights[p], weights[p], weight, at, of);
            gradients[p] = Pairs(0.0);
            [[unroll]] for (uint c = 0; c < DV / CHUNK; c++) {
                Other other;
                const uint from = p * COLUMNS * DV_LD + c * (CHUNK / 8);
                coopMatLoad(other, weight_tile, from, DV_LD, gl_CooperativeMatrixLayoutColumnMajor);
                gradients[p] = coopMatMulAdd(own_weights[c], other, gradients[p]);
            }
            EACH_ELEMENT(gradients[p], gradients[p], gradient, weights[p], at, of);
        }
#ifdef OF_F16
        Sums top = scaled;
        [[unroll]] for (uint p = 0; p < PARTS; p++) {
            Pairs magnitudes;
            EACH_ELEMENT(magnitudes, gradients[p], magnitude);
            Sums largest;
            REDUCE_ROWS(largest, magnitudes, larger);
            EACH_ELEMENT(top, largest, down, top);
        }
        Sums factor;
        EACH_ELEMENT(factor, top, quotient, scaled);
        [[unroll]] for (uint c = 0; c < D / CHUNK; c++) {
            EACH_ELEMENT(sums[c], sums[c], product, factor);
        }
        scaled = top;
#ifdef EXACT
        const Pairs row_tops = scaled;
#else
        Pairs row_tops;
        REDUCE_ROWS(row_tops, scaled, first_of);
#endif
        [[unroll]] for (uint p = 0; p < PARTS; p++) {
            EACH_ELEMENT(gradients[p], gradients[p], product, row_tops);
        }
#endif
        [[unroll]] for (uint p = 0; p < PARTS; p++) {
            const Factors gradient_factors = Factors(gradients[p]);
            [[unroll]] for (uint c = 0; c < D / CHUNK; c++) {
                Over over;
                const uint from = p * COLUMNS * D_LD + c * (CHUNK / 8);
                coopMatLoad(over, score_tile, from, D_LD, gl_CooperativeMatrixLayoutRowMajor);
                sums[c] = coopMatMulAdd(gradient_factors, over, sums[c]);
            }
            if (OF_KEYS == 1) {
                EACH_ELEMENT(weights[p], weights[p], times_weights);
                const Factors weight_factors = Factors(weights[p]);
                [[unroll]] for (uint c = 0; c < DV / CHUNK; c++) {
                    Over over;
                    const uint from = p * COLUMNS * DV_LD + c * (CHUNK / 8);
                    coopMatLoad(over, weight_tile, from, DV_LD, gl_CooperativeMatrixLayoutRowMajor);
                    sums_v[c] = coopMatMulAdd(weight_factors, over, sums_v[c]);
                }
            }
        }
        barrier();
    }

    [[unroll]] for (uint c = 0; c < D / CHUNK; c++) {
        EACH_ELEMENT(sums[c], sums[c], store, scaled, uvec3(batch_head, own_row, c * CHUNK));
    }
    if (OF_KEYS == 1) {
        [[unroll]] for (uint c = 0; c < DV / CHUNK; c++) {
            EACH_ELEMENT(sums_v[c], sums_v[c], store_value, uvec3(batch_head, own_row, c * CHUNK));
        }
    }
}
