//! The offset of the copied elements from the places in `dims`: `shift()`, in C and in A.

//#variant none
// They stay.
fn shift() -> vec2<u32> {
    return vec2<u32>();
}

//#variant position
// The offset is a number of positions along an axis. A buffer has the number, which may be any; it is clamped, so that the
// elements stay within the axis.
@group(0) @binding(2) var<storage, read> positions: array<i32>;

fn shift() -> vec2<u32> {
    let strides = vec2<u32>(dims.axes.axis5.w, dims.axes.axis4.w); // of the axis, in C and A: one is 0
    let last = dims.axes.axis3.w;
    let index = dims.axes.axis2.w; // of the position in its binding
    return u32(clamp(positions[index], 0, i32(last))) * strides;
}
