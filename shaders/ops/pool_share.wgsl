//! The part of the gradient g of a window that an element of it gets, four channels together: `share_of(g, window, group, place)`.
//! `window` has the image, row and column of the window, and `place` is the number of the element in the image.

//#variant mean
// Every element of a window gets the same.
fn share_of(g: vec4<f32>, window: vec3<u32>, group: u32, place: u32) -> vec4<f32> {
    let rows = taps_in(window.y, dims.height, dims.height_more);
    let columns = taps_in(window.z, dims.width, dims.width_more);
    var places = vec2<u32>(rows.count, columns.count);
    if COUNTS_PADDING { places = vec2<u32>(rows.places, columns.places); }
    return g / (f32(places.x) * f32(places.y));
}

//#variant largest
// The element that the window's index names gets all. Indices have any strides.
@group(0) @binding(2) var<storage, read> indices: array<i32>;

fn share_of(g: vec4<f32>, window: vec3<u32>, group: u32, place: u32) -> vec4<f32> {
    let begin = dims.i_offset + window.x * dims.i_strides.x + window.y * dims.i_strides.y + window.z * dims.i_strides.z;
    let at = begin + 4u * group * dims.i_strides.w;
    let count = dims.channels - 4u * group;
    var found = vec4<i32>(indices[at]);
    if count > 1u { found.y = indices[at + dims.i_strides.w]; }
    if count > 2u { found.z = indices[at + 2u * dims.i_strides.w]; }
    if count > 3u { found.w = indices[at + 3u * dims.i_strides.w]; }
    return select(vec4<f32>(), g, found == vec4<i32>(i32(place)));
}

//#variant largest_vectors
// The element that the window's index names gets all. Indices of four channels are one vector.
@group(0) @binding(2) var<storage, read> indices: array<vec4<i32>>;

fn share_of(g: vec4<f32>, window: vec3<u32>, group: u32, place: u32) -> vec4<f32> {
    let begin = dims.i_offset + window.x * dims.i_strides.x + window.y * dims.i_strides.y + window.z * dims.i_strides.z;
    return select(vec4<f32>(), g, indices[begin / 4u + group] == vec4<i32>(i32(place)));
}
