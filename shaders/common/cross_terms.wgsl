//! Operands of one half each have no cross terms.

fn with_cross_terms(sum: f32, row: u32, col: u32) -> f32 {
    return sum;
}
