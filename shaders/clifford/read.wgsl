//! Reads what an invocation has of operand x: one blade at its positions, or four blades at one position.
//!
//! `read_x(at, stride, count)` has the element at `at` first, then those that lie a stride apart, `count` in all, in f32. What
//! is behind them is any number. Variants that do not look at `stride` are for positions side by side, those that do not look
//! at `count` for whole units or one position. Each reads by `load_x`, whose unit is of as many elements as the variant says.

//#variant positions
// A blade of operand x at the first `count` of four positions that are a stride apart; the others are as the first.
fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    var v = vec4<f32>(load_x(at));
    if count > 1u { v.y = load_x(at + stride); }
    if count > 2u { v.z = load_x(at + 2u * stride); }
    if count > 3u { v.w = load_x(at + 3u * stride); }
    return v;
}

//#variant aligned
// A blade of operand x at all positions of an invocation, side by side from a multiple of their number on.
fn read_x(at: u32, stride: u32, count: u32) -> lanes {
    return load_x(at);
}

//#variant blades
// Four blades of operand x at one position, side by side from a multiple of four on.
fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    return load_x(at);
}

//#variant one
// A blade of operand x at one position, which is that of all lanes.
fn read_x(at: u32, stride: u32, count: u32) -> lanes {
    return lanes(load_x(at));
}

//#variant shifted
// A blade of operand x at the first `count` of four positions side by side, from any on: of two loads of four.
fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    let shift = at & 3u;
    let low = load_x(at - shift);
    if shift == 0u {
        return low;
    }
    var high = low;
    // What lies behind the last position may not be there.
    if shift + count > 4u { high = load_x(at - shift + 4u); }
    let one = vec4<f32>(low.yzw, high.x);
    let two = vec4<f32>(low.zw, high.xy);
    let three = vec4<f32>(low.w, high.xyz);
    return select(select(one, two, shift == 2u), three, shift == 3u);
}

//#variant shifted_two
// A blade of operand x at the first `count` of two positions side by side, from any on: of two loads of two.
fn read_x(at: u32, stride: u32, count: u32) -> vec2<f32> {
    let shift = at & 1u;
    let low = load_x(at - shift);
    if shift == 0u {
        return low;
    }
    // What lies behind the last position may not be there.
    if count == 1u {
        return low.yy;
    }
    return vec2<f32>(low.y, load_x(at + 1u).x);
}
