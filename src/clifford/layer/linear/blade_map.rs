//! The mapping of blades of x to blades of y by a linear layer's matrices, and the blades with a bias.

use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::signs::grade;
use std::ops::Range;

/// The blades with a bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BiasOn {
    /// The scalar, which versors leave unchanged.
    #[default]
    Scalar,
    /// Every blade, as in flash-clifford. NOTE: this is not equivariant: the bias has a direction.
    EveryBlade,
}

impl BiasOn {
    /// The positions of the blades with a bias.
    pub(crate) fn places(self, blades: &Blades) -> Range<usize> {
        let scalar = blades.position(0).unwrap_or(0);
        match self {
            Self::Scalar => scalar..scalar + 1,
            Self::EveryBlade => 0..blades.len(),
        }
    }
}

/// Adjacent blades of x that one matrix maps to adjacent blades of y: one matrix product computes all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BladeMap {
    /// Places in x.
    pub(super) from: Range<usize>,
    /// Positions in y, the same number.
    pub(super) to: Range<usize>,
    /// The grade of the blades of x, which selects the matrix.
    pub(super) grade: usize,
    /// The sign of the matrix, 1 or -1.
    pub(super) sign: i8,
}

impl BladeMap {
    /// Maps every grade to itself. In short-lex order there is one map for each grade, in other orders more.
    pub(super) fn projections(blades: &Blades) -> Vec<Self> {
        let places = blades.masks().iter().enumerate();
        joined(places.map(|(i, &mask)| Self { from: i..i + 1, to: i..i + 1, grade: grade(mask), sign: 1 }))
    }

    /// Maps every blade to the null vector times it. Blades that contain the null vector already are left out: their
    /// product is zero. If the null vector is the first vector, there is one map for each grade. If it is the last,
    /// there are more: within a grade, blades with the null vector are interleaved with blades without it.
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

    /// The map of gradients: from y to x.
    pub(super) fn transposed(self) -> Self {
        Self { from: self.to, to: self.from, ..self }
    }
}

/// Joins adjacent maps of the same matrix and sign.
fn joined(maps: impl Iterator<Item = BladeMap>) -> Vec<BladeMap> {
    let mut all: Vec<BladeMap> = Vec::new();
    for map in maps {
        let key = |map: &BladeMap| (map.grade, map.sign);
        match all.last_mut() {
            Some(last)
                if key(last) == key(&map)
                    && [last.from.end, last.to.end] == [map.from.start, map.to.start] =>
            {
                (last.from.end, last.to.end) = (map.from.end, map.to.end);
            }
            _ => all.push(map),
        }
    }
    all
}
