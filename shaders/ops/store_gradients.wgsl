//! Stores the gradient of a group of WIDTH = 4 * QUADS neighbours of a row: `store_gradients(start, group, count, v)` stores the
//! first `count` elements of a group of the row of C that begins at `start`, all of them if `count` is larger.

//#param  set by the kernel of a loss
const C_BINDING: u32 = 7u;
//#end

//#variant none
// There is no C.
const HAS_GRADIENT: bool = false;

fn store_gradients(start: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
}

//#variant strided
// Groups of four elements.
const HAS_GRADIENT: bool = true;
@group(0) @binding(C_BINDING) var<storage, read_write> c: array<c_unit>;
//#slot store_quad default elements

fn store_gradients(start: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    store_quad(start + 4u * group, 1u, count, v[0]);
}

//#variant vectors
// Vectors of 16 bytes.
const HAS_GRADIENT: bool = true;
@group(0) @binding(C_BINDING) var<storage, read_write> c: array<c_unit>;
//#slot save_quad x=c default plain
//#import save_vector x=c

fn store_gradients(start: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    save_vector_c((start / WIDTH + group) * QUADS, count, v);
}
