//! One operand of multivectors, and one parameter.

@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> a: array<x_unit>;

//#import load_x
//#import load_x x=a
