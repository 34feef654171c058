//! One operand of multivectors.

@group(0) @binding(1) var<storage, read> x: array<x_unit>;

//#import load_x
//#import read_x
