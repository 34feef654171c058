//! The reduction of a row: `term(at)` is the term of the element of A at this index, `joined(x, y)` combines two terms
//! or partial results, and `total(x)` is stored. An empty row starts from held(0).

//#variant sum
// The sum of the elements.
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
// The sum of the squares.
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
// The largest absolute value. The bits of floats without their sign have the order of the values, with NaN above
// infinity. As integers they are neither flushed nor lose a NaN on any driver.
//#import numbers

//#param  set by AxisProblem::read_bits
const A_TYPE: u32 = F32;    // a constant of `numbers`
const A_PER_WORD: u32 = 1u; // elements per word
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
