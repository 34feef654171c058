//! The sizes of a function of multivectors that has parameters for each feature.

struct Dims {
    x: vec4<u32>,  // strides of X from blade to blade, row to row, feature to feature; its first element in its binding
    g: vec4<u32>,  // of G likewise
    a: vec4<u32>,  // strides of A from feature to feature, part to part; its first element
    b: vec4<u32>,  // of B likewise
    rows: u32,
    features: u32,
    strip: u32,    // rows of an invocation
    units: u32,    // invocations; of what is made row by row, the rows
}

//#slot dims default immediate
