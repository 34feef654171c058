// A number of 16 bits, from its bits: f16 or bf16 by OF_F16.
float number(uint bits) {
#ifdef OF_F16
    return unpackHalf2x16(bits).x;
#else
    return uintBitsToFloat(bits << 16);
#endif
}
