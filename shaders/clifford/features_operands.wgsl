//! The operands of a function of multivectors that has parameters, and what loads them. Plans make the declarations.

//#variant sample
// One operand of multivectors, and one parameter.
@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> a: array<x_unit>;

//#slot load x=x default element
//#slot load x=a default element
