//! Sums of products without matrices: `added` multiplies the numbers of two packs, which hold neighbours along k, and adds them to
//! a sum; `word` depends on all of a sum.

//#variant f32
alias Pack = f32;
alias Sum = f32;

fn added(sum: Sum, x: Pack, y: Pack) -> Sum {
    return fma(x, y, sum);
}

fn word(sum: Sum) -> u32 {
    return bitcast<u32>(sum);
}

//#variant f16
// Summed in f16.
alias Pack = vec2<f16>;
alias Sum = vec2<f16>;

fn added(sum: Sum, x: Pack, y: Pack) -> Sum {
    return fma(x, y, sum);
}

fn word(sum: Sum) -> u32 {
    return bitcast<u32>(f32(sum.x + sum.y));
}

//#variant f16_to_f32
alias Pack = vec2<f16>;
alias Sum = vec2<f32>;

fn added(sum: Sum, x: Pack, y: Pack) -> Sum {
    return fma(vec2<f32>(x), vec2<f32>(y), sum);
}

fn word(sum: Sum) -> u32 {
    return bitcast<u32>(sum.x + sum.y);
}

//#variant bf16
// The upper halves of two f32.
alias Pack = u32;
alias Sum = vec2<f32>;

fn wide(x: Pack) -> vec2<f32> {
    return bitcast<vec2<f32>>(vec2<u32>(x << 16u, x & 0xffff0000u));
}

fn added(sum: Sum, x: Pack, y: Pack) -> Sum {
    return fma(wide(x), wide(y), sum);
}

fn word(sum: Sum) -> u32 {
    return bitcast<u32>(sum.x + sum.y);
}

//#variant i8
// Four numbers in a word.
alias Pack = u32;
alias Sum = i32;

fn added(sum: Sum, x: Pack, y: Pack) -> Sum {
    return sum + dot4I8Packed(x, y);
}

fn word(sum: Sum) -> u32 {
    return bitcast<u32>(sum);
}
