//! Quad k of group `group` of a row of `length` elements: `within(v, group, k, length)`, with zeros in place of those past its end.
//! If the constant WHOLE is true, rows consist of whole groups.

const LOWEST: f32 = -3.4028234663852886e38; // the lowest f32: a row without a larger score has no sum

// The group to load: groups past the end load the last group again.
fn inside(group: u32, length: u32) -> u32 {
    if WHOLE {
        return group;
    }
    return min(group, (length - 1u) / WIDTH);
}

fn within(v: vec4<f32>, group: u32, k: u32, length: u32) -> vec4<f32> {
    if WHOLE {
        return v;
    }
    return select(vec4<f32>(0.0), v, vec4<u32>(0u, 1u, 2u, 3u) + (group * WIDTH + 4u * k) < vec4<u32>(length));
}
