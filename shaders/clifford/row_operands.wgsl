//! The operands of a function of rows, and what loads and stores them. Plans make the declarations from an algebra's
//! table.

//#variant sample
// The operands of a function of rows, which stands here for the functions made from an algebra's table: each feature
// over the root mean square of its row.
alias c_unit = f32;
@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> x: array<f32>;

//#slot load x=x default element
//#slot save x=c default element
