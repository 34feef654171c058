// An operand of attention: its units in memory. `OF(name)` is the name with the operand's letter before it; BINDING is its binding,
// PLACE the vector of the dims with its first element and its strides, ALONG its stride along the head dim.

layout(set = 0, binding = BINDING, std430) readonly buffer OF(Units) { uvec4 OF(units)[]; };
layout(set = 0, binding = BINDING, std430) readonly buffer OF(Words) { uint OF(words)[]; };

// Eight elements of the row that begins at `start`, from `at` on.
uvec4 OF(unit)(uint start, uint at) {
    if (BY_UNITS == 1) {
        return OF(units)[(start + at) / 8];
    }
    uvec4 unit;
    [[unroll]] for (uint w = 0; w < 4; w++) {
        uint word = 0;
        [[unroll]] for (uint e = 0; e < 2; e++) {
            const uint place = start + (at + 2 * w + e) * ALONG;
            word |= bitfieldExtract(OF(words)[place / 2], int(place % 2 * 16), 16) << (e * 16);
        }
        unit[w] = word;
    }
    return unit;
}
