//! The place at which an operator has a row of the Hadamard matrix (`src/sketch/hadamard/rows.rs`).

fn place_of(row: u32) -> u32 {
    let mask = (1u << dims.bits) - 1u;
    var x = ((row - dims.undo[0].y) * dims.undo[0].x) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - dims.undo[0].w) * dims.undo[0].z) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - dims.undo[1].y) * dims.undo[1].x) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - dims.undo[1].w) * dims.undo[1].z) & mask; // wraps: numbers modulo 2^bits
    return x ^ (x >> dims.shift);
}
