//! What becomes of the elements of a row: the sum of their squares.

//#import load_x x=a

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
