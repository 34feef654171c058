//! The table of a product over segments: for each matrix of the batch, the planes that its segments multiply.

/// One segment of a matrix of the batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Segment<'a> {
    /// The product of a plane of A and a plane of B.
    Planes(u32, u32),
    /// The product of a generated plane of A and a plane of B. Each word is one term of A's plane: the planes of both
    /// factors, 8 bits each. The highest bit is set if the term is subtracted.
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
