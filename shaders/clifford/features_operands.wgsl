//! The operands of a function of multivectors that has parameters, bound from 1 on: X, of gradients G, the parameters A and,
//! where there are two, B, each with its `x_unit` and `load_x(at)`, where `at` counts elements; of gradients D in f32, those of
//! the parameters. Plans make the declarations.

//#variant sample
// One operand of multivectors, and one parameter.
//#param
alias x_unit = f32;
alias a_unit = f32;
//#end
@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> a: array<a_unit>;

//#slot load x=x default element
//#slot load x=a default element
