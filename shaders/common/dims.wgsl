//! The problem's sizes, as immediates (push constants).

var<immediate> dims: Dims;
