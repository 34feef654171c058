//! The scalar parts of operand x at four features of a row: `scalars_x(row, first)`. Past the row's end they are undefined.

//#variant elements
// Scalar parts of operand x at four features, one by one: any strides. Past the row's end the last is read again.
//#slot load x=x default element

fn scalars_x(row: u32, first: u32) -> vec4<f32> {
    let features = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.features - 1u));
    let at = dims.x_offset + row * dims.x_row + features * dims.x_feature;
    return vec4<f32>(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
}

//#variant quads
// Scalar parts of operand x at four features together: features are neighbours, and each row begins at a multiple of four.
//#slot aligned_quad x=x default plain

fn scalars_x(row: u32, first: u32) -> vec4<f32> {
    return quad_x((dims.x_offset + row * dims.x_row + first) / 4u);
}
