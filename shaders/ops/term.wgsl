//! What a row is reduced to: `term(at)` of the element at this place of A, `joined(x, y)` of two terms or what was joined
//! before, and `total(x)`, which is stored. Of no element it is held(0).

//#variant sum
// What becomes of the elements of a row: their sum.
//#slot load x=a default element

fn term(at: u32) -> held {
    return load_a(at);
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return x;
}

//#variant square
// What becomes of the elements of a row: the sum of their squares.
//#slot load x=a default element

fn term(at: u32) -> held {
    let x = load_a(at);
    return x * x;
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return x;
}

//#variant magnitude
// What becomes of the elements of a row: the largest magnitude. Bits of floats without their sign are in the order of
// their values, NaN above infinity; as integers, no driver may flush them or drop a NaN.
//#import numbers

//#param  set by AxisProblem::words
const A_TYPE: u32 = F32;    // as `numbers` calls it
const A_PER_WORD: u32 = 1u; // elements of a word
//#end

fn term(at: u32) -> held {
    let bits = 32u / A_PER_WORD;
    let element = (a[at / A_PER_WORD] >> (at % A_PER_WORD * bits)) & (0xffffffffu >> (32u - bits));
    return widened(A_TYPE, element) & 0x7fffffffu;
}

fn joined(x: held, y: held) -> held {
    return max(x, y);
}

fn total(x: held) -> sum {
    return bitcast<f32>(x);
}
