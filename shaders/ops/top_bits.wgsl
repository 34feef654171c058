//! The bits of elements of A as integers whose highest bit is the sign: shifted by UNUSED_BITS.
//#import numbers

//#param  set by ReduceProblem::kernel
const A_TYPE: u32 = F32; // a constant of `numbers`
//#end
const SIGN: u32 = 0x80000000u;
const INFINITY: u32 = select(0x7f800000u, 0x7c000000u, A_TYPE == F16);
const UNUSED_BITS: u32 = select(select(0u, 16u, A_TYPE == F16 || A_TYPE == BF16), 24u, A_TYPE == I8);
