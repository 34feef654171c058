//! Lists of blades: which blades a multivector stores, and in which order.

use super::signature::Signature;
use super::signs::grade;
use crate::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// The storage order of blades.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BladeOrder {
    /// By grade, then by the positions of the vectors: 1, e1, e2, e3, e12, e13, e23, e123. Clifford networks use it.
    ShortLex,
    /// By bitmask: 1, e1, e2, e12, e3, e13, e23, e123. Product tables use it.
    Ascending,
}

impl BladeOrder {
    /// The sort key of a blade.
    fn key(self, blade: u8) -> (usize, u8) {
        match self {
            // The lowest bit is the most significant.
            Self::ShortLex => (grade(blade), !blade.reverse_bits()),
            Self::Ascending => (0, blade),
        }
    }
}

/// The blades whose coefficients a multivector stores, in storage order: all blades of an algebra, or those that are
/// not zero by construction. Cheap to clone.
///
/// ```
/// use tilewise::clifford::{BladeOrder, Signature};
///
/// let algebra = Signature::PGA3D;
/// assert_eq!(algebra.grades(&[2])?.to_string(), "e12 e13 e10 e23 e20 e30");
/// assert_eq!(algebra.even().len(), 8);
/// assert_eq!(algebra.blades().ordered(BladeOrder::Ascending).masks()[3], 0b11);
/// # Ok::<(), tilewise::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Blades {
    signature: Signature,
    masks: Arc<[u8]>,
}

impl Signature {
    /// All blades, in short-lex order.
    #[must_use]
    pub fn blades(self) -> Blades {
        self.select(|_| true)
    }

    /// The blades of some grades, in short-lex order: `[1]` are the vectors, `[2]` the bivectors.
    ///
    /// # Errors
    /// [`Error::Input`] if the algebra lacks a grade, or the list is empty.
    pub fn grades(self, grades: &[usize]) -> Result<Blades> {
        if let Some(beyond) = grades.iter().find(|&&grade| grade > self.dimension()) {
            return Err(Error::input(
                format!("blades of {self}"),
                format!("the algebra has no grade {beyond}"),
            ));
        }
        if grades.is_empty() {
            return Err(empty_list(self));
        }
        Ok(self.select(|blade| grades.contains(&grade(blade))))
    }

    /// The scalar only.
    #[must_use]
    pub fn scalars(self) -> Blades {
        self.select(|blade| blade == 0)
    }

    /// The blades of grade 1, in the order of the vectors. In PGA of space they are planes, in PGA of the plane lines.
    #[must_use]
    pub fn vectors(self) -> Blades {
        self.select(|blade| grade(blade) == 1)
    }

    /// The blades of grade 2. In PGA of space they are lines.
    #[must_use]
    pub fn bivectors(self) -> Blades {
        self.select(|blade| grade(blade) == 2)
    }

    /// The blades of even grade. Products of an even number of vectors, such as rotors and motors, have these.
    #[must_use]
    pub fn even(self) -> Blades {
        self.select(|blade| grade(blade).is_multiple_of(2))
    }

    /// The blades of odd grade. Products of an odd number of vectors, such as reflections, have these.
    #[must_use]
    pub fn odd(self) -> Blades {
        self.select(|blade| grade(blade) % 2 == 1)
    }

    /// The blades of motors: those of even grade.
    #[must_use]
    pub fn motors(self) -> Blades {
        self.even()
    }

    /// The blades of planes in PGA of space, or of lines in PGA of the plane: the vectors.
    #[must_use]
    pub fn planes(self) -> Blades {
        self.vectors()
    }

    /// The blades of points in PGA, of grade n - 1: trivectors in space, bivectors in the plane.
    #[must_use]
    pub fn points(self) -> Blades {
        self.select(|blade| grade(blade) + 1 == self.dimension().max(1))
    }

    /// The blades of lines in PGA, of grade n - 2: bivectors in space, vectors in the plane.
    #[must_use]
    pub fn lines(self) -> Blades {
        self.select(|blade| grade(blade) + 2 == self.dimension().max(2))
    }

    /// The blades that satisfy a condition, in short-lex order; the scalar if no blade does.
    pub(crate) fn select(self, condition: impl Fn(u8) -> bool) -> Blades {
        let all = 0..=self.pseudoscalar();
        let masks: Vec<u8> = all.filter(|&blade| condition(blade)).collect();
        let masks = if masks.is_empty() { vec![0] } else { masks };
        Blades { signature: self, masks: masks.into() }.ordered(BladeOrder::ShortLex)
    }
}

fn empty_list(signature: Signature) -> Error {
    Error::input(format!("blades of {signature}"), "the list must have at least one blade")
}

impl Blades {
    /// A list of blades, given as bitmasks, in this order.
    ///
    /// # Errors
    /// [`Error::Input`] if the list is empty, has a blade twice, or has a blade that the algebra lacks.
    pub fn new(signature: Signature, masks: &[u8]) -> Result<Self> {
        let wrong = |why: String| Error::input(format!("blades of {signature}"), why);
        if masks.is_empty() {
            return Err(empty_list(signature));
        }
        for (i, &mask) in masks.iter().enumerate() {
            if mask > signature.pseudoscalar() {
                return Err(wrong(format!("{mask:#b} has vectors that the algebra lacks")));
            }
            if masks[..i].contains(&mask) {
                return Err(wrong(format!("{} is listed twice", signature.name(mask))));
            }
        }
        Ok(Self { signature, masks: masks.into() })
    }

    /// The same blades in another order.
    #[must_use]
    pub fn ordered(&self, order: BladeOrder) -> Self {
        let mut masks = self.masks.to_vec();
        masks.sort_by_key(|&blade| order.key(blade));
        Self { signature: self.signature, masks: masks.into() }
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The bitmasks of the blades, in order.
    #[must_use]
    pub fn masks(&self) -> &[u8] {
        &self.masks
    }

    /// The number of blades, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// The index of a blade.
    #[must_use]
    pub fn position(&self, blade: u8) -> Option<usize> {
        self.masks.iter().position(|&mask| mask == blade)
    }

    /// For each grade from 0 to n, whether the list has a blade of that grade.
    #[must_use]
    pub fn has_grades(&self) -> Vec<bool> {
        let has = |g: usize| self.masks.iter().any(|&blade| grade(blade) == g);
        (0..=self.signature.dimension()).map(has).collect()
    }

    /// The parity of all blades, or `None` if some are even and some are odd.
    pub(crate) fn parity(&self) -> Option<Parity> {
        let first = Parity::of(self.masks[0]);
        self.masks.iter().all(|&blade| Parity::of(blade) == first).then_some(first)
    }
}

/// Whether a blade has an even or an odd grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parity {
    Even,
    Odd,
}

impl Parity {
    /// The parity of one blade.
    fn of(blade: u8) -> Self {
        if grade(blade).is_multiple_of(2) { Self::Even } else { Self::Odd }
    }
}

impl fmt::Display for Blades {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.masks.iter().map(|&blade| self.signature.name(blade)).collect();
        f.write_str(&names.join(" "))
    }
}

impl fmt::Debug for Blades {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self, self.signature)
    }
}
