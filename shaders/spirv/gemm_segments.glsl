// Segments of k, as in gemm/segments.wgsl and gemm/product_terms_of_a.wgsl: the planes of both operands differ from segment to segment, and
// A may be made while it is staged, as sums of products of blades.

#include "gemm_result.glsl"
#include "gemm_rounded.glsl"

// For each matrix the place of its first segment, and the end; then three words for each segment: A's plane or the place of A's first term,
// B's plane, and the end of A's terms, or 0. A term holds the blades of both factors, 8 bits each, and in the highest bit whether it is
// subtracted. Segments start at multiples of 32, so no iteration and no split contains parts of two.
layout(set = 0, binding = 3, std430) readonly buffer Table { uint table[]; };
layout(set = 0, binding = 4, std430) readonly buffer yUnits { uvec4 y_units[]; };
layout(set = 0, binding = 4, std430) readonly buffer yWords { uint y_words[]; };
layout(set = 0, binding = 5, std430) readonly buffer Gates { float gates[]; };

// The terms of the current segment's A.
uint first_term;
uint end_of_terms;

// The length of k of a matrix: as many segments as the table gives it.
uint k_extent(uint matrix) {
    return (table[matrix + 1] - table[matrix]) / 3 * dims.segment_step;
}

// Finds the planes of the current matrix's segment that contains k0. Returns the start of the segment.
uint enter_segment(uint k0) {
    const uint index = k0 / dims.segment_step;
    const uint at = table[matrix] + 3 * index;
    first_term = table[at];
    end_of_terms = table[at + 2];
    a_first = dims.a_offset + (SOURCE == 0 ? first_term * dims.a_plane : 0);
    b_first = dims.b_offset + table[at + 1] * dims.b_plane;
    return index * dims.segment_step;
}

#include "number.glsl"

// The bits of a number, rounded.
uint bits_of(float x) {
#ifdef OF_F16
    return f16_bits(x);
#else
    return bf16_bits(x);
#endif
}

// The unit of A at these indices of the segment, made of its terms, with zeros past the end of the segment, `k_end`. Past the outer edge the
// last elements are made again.
uvec4 product_unit(uint outer, uint extent, uint k, uint k_end) {
    if (k >= k_end) {
        return uvec4(0);
    }
    const uint first = min(outer, a_OUTER == 1 ? (extent - 1) / UNIT * UNIT : extent - 1);
    float sums[UNIT];
    [[unroll]] for (uint e = 0; e < UNIT; e++) {
        sums[e] = 0.0;
    }
    // NOTE: places of elements are computed where they are used: held over the loop, they do not fit into an Intel GPU's registers.
    [[dont_unroll]] for (uint i = first_term; i < end_of_terms; i++) {
        const uint term = table[i];
        const uint x_first = dims.a_offset + (term & 255) * dims.a_plane;
        const uint y_first = dims.y_offset + ((term >> 8) & 255) * dims.y_plane;
        const float signed_one = (term >> 31) == 1 ? -1.0 : 1.0;
        // With units, the elements behind the first one follow it, past the edge too.
        const uint x_at = x_first + first * dims.a_outer + k * dims.a_k;
        const uint y_at = y_first + first * dims.y_outer + k * dims.y_k;
        [[unroll]] for (uint e = 0; e < UNIT; e++) {
            uint x_bits;
            uint y_bits;
            if (a_BY_UNITS == 1) {
                x_bits = bitfieldExtract(a_units[x_at / UNIT][e / PER_WORD], int(e % PER_WORD * BITS), int(BITS));
                y_bits = bitfieldExtract(y_units[y_at / UNIT][e / PER_WORD], int(e % PER_WORD * BITS), int(BITS));
            } else {
                const uint at_outer = min(first + e * a_OUTER, extent - 1);
                const uint at_k = min(k + e * (1 - a_OUTER), k_end - 1);
                const uint x_place = x_first + at_outer * dims.a_outer + at_k * dims.a_k;
                const uint y_place = y_first + at_outer * dims.y_outer + at_k * dims.y_k;
                x_bits = bitfieldExtract(a_words[x_place / PER_WORD], int(x_place % PER_WORD * BITS), int(BITS));
                y_bits = bitfieldExtract(y_words[y_place / PER_WORD], int(y_place % PER_WORD * BITS), int(BITS));
            }
            sums[e] = fma(number(x_bits) * signed_one, number(y_bits), sums[e]);
        }
    }
    uvec4 unit = uvec4(0);
    [[unroll]] for (uint e = 0; e < UNIT; e++) {
        if (SOURCE == 2) {
            const uint at_outer = min(first + e * a_OUTER, extent - 1);
            const uint at_k = min(k + e * (1 - a_OUTER), k_end - 1);
            sums[e] *= gates[at_outer * dims.gates_outer + at_k * dims.gates_k];
        }
        if (k + e * (1 - a_OUTER) < k_end) {
            unit[e / PER_WORD] |= bits_of(sums[e]) << (e % PER_WORD * BITS);
        }
    }
    return unit;
}

// Stores a sum, if it is within C.
void save(uint row, uint col, SUM sum) {
    if (row < dims.m && col < dims.n) {
        put(c_first + row * dims.ldc + col, sum);
    }
}
