// C, and the store of a result as an element of a type of the module.

// Forms of tensors in memory, as Form of gemm/kernels/module_epilogue.rs.
const uint NOT_THERE = 0;
const uint OF_F32 = 1;
const uint OF_F16_BITS = 2;
const uint OF_BF16_BITS = 3;
const uint OF_I8_BITS = 4;
const uint OF_SUMS = 5;     // C alone: sums as they are, without an epilogue
const uint OF_OPERANDS = 6; // C alone: the type of A and B, of 16 bits

layout(set = 0, binding = 2, std430) buffer C { SUM c[]; };
layout(set = 0, binding = 2, std430) buffer CWords { uint c_words[]; };
layout(set = 0, binding = 2, std430) buffer CFloats { float c_floats[]; };
#if BITS == 16
layout(set = 0, binding = 2, std430) buffer Rounded { AB c_rounded[]; };
#endif

// Stores a result at `at`.
void put(uint at, float z) {
#if BITS == 16
    if (C_FORM == OF_OPERANDS) {
        c_rounded[at] = AB(z);
        return;
    }
#endif
    c_floats[at] = z;
}
