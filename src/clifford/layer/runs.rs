//! Which blades of an operand a matrix takes to which of the result: as few products as there are runs of blades.

use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::signs::grade;
use std::ops::Range;

/// Blades side by side that one matrix takes to blades side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Places in the operand.
    pub(super) from: Range<usize>,
    /// Places in the result, as many.
    pub(super) to: Range<usize>,
    /// The operand's grade: which matrix.
    pub(super) grade: usize,
    /// What the matrix is multiplied by, 1 or -1.
    pub(super) sign: i8,
}

impl Run {
    /// Every grade to itself. In short-lex order there is one for each grade, in other orders more.
    pub(super) fn projections(blades: &Blades) -> Vec<Self> {
        let places = blades.masks().iter().enumerate();
        joined(places.map(|(i, &mask)| Self { from: i..i + 1, to: i..i + 1, grade: grade(mask), sign: 1 }))
    }

    /// Every blade to the null vector times it, which is zero where it has that vector already. With the null vector in
    /// front there is one for each grade, behind it the blades of a grade that have it lie between those that have not.
    pub(super) fn null(blades: &Blades) -> Vec<Self> {
        let signature = blades.signature();
        let null = signature.null();
        let place = |(i, &mask): (usize, &u8)| {
            let to = if mask & null == 0 { blades.position(mask | null)? } else { return None };
            Some(Self {
                from: i..i + 1,
                to: to..to + 1,
                grade: grade(mask),
                sign: signature.sign(null, mask),
            })
        };
        joined(blades.masks().iter().enumerate().filter_map(place))
    }
}

/// Neighbours that differ in their places alone, as one.
fn joined(runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for run in runs {
        let key = |run: &Run| (run.grade, run.sign);
        match all.last_mut() {
            Some(last)
                if key(last) == key(&run)
                    && [last.from.end, last.to.end] == [run.from.start, run.to.start] =>
            {
                (last.from.end, last.to.end) = (run.from.end, run.to.end);
            }
            _ => all.push(run),
        }
    }
    all
}
