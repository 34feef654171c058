// An operand of a product on cooperative matrices: its loads from memory, and its block in shared memory. `OF(name)` is the name
// with the operand's letter before it; BINDING is its binding. If IS_MADE, the function MADE returns units that are not stored. If IS_MADE, a MADE_AHEAD returns all units, and its first
// parameter is where the block begins.

// Its memory, in units of 16 bytes and in words.
layout(set = 0, binding = BINDING, std430) readonly buffer OF(Units) { uvec4 OF(units)[]; };
layout(set = 0, binding = BINDING, std430) readonly buffer OF(Words) { uint OF(words)[]; };

// Units of one put: those that a lane stores to shared memory at once. If they are transposed, they are neighbours along k,
// and their elements fill a word.
const uint OF(PUT) = OF(TRANSPOSED) == 1 ? PER_WORD : 1;
const uint OF(PUTS) = OF(BLOCK) * BK / (UNIT * OF(PUT));            // of all lanes
const uint OF(SHARE) = (OF(PUTS) + LANES - 1) / LANES * OF(PUT); // units of a lane; if puts are fewer than lanes, of the first lanes
// Rows of shared memory run along the outer axis (1) or along k.
const uint OF(ROWS_OUTER) = OF(OUTER) == 1 && OF(TRANSPOSED) == 0 ? 1 : 0;
const uint OF(ROW) = OF(ROWS_OUTER) == 1 ? OF(BLOCK) : BK;
const uint OF(ROWS) = OF(ROWS_OUTER) == 1 ? BK : OF(BLOCK);
const uint OF(LD) = ((OF(ROW) / UNIT) | 1) * PIECES; // an odd number of units: rows start in different banks
const uint OF(STAGE) = OF(ROWS) * OF(LD);
shared Piece OF(tile)[STAGES * OF(STAGE)];

// The places of this lane's units at k = 0, in units if it loads those, and the units of the next iteration, which are loaded during
// this one. If k is less than BK, no unit is loaded ahead and the place is not used.
#ifndef SEGMENTS
uint OF(from)[OF(SHARE)];
#endif
uint OF(to);
uvec4 OF(next)[OF(SHARE)];

// Whether this lane has puts. They are a multiple of the lanes, or fewer.
bool OF(is_busy)() {
    return OF(PUTS) >= LANES || gl_LocalInvocationIndex < OF(PUTS);
}

// The indices in the block of the first element of a put. If it is transposed, four lanes load from a line of the outer axis, and the
// next lanes from its neighbours along k, so that lanes write to different banks.
uint OF(outer_of)(uint put) {
    if (OF(TRANSPOSED) == 1) {
        return put / (4 * BK / PER_WORD) * (4 * UNIT) + put % 4 * UNIT;
    }
    return OF(OUTER) == 1 ? put % (OF(ROW) / UNIT) * UNIT : put / (OF(ROW) / UNIT);
}

uint OF(k_of)(uint put) {
    if (OF(TRANSPOSED) == 1) {
        return put / 4 % (BK / PER_WORD) * PER_WORD;
    }
    return OF(OUTER) == 1 ? put / (OF(ROW) / UNIT) : put % (OF(ROW) / UNIT) * UNIT;
}

// The place in shared memory of the elements at these indices of the block, in the first stage.
uint OF(place)(uint outer, uint k) {
    return OF(ROWS_OUTER) == 1 ? k * OF(LD) + outer / 8 : outer * OF(LD) + k / 8;
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

// The unit at a place: `count` elements are read, and the last of them is repeated.
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
#ifdef MADE
    if (IS_MADE) {
        return MADE(outer, extent, k, k_end);
    }
#endif
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

// The place in the first stage of a lane's put `nth`, from that of its first: if one put per lane fills whole rows, the distance
// is a constant.
uint OF(put_place)(uint nth) {
    const uint cycle = OF(TRANSPOSED) == 1 ? 4 * BK / PER_WORD : OF(ROW) / UNIT;
    const uint rows = OF(TRANSPOSED) == 1 ? 4 * UNIT : 1;
    if (LANES % cycle == 0) {
        return OF(to) + nth * (LANES / cycle * rows * OF(LD));
    }
    const uint put = gl_LocalInvocationIndex + nth * LANES;
    return OF(place)(OF(outer_of)(put), OF(k_of)(put));
}

// Puts this lane's units from `first` on into shared memory.
void OF(put)(uint put, uint stage, uint first) {
    const uint at = OF(put_place)(first / OF(PUT)) + stage * OF(STAGE);
    if (OF(TRANSPOSED) == 1) {
        const uint k = OF(k_of)(put);
        [[unroll]] for (uint e = 0; e < UNIT; e++) {
            uint word = 0;
            [[unroll]] for (uint n = 0; n < PER_WORD; n++) {
                const uint unit_word = OF(next)[first + n % OF(PUT)][e / PER_WORD];
                word |= bitfieldExtract(unit_word, int(e % PER_WORD * BITS), int(BITS)) << (n * BITS);
            }
            // Other lanes write the other words of each piece.
            OF(tile)[at + e * OF(LD)][k % 8 / PER_WORD] = word;
        }
        return;
    }
#if BITS == 16
    OF(tile)[at] = OF(next)[first];
#else
    OF(tile)[at] = OF(next)[first].xy;
    OF(tile)[at + 1] = OF(next)[first].zw;
#endif
}

// Finds the places of this lane's units of the blocks that begin at `outer0`.
void OF(locate)(uint outer0, uint extent) {
    OF(to) = OF(place)(OF(outer_of)(gl_LocalInvocationIndex), OF(k_of)(gl_LocalInvocationIndex));
#ifndef SEGMENTS
    [[unroll]] for (uint v = 0; v < OF(SHARE); v++) {
        const uint put = gl_LocalInvocationIndex + v / OF(PUT) * LANES;
        const uint k = OF(k_of)(put) + v % OF(PUT);
        const uint start = OF(start)(outer0 + OF(outer_of)(put), extent, min(k, dims.k));
        OF(from)[v] = OF(BY_UNITS) == 1 ? start / UNIT : start;
    }
#endif
}

#ifndef SEGMENTS
// Loads this lane's units of the block at `k0`, which is not at the end of k.
void OF(load_ahead)(uint outer0, uint extent, uint k0) {
    if (!OF(is_busy)()) {
        return;
    }
    [[unroll]] for (uint v = 0; v < OF(SHARE); v++) {
#ifdef MADE_AHEAD
        if (IS_MADE) {
            const uint put = gl_LocalInvocationIndex + v / OF(PUT) * LANES;
            OF(next)[v] = MADE_AHEAD(outer0, outer0 + OF(outer_of)(put), k0 + OF(k_of)(put) + v % OF(PUT), dims.k);
            continue;
        }
#endif
        if (OF(BY_UNITS) == 1) {
            OF(next)[v] = OF(units)[OF(from)[v] + k0 * dims.OF(k) / UNIT];
            continue;
        }
        const uint outer = outer0 + OF(outer_of)(gl_LocalInvocationIndex + v / OF(PUT) * LANES);
        OF(next)[v] = OF(load)(OF(from)[v] + k0 * dims.OF(k), OF(within)(outer, extent));
    }
}
#endif

// Puts the block at `k0` into shared memory. Unless it was loaded ahead, it is loaded now.
void OF(stage)(uint outer0, uint extent, uint k0, uint k_end, bool is_loaded, uint stage) {
    if (!OF(is_busy)()) {
        return;
    }
    [[unroll]] for (uint v = 0; v < OF(SHARE); v += OF(PUT)) {
        const uint put = gl_LocalInvocationIndex + v / OF(PUT) * LANES;
        if (!is_loaded) {
            [[unroll]] for (uint n = 0; n < OF(PUT); n++) {
                const uint k = k0 + OF(k_of)(put) + n;
#ifdef MADE_AHEAD
                if (IS_MADE) {
                    OF(next)[v + n] = MADE_AHEAD(outer0, outer0 + OF(outer_of)(put), k, k_end);
                    continue;
                }
#endif
                OF(next)[v + n] = OF(edge)(outer0 + OF(outer_of)(put), extent, k, k_end);
            }
        }
        OF(put)(put, stage, v);
    }
}
