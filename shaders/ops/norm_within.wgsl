//! Quad k of a group with `left` elements in the row: `within(v, k, left)`, with zeros in place of those past its end. If the
//! constant WHOLE is true, rows consist of whole groups.

fn within(v: vec4<f32>, k: u32, left: u32) -> vec4<f32> {
    if WHOLE {
        return v;
    }
    return select(vec4<f32>(0.0), v, vec4<u32>(0u, 1u, 2u, 3u) + 4u * k < vec4<u32>(left));
}
