//! Four sums of one invocation: `equal` and `consecutive` make four numbers, `added` is a multiply-add of each, `word` depends
//! on all.

//#variant real
// Of f32 or f16.
alias Four = vec4<number>;

fn equal(x: u32) -> Four {
    return Four(number(x));
}

fn consecutive(x: u32) -> Four {
    return Four(number(x), number(x + 1u), number(x + 2u), number(x + 3u));
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

fn equal(x: u32) -> Four {
    return vec4<i32>(i32(x));
}

fn consecutive(x: u32) -> Four {
    return vec4<i32>(vec4<u32>(x, x + 1u, x + 2u, x + 3u));
}

fn added(sums: Four, x: Four, y: Four) -> Four {
    let words = bitcast<vec4<u32>>(sums);
    let factor = bitcast<u32>(x.x);
    return y + vec4<i32>(
        dot4I8Packed(words.x, factor),
        dot4I8Packed(words.y, factor),
        dot4I8Packed(words.z, factor),
        dot4I8Packed(words.w, factor),
    );
}

fn word(sums: Four) -> u32 {
    return bitcast<u32>(sums.x ^ sums.y ^ sums.z ^ sums.w);
}
