//! What becomes of sums as they are stored: nothing.

fn epilogue(row: u32, col: u32, sums: vec4<sum>) -> vec4<sum> {
    return sums;
}
