//! Segments of k, in each of which both operands have other planes: a product has one, which is all of it.

// How far behind the first of its segment k lies.
fn of_segment(k: u32) -> u32 {
    return k;
}
