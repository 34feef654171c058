//! The axes of an operation: `dims.axes`, with `axis0` the innermost, and `axis_at(axis)`, one of them by its number. An axis has
//! four numbers: its extent, then strides.
//!
//! They are members, not an array: WGSL allows no arrays in immediates. naga does, a browser's compiler does not.

//#variant five
// Five axes.
struct Axes {
    axis0: vec4<u32>,
    axis1: vec4<u32>,
    axis2: vec4<u32>,
    axis3: vec4<u32>,
    axis4: vec4<u32>,
}

fn axis_at(axis: u32) -> vec4<u32> {
    var found = dims.axes.axis0;
    found = select(found, dims.axes.axis1, axis == 1u);
    found = select(found, dims.axes.axis2, axis == 2u);
    found = select(found, dims.axes.axis3, axis == 3u);
    found = select(found, dims.axes.axis4, axis == 4u);
    return found;
}

//#variant six
// Six axes.
struct Axes {
    axis0: vec4<u32>,
    axis1: vec4<u32>,
    axis2: vec4<u32>,
    axis3: vec4<u32>,
    axis4: vec4<u32>,
    axis5: vec4<u32>,
}

fn axis_at(axis: u32) -> vec4<u32> {
    var found = dims.axes.axis0;
    found = select(found, dims.axes.axis1, axis == 1u);
    found = select(found, dims.axes.axis2, axis == 2u);
    found = select(found, dims.axes.axis3, axis == 3u);
    found = select(found, dims.axes.axis4, axis == 4u);
    found = select(found, dims.axes.axis5, axis == 5u);
    return found;
}

//#variant seven
// Seven axes.
struct Axes {
    axis0: vec4<u32>,
    axis1: vec4<u32>,
    axis2: vec4<u32>,
    axis3: vec4<u32>,
    axis4: vec4<u32>,
    axis5: vec4<u32>,
    axis6: vec4<u32>,
}

fn axis_at(axis: u32) -> vec4<u32> {
    var found = dims.axes.axis0;
    found = select(found, dims.axes.axis1, axis == 1u);
    found = select(found, dims.axes.axis2, axis == 2u);
    found = select(found, dims.axes.axis3, axis == 3u);
    found = select(found, dims.axes.axis4, axis == 4u);
    found = select(found, dims.axes.axis5, axis == 5u);
    found = select(found, dims.axes.axis6, axis == 6u);
    return found;
}
