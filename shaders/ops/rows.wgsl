//! An operation along one axis: its operands, and the memory where the lanes of a row meet.

//#import rows_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by RowsProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias held = f32; // what lanes hold: sums, or bits of magnitudes
alias sum = f32; // what is stored, before it is
const A_PER_WORD: u32 = 1u; // elements, where memory is read as words
const LANES: u32 = 256u;
//#end

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<held, LANES>;
