//! The order of the rows of a Hadamard matrix (`src/sketch/operator/row_order.rs`): `position_of(row)`. Before the first
//! call, all lanes call `find_row_order(lane)`, which may have a barrier.

// The position of a row in the order.
fn position_of(row: u32) -> u32 {
    let undo = inverse_rounds();
    let mask = (1u << dims.bits) - 1u;
    var x = ((row - undo[0].y) * undo[0].x) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - undo[0].w) * undo[0].z) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - undo[1].y) * undo[1].x) & mask; // wraps: numbers modulo 2^bits
    x ^= x >> dims.shift;
    x = ((x - undo[1].w) * undo[1].z) & mask; // wraps: numbers modulo 2^bits
    return x ^ (x >> dims.shift);
}

//#variant given
// The host has computed the order from the seed: it is in the dims.
fn find_row_order(lane: u32) {
}

fn inverse_rounds() -> array<vec4<u32>, 2> {
    return array<vec4<u32>, 2>(dims.undo.last, dims.undo.first);
}

//#variant found
// The workgroup computes the order from the seed, as `RowOrder` does.
//#import philox

var<workgroup> undo_rounds: array<vec4<u32>, 2>;

// The inverse of an odd number modulo 2^32, by Newton's iteration: each one doubles the number of correct bits.
fn inverse(odd: u32) -> u32 {
    var x = odd;
    for (var i = 0u; i < 5u; i++) {
        x *= 2u - odd * x; // wraps: numbers modulo 2^32
    }
    return x;
}

// The factor and the summand of an inverse round.
fn inverse_round(round: u32) -> vec2<u32> {
    let words = philox(vec4<u32>(round, 0u, 1u, dims.tag), seed());
    return vec2<u32>(inverse(words.x | 1u), words.y);
}

fn find_row_order(lane: u32) {
    for (var i = lane; i < 2u; i += LANES) {
        undo_rounds[i] = vec4<u32>(inverse_round(3u - 2u * i), inverse_round(2u - 2u * i));
    }
    workgroupBarrier();
}

fn inverse_rounds() -> array<vec4<u32>, 2> {
    return undo_rounds;
}
