//! The terms of a group of neighbours of a row of A, counted along it: `row_term(start, group, length)`, joined, for a row that
//! begins at `start`. WIDTH is the number of elements of a group.

//#variant elements
// Groups of one element, with any stride.
//#slot load x=a default element
const WIDTH: u32 = 1u;

fn row_term(start: u32, group: u32, length: u32) -> held {
    return term_of(load_a(start + group * dims.a_stride));
}

//#variant bits
// Groups of one element, with any stride, as bits.
//#param  set by AxisProblem::read_bits
const A_PER_WORD: u32 = 1u; // elements per word
//#end
const WIDTH: u32 = 1u;

fn row_term(start: u32, group: u32, length: u32) -> held {
    let at = start + group * dims.a_stride;
    let bits = 32u / A_PER_WORD;
    return term_of((a[at / A_PER_WORD] >> (at % A_PER_WORD * bits)) & (0xffffffffu >> (32u - bits)));
}

//#variant vectors
// Vectors of 16 bytes of a contiguous row that begins at a multiple of a vector.
//#slot aligned_quad x=a default plain
//#import quad_terms

fn row_quad(at: u32) -> vec4<element> {
    return quad_a(at);
}

//#variant vectors_of_bits
// Vectors of 16 bytes of a contiguous row that begins at a multiple of a vector, as bits.
//#slot quad_bits x=a default words
//#import quad_terms

fn row_quad(at: u32) -> vec4<element> {
    return quad_bits_a(at);
}
