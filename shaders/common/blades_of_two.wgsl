//! Two operands of multivectors.

@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> y: array<y_unit>;

//#import load_x
//#import read_x
//#import load_x x=y
//#import read_x x=y
