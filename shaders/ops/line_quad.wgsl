//! Four elements of A, `stride` apart: `line_quad(start, stride, k, left)` are elements 4 k to 4 k + 3 of the `left` >= 1 elements
//! from `start` on. Elements after these are undefined. `origin_at(at)` is one element, if the reduction needs it.

//#variant elements
// Elements at any stride, one by one; k is 0.
//#slot load x=a default element

fn line_quad(start: u32, stride: u32, k: u32, left: u32) -> vec4<element> {
    let last = left - 1u;
    return vec4<element>(
        load_a(start),
        load_a(start + min(1u, last) * stride),
        load_a(start + min(2u, last) * stride),
        load_a(start + min(3u, last) * stride),
    );
}

fn origin_at(at: u32) -> element {
    if NEEDS_ORIGIN { return load_a(at); }
    return element();
}

//#variant bits
// Elements at any stride, one by one, as bits; k is 0.
//#param  set by ReduceProblem::kernel
const A_PER_WORD: u32 = 1u; // elements per word
//#end

fn bits_at(at: u32) -> u32 {
    let bits = 32u / A_PER_WORD;
    return (a[at / A_PER_WORD] >> (at % A_PER_WORD * bits)) & (0xffffffffu >> (32u - bits));
}

fn line_quad(start: u32, stride: u32, k: u32, left: u32) -> vec4<element> {
    let last = left - 1u;
    return vec4<element>(
        bits_at(start),
        bits_at(start + min(1u, last) * stride),
        bits_at(start + min(2u, last) * stride),
        bits_at(start + min(3u, last) * stride),
    );
}

fn origin_at(at: u32) -> element {
    return element();
}

//#variant vectors
// Vectors of 16 bytes of neighbours, from a multiple of a vector.
//#slot aligned_quad x=a default plain

fn line_quad(start: u32, stride: u32, k: u32, left: u32) -> vec4<element> {
    return quad_a(start / 4u + k);
}

fn origin_at(at: u32) -> element {
    if NEEDS_ORIGIN { return quad_a(at / 4u)[at % 4u]; }
    return element();
}

//#variant vectors_of_bits
// Vectors of 16 bytes of neighbours, from a multiple of a vector, as bits.
//#slot quad_bits x=a

fn line_quad(start: u32, stride: u32, k: u32, left: u32) -> vec4<element> {
    return quad_bits_a(start / 4u + k);
}

fn origin_at(at: u32) -> element {
    return element();
}
