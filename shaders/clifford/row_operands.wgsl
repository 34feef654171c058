//! The operands of a function of rows: a binding and its `x_unit` for each, with `load_x(at)` of those that are read and
//! `save_x(at, value)` of those that are written, where `at` counts elements. C, and of a product's gradients D (those of Y)
//! and the sums `slab` of weight gradients; `sums` between two launches; X, Y, G and the weights W. Plans make the
//! declarations.

//#variant sample
// X and C, of f32.
//#param
alias c_unit = f32;
alias x_unit = f32;
//#end
@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> x: array<x_unit>;

//#slot load x=x default element
//#slot save x=c default element
