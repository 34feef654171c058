//! Stores a group of WIDTH elements of a row of x, which is contiguous and begins at `start`: `store_x(start, group, count, v)`. From
//! the group on the row has `count` elements.

//#variant elements
// One by one.
//#slot save x=x default element

fn store_x(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>) {
    let at = start + 4u * group;
    if count > 0u { save_x(at + 0u, v[0].x); }
    if count > 1u { save_x(at + 1u, v[0].y); }
    if count > 2u { save_x(at + 2u, v[0].z); }
    if count > 3u { save_x(at + 3u, v[0].w); }
}

//#variant vectors
// By vectors: rows consist of whole ones.
//#slot save_quad x=x default plain

fn store_x(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>) {
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        save_quad_x((start / WIDTH + group) * QUADS + k, v[k]);
    }
}
