// Operand B with a sign half, as in gemm/sign_half.wgsl: one half is stored, the other consists of signs made of a seed. The halves are along
// the outer axis or along k. Indices are relative to the start of a half, which may have any extent.

// Counter-based random words: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011), as in common/philox.wgsl.
uvec4 philox(uvec4 counter, uvec2 seed) {
    uvec4 c = counter;
    uvec2 key = seed;
    [[unroll]] for (uint round_ = 0; round_ < 10; round_++) {
        uvec2 high;
        uvec2 low;
        umulExtended(uvec2(c.x, c.z), uvec2(0xd2511f53, 0xcd9e8d57), high, low);
        c = uvec4(high.y ^ c.y ^ key.x, low.y, high.x ^ c.w ^ key.y, low.x);
        key += uvec2(0x9e3779b9, 0xbb67ae85);
    }
    return c;
}

// The signs of four rows in 32 columns, which a lane made last, and where they are.
uvec2 signs_at = uvec2(0xffffffff);
uvec4 signs;

// The sign in this row and column: 0, or 1 for a negative one.
uint sign_bit(uint i, uint j) {
    const uvec2 at = uvec2(i / 4, j / 32);
    if (at != signs_at) {
        signs_at = at;
        signs = philox(uvec4(at, 0, TAG), uvec2(dims.b_batch0, dims.b_batch1));
    }
    const uint words[4] = uint[4](signs.x, signs.y, signs.z, signs.w);
    return (words[i % 4] >> (j % 32)) & 1;
}

// The bits of the element at these indices.
uint sign_half_element(uint outer, uint k) {
#ifdef OF_F16
    const uint one = 0x3c00;
#else
    const uint one = 0x3f80;
#endif
    const uint extent = (HALF_AXIS == 0 ? dims.n : dims.k) / 2;
    const uint along = HALF_AXIS == 0 ? outer : k;
    const uint half_ = along >= extent ? 1 : 0;
    const uint within = along - half_ * extent;
    const uint at_outer = HALF_AXIS == 0 ? within : outer;
    const uint at_k = HALF_AXIS == 0 ? k : within;
    if (half_ != SIGN_HALF) {
        return b_element(b_first + at_outer * dims.b_outer + at_k * dims.b_k);
    }
    const uint i = SIGN_ROWS == 0 ? at_outer : at_k;
    const uint j = SIGN_ROWS == 0 ? at_k : at_outer;
    return one | (sign_bit(i, j) << 15);
}

// The unit at these indices, with zeros past the end of k. Past the outer edge the last element is used again.
uvec4 sign_unit(uint outer, uint extent, uint k, uint k_end) {
    uvec4 unit = uvec4(0);
    // Unrolled, this would repeat the code of the signs. Elements are shifted in one by one, because an index that is not a constant would move
    // them out of registers.
    [[dont_unroll]] for (uint e = 0; e < UNIT; e++) {
        const uint at_k = k + e * (1 - b_OUTER);
        const uint bits = at_k < k_end ? sign_half_element(min(outer + e * b_OUTER, extent - 1), at_k) : 0;
        unit = (unit >> 16) | (uvec4(unit.yzw, bits) << 16);
    }
    return unit;
}
