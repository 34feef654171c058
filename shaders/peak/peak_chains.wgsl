//! Four sums of one invocation: `factors` makes four equal numbers, `different` four that differ, `added` is a multiply-add of
//! each, `word` depends on all.

//#variant real
// Of f32 or f16.
alias Four = vec4<number>;

fn factors(x: u32) -> Four {
    return Four(number(x));
}

fn different(x: u32) -> Four {
    return Four(vec4<u32>(x) + vec4<u32>(0u, 1u, 2u, 3u)) * number(0.001);
}

fn added(sums: Four, x: Four, y: Four) -> Four {
    return fma(sums, x, y);
}

fn word(sums: Four) -> u32 {
    return bitcast<u32>(f32(sums.x + sums.y + sums.z + sums.w));
}

//#variant i8
// Packed words of four i8: each multiply-add is four of them, whose sum is added.
alias Four = vec4<i32>;

fn factors(x: u32) -> Four {
    return vec4<i32>(i32(x));
}

fn different(x: u32) -> Four {
    return vec4<i32>(vec4<u32>(x) + vec4<u32>(0u, 1u, 2u, 3u));
}

fn added(sums: Four, x: Four, y: Four) -> Four {
    let words = bitcast<vec4<u32>>(sums ^ y);
    let factor = bitcast<u32>(x.x);
    return vec4<i32>(
        dot4I8Packed(words.x, factor) + y.x,
        dot4I8Packed(words.y, factor) + y.y,
        dot4I8Packed(words.z, factor) + y.z,
        dot4I8Packed(words.w, factor) + y.w,
    );
}

fn word(sums: Four) -> u32 {
    return bitcast<u32>(sums.x ^ sums.y ^ sums.z ^ sums.w);
}
