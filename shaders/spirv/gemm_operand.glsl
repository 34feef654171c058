// An operand of a product on cooperative matrices: its loads from memory, and its block in shared memory. `OF(name)` is the name
// with the operand's letter before it; BINDING is its binding.

// Its memory, in units of 16 bytes and in words.
layout(set = 0, binding = BINDING, std430) readonly buffer OF(Units) { uvec4 OF(units)[]; };
layout(set = 0, binding = BINDING, std430) readonly buffer OF(Words) { uint OF(words)[]; };

// Rows of shared memory run along the axis of units.
const uint OF(ROW) = OF(OUTER) == 1 ? OF(BLOCK) : BK;
const uint OF(ROWS) = OF(OUTER) == 1 ? BK : OF(BLOCK);
const uint OF(LD) = ((OF(ROW) / UNIT) | 1) * PIECES; // an odd number of units: rows start in different banks
const uint OF(STAGE) = OF(ROWS) * OF(LD);
const uint OF(SHARE) = OF(BLOCK) * BK / (UNIT * LANES); // units of a lane
shared Piece OF(tile)[STAGES * OF(STAGE)];

// The indices of a unit's first element in the block.
uint OF(outer_of)(uint unit) {
    return OF(OUTER) == 1 ? unit % (OF(ROW) / UNIT) * UNIT : unit / (OF(ROW) / UNIT);
}

uint OF(k_of)(uint unit) {
    return OF(OUTER) == 1 ? unit / (OF(ROW) / UNIT) : unit % (OF(ROW) / UNIT) * UNIT;
}

// The element at `at`, in the lowest bits.
uint OF(element)(uint at) {
    return bitfieldExtract(OF(words)[at / PER_WORD], int(at % PER_WORD * BITS), int(BITS));
}

// The place of the unit at these indices, in elements. Past the outer edge the last unit or row is read again, which never
// contributes to a stored sum.
uint OF(start)(uint outer, uint extent, uint k) {
    const uint last = OF(OUTER) == 1 && OF(BY_UNITS) == 1 ? (extent - 1) / UNIT * UNIT : extent - 1;
    return OF(first) + min(outer, last) * dims.OF(outer) + k * dims.OF(k);
}

// The unit at a place, of which `count` elements are read; the last of them is repeated.
uvec4 OF(load)(uint at, uint count) {
    if (OF(BY_UNITS) == 1) {
        return OF(units)[at / UNIT];
    }
    const uint step = OF(OUTER) == 1 ? dims.OF(outer) : dims.OF(k);
    uvec4 unit;
    [[unroll]] for (uint w = 0; w < 4; w++) {
        uint word = 0;
        [[unroll]] for (uint e = 0; e < PER_WORD; e++) {
            word |= OF(element)(at + min(w * PER_WORD + e, count - 1) * step) << (e * BITS);
        }
        unit[w] = word;
    }
    return unit;
}

// The elements of a unit within the outer edge, if it runs along the outer axis.
uint OF(within)(uint outer, uint extent) {
    return OF(OUTER) == 1 ? min(extent - min(outer, extent - 1), UNIT) : UNIT;
}

// The unit at these indices, with zeros past the end of k.
uvec4 OF(edge)(uint outer, uint extent, uint k, uint k_end) {
    if (k >= k_end) {
        return uvec4(0);
    }
    const uint left = OF(OUTER) == 1 ? UNIT : min(k_end - k, UNIT);
    uvec4 unit = OF(load)(OF(start)(outer, extent, k), min(left, OF(within)(outer, extent)));
    [[unroll]] for (uint w = 0; w < 4; w++) {
        const uint elements = min(left - min(left, w * PER_WORD), PER_WORD);
        unit[w] = elements == PER_WORD ? unit[w] : bitfieldExtract(unit[w], 0, int(elements * BITS));
    }
    return unit;
}

void OF(put)(uint unit, uint stage, uvec4 elements) {
    const uint row = OF(OUTER) == 1 ? OF(k_of)(unit) : OF(outer_of)(unit);
    const uint col = OF(OUTER) == 1 ? OF(outer_of)(unit) : OF(k_of)(unit);
    const uint at = stage * OF(STAGE) + row * OF(LD) + col / 8;
#if BITS == 16
    OF(tile)[at] = elements;
#else
    OF(tile)[at] = elements.xy;
    OF(tile)[at + 1] = elements.zw;
#endif
}
