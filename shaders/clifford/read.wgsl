//! Reads operand x for an invocation: one blade at its positions, or four blades at one position.
//!
//! `read_x(at, stride, count)` returns `count` elements in f32: the one at `at`, then those that follow at distances of
//! `stride`. Components after them are undefined. Variants that ignore `stride` need contiguous positions. Variants
//! that ignore `count` read all positions, or one. Each calls `load_x`, whose unit has as many elements as the variant
//! says.

//#variant positions
// One blade of x at the first `count` of four positions with any stride. Other components repeat the first.
fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    var v = vec4<f32>(load_x(at));
    if count > 1u { v.y = load_x(at + stride); }
    if count > 2u { v.z = load_x(at + 2u * stride); }
    if count > 3u { v.w = load_x(at + 3u * stride); }
    return v;
}

//#variant aligned
// One blade of x at all positions of an invocation, which are contiguous and aligned.
fn read_x(at: u32, stride: u32, count: u32) -> lanes {
    return load_x(at);
}

//#variant blades
// Four blades of x at one position, contiguous and aligned.
fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    return load_x(at);
}

//#variant one
// One blade of x at one position, which all positions of an invocation share.
fn read_x(at: u32, stride: u32, count: u32) -> lanes {
    return lanes(load_x(at));
}

//#variant shifted
// One blade of x at the first `count` of four contiguous positions without alignment, from two aligned loads of four.
fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    let shift = at & 3u;
    let low = load_x(at - shift);
    if shift == 0u {
        return low;
    }
    var high = low;
    // The buffer may end after the last position.
    if shift + count > 4u { high = load_x(at - shift + 4u); }
    let one = vec4<f32>(low.yzw, high.x);
    let two = vec4<f32>(low.zw, high.xy);
    let three = vec4<f32>(low.w, high.xyz);
    return select(select(one, two, shift == 2u), three, shift == 3u);
}

//#variant shifted_two
// One blade of x at the first `count` of two contiguous positions without alignment, from two aligned loads of two.
fn read_x(at: u32, stride: u32, count: u32) -> vec2<f32> {
    let shift = at & 1u;
    let low = load_x(at - shift);
    if shift == 0u {
        return low;
    }
    // The buffer may end after the last position.
    if count == 1u {
        return low.yy;
    }
    return vec2<f32>(low.y, load_x(at + 1u).x);
}
