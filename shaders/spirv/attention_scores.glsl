// The bias of a score, and the keys that a query attends, as in attention/attention_range.wgsl and the functions that plans
// generate. The includer declares dims, BITS_OF_BIAS and the constants of the masks.

layout(set = 0, binding = 3, std430) readonly buffer Bias { uint bias[]; };
layout(set = 0, binding = 4, std430) readonly buffer Lengths { int lengths[]; };
layout(set = 0, binding = 5, std430) readonly buffer Keep { uint keep[]; };
layout(set = 0, binding = 6, std430) readonly buffer Slopes { float slopes[]; };

// The keys of a batch.
uint key_count(uint batch) {
    if (LENGTHS == 0) {
        return dims.keys;
    }
    return uint(clamp(lengths[dims.lengths + batch * dims.lengths_stride], 0, int(dims.keys)));
}

// The first key of query i and the end of its keys, of `count` keys.
uvec2 range_of(uint i, uint count) {
    const int own = CORNER_MOVES == 1 ? int(i) + min(int(count) - int(dims.keys), 0) : int(i);
    const int first = clamp(own + dims.lower, 0, int(count));
    const int end = clamp(own + dims.upper + 1, 0, int(count));
    return uvec2(first, max(first, end));
}

// Whether the mask of keys has a key.
bool is_kept(uint batch, uint j) {
    if (KEEPS == 0) {
        return true;
    }
    const uint at = dims.keep.x + batch * dims.keep.y + j * dims.keep_along;
    return bitfieldExtract(keep[at / 4], int(at % 4 * 8), 8) != 0;
}

// The bias of the score of a query and a key.
float added(uint batch, uint head, uint i, uint j) {
    float sum = 0.0;
    if (BIAS == 1) {
        const uint at =
            dims.along.w + batch * dims.bias.x + head * dims.bias.y + i * dims.bias.z + j * dims.bias.w;
        sum = number(bitfieldExtract(bias[at / 2], int(at % 2 * 16), 16));
    }
    if (SLOPES == 1) {
        const uint there = CORNER_MOVES == 1 ? key_count(batch) : dims.keys;
        const int distance = int(i) + int(there) - int(dims.queries) - int(j);
        sum -= slopes[dims.slopes + head * dims.slopes_stride] * abs(float(distance));
    }
    return sum;
}
