//! Products that are summed over segments of k. In each segment, both operands have other planes, as a table says. Planes of A
//! may be made where others are staged, of products of two operands' planes.
//!
//! This folder has no `kernel.rs`: such a product runs the kernels of the matrix product (`gemm/kernels/`). `segments.rs` there
//! fills the slots that differ.

mod plan;
mod problem;

pub(super) use plan::ONE_PLANE;
pub(crate) use problem::{Formed, Gated, Planes, Segmented, Segments};
pub use problem::{SegmentDims, SegmentedProblem};

/// What a matrix of a batch is summed over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Segment<'a> {
    /// The product of a plane of A and one of B.
    Planes(u32, u32),
    /// The product of what these words make of A, and a plane of B. A word has a plane of both operands of A, 8 bits each,
    /// and the highest bit where their product is taken away.
    Terms(&'a [u32], u32),
}

/// The table of a batch of matrices, as `shaders/gemm/segments.wgsl` reads it.
pub(crate) fn segment_table(matrices: &[Vec<Segment<'_>>]) -> Vec<u32> {
    let word = |at: usize| u32::try_from(at).unwrap_or(u32::MAX); // a thousand terms and as many segments at most
    let mut at = matrices.len() + 1;
    let mut table = vec![word(at)];
    for segments in matrices {
        at += 3 * segments.len();
        table.push(word(at));
    }
    let mut terms: Vec<u32> = Vec::new();
    for segment in matrices.iter().flatten() {
        match segment {
            Segment::Planes(a, b) => table.extend([*a, *b, 0]),
            Segment::Terms(words, b) => {
                let first = at + terms.len();
                table.extend([word(first), *b, word(first + words.len())]);
                terms.extend_from_slice(words);
            }
        }
    }
    table.extend(terms);
    table
}
