//! The operands, and what reads their blades: bindings, `load_x` and `read_x`, and of two operands `y_unit`,
//! `load_y` and `read_y`.

//#variant two
// Two operands of multivectors.
//#param
alias y_unit = f32;
//#end
@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> y: array<y_unit>;

//#slot load x=x default element
//#slot read x=x default positions
//#slot load x=y default element
//#slot read x=y default positions

//#variant one
// One operand of multivectors.
@group(0) @binding(1) var<storage, read> x: array<x_unit>;

//#slot load x=x default element
//#slot read x=x default positions
