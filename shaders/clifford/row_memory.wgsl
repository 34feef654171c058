//! Where the lanes of a row leave what they have, for their sums.

//#variant parts
// Where the lanes of a row leave what they have, for their sums.
var<workgroup> parts: array<f32, BUFFERS * SUMS * LANES>;

//#variant none
// Nothing: the kernel leaves it out.
