//! The reduction of a row: `term_of(x)` is the term of an element of A, of type `element`, `joined(x, y)` combines two terms or
//! partial results, and `total(x)` is stored. An empty row starts from held(0), and so does what is missing of a row's end: the
//! term of element(0).

//#variant sum
// The sum of the elements.
alias element = f32;

fn term_of(x: element) -> held {
    return x;
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return x;
}

//#variant square
// The sum of the squares.
alias element = f32;

fn term_of(x: element) -> held {
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
const A_TYPE: u32 = F32; // a constant of `numbers`
//#end
alias element = u32; // bits

fn term_of(x: element) -> held {
    return widened(A_TYPE, x) & 0x7fffffffu;
}

fn joined(x: held, y: held) -> held {
    return max(x, y);
}

fn total(x: held) -> sum {
    return bitcast<f32>(x);
}
