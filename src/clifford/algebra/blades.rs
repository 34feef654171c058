//! Which blades a multivector has, and in which order.

use super::signature::Signature;
use super::signs::grade;
use crate::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// The order in which blades are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// By grade, then by the vectors' places: 1, e1, e2, e3, e12, e13, e23, e123. What networks use.
    ShortLex,
    /// By bitmask: 1, e1, e2, e12, e3, e13, e23, e123. What tables use.
    Ascending,
}

impl Order {
    /// What blades are sorted by.
    fn key(self, blade: u8) -> (usize, u8) {
        match self {
            // The vector of the lowest bit counts most.
            Self::ShortLex => (grade(blade), !blade.reverse_bits()),
            Self::Ascending => (0, blade),
        }
    }
}

/// The blades that a multivector has coefficients of, in the order in which it has them: all of an algebra, or those that
/// are not zero by construction. Cheap to clone.
///
/// ```
/// use tilewise::clifford::{Order, Signature};
///
/// let algebra = Signature::PGA3D;
/// assert_eq!(algebra.grades(&[2])?.to_string(), "e12 e13 e10 e23 e20 e30");
/// assert_eq!(algebra.even().len(), 8);
/// assert_eq!(algebra.blades().ordered(Order::Ascending).masks()[3], 0b11);
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
    /// [`Error::Input`] if there is no such grade, or none at all is asked for.
    pub fn grades(self, grades: &[usize]) -> Result<Blades> {
        if let Some(beyond) = grades.iter().find(|&&grade| grade > self.dimension()) {
            return Err(Error::input(format!("blades of {self}"), format!("there is no grade {beyond}")));
        }
        if grades.is_empty() {
            return Err(none(self));
        }
        Ok(self.select(|blade| grades.contains(&grade(blade))))
    }

    /// The scalar alone.
    #[must_use]
    pub fn scalars(self) -> Blades {
        self.select(|blade| blade == 0)
    }

    /// The blades of grade 1, in the order of the vectors. In PGA they are planes, in the plane lines.
    #[must_use]
    pub fn vectors(self) -> Blades {
        self.select(|blade| grade(blade) == 1)
    }

    /// The blades of grade 2. In PGA of space they are lines.
    #[must_use]
    pub fn bivectors(self) -> Blades {
        self.select(|blade| grade(blade) == 2)
    }

    /// The blades of even grade, which products of an even number of vectors have: rotors and motors.
    #[must_use]
    pub fn even(self) -> Blades {
        self.select(|blade| grade(blade).is_multiple_of(2))
    }

    /// The blades of odd grade, which products of an odd number of vectors have: reflections.
    #[must_use]
    pub fn odd(self) -> Blades {
        self.select(|blade| grade(blade) % 2 == 1)
    }

    /// The blades of motors, the even ones.
    #[must_use]
    pub fn motors(self) -> Blades {
        self.even()
    }

    /// The blades of planes in PGA of space, of lines in PGA of the plane: the vectors.
    #[must_use]
    pub fn planes(self) -> Blades {
        self.vectors()
    }

    /// The blades of points in PGA, which are of grade n - 1: trivectors in space, bivectors in the plane.
    #[must_use]
    pub fn points(self) -> Blades {
        self.select(|blade| grade(blade) + 1 == self.dimension().max(1))
    }

    /// The blades of lines in PGA, which are of grade n - 2: bivectors in space, vectors in the plane.
    #[must_use]
    pub fn lines(self) -> Blades {
        self.select(|blade| grade(blade) + 2 == self.dimension().max(2))
    }

    /// The blades that a condition holds for, in short-lex order; never none.
    pub(crate) fn select(self, condition: impl Fn(u8) -> bool) -> Blades {
        let all = 0..=self.pseudoscalar();
        let masks: Vec<u8> = all.filter(|&blade| condition(blade)).collect();
        let masks = if masks.is_empty() { vec![0] } else { masks };
        Blades { signature: self, masks: masks.into() }.ordered(Order::ShortLex)
    }
}

fn none(signature: Signature) -> Error {
    Error::input(format!("blades of {signature}"), "there must be one at least")
}

impl Blades {
    /// These blades, in this order.
    ///
    /// # Errors
    /// [`Error::Input`] if there is none, one is not of the algebra, or one is there twice.
    pub fn new(signature: Signature, masks: &[u8]) -> Result<Self> {
        let wrong = |why: String| Error::input(format!("blades of {signature}"), why);
        if masks.is_empty() {
            return Err(none(signature));
        }
        for (i, &mask) in masks.iter().enumerate() {
            if mask > signature.pseudoscalar() {
                return Err(wrong(format!("{mask:#b} has vectors that the algebra lacks")));
            }
            if masks[..i].contains(&mask) {
                return Err(wrong(format!("{} is there twice", signature.name(mask))));
            }
        }
        Ok(Self { signature, masks: masks.into() })
    }

    /// The same blades in another order.
    #[must_use]
    pub fn ordered(&self, order: Order) -> Self {
        let mut masks = self.masks.to_vec();
        masks.sort_by_key(|&blade| order.key(blade));
        Self { signature: self.signature, masks: masks.into() }
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The blades, as bitmasks, in order.
    #[must_use]
    pub fn masks(&self) -> &[u8] {
        &self.masks
    }

    /// How many there are; never none.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// The place of a blade.
    #[must_use]
    pub fn position(&self, blade: u8) -> Option<usize> {
        self.masks.iter().position(|&mask| mask == blade)
    }

    /// Per grade from 0 to n, whether there is a blade of it.
    #[must_use]
    pub fn has_grades(&self) -> Vec<bool> {
        let has = |g: usize| self.masks.iter().any(|&blade| grade(blade) == g);
        (0..=self.signature.dimension()).map(has).collect()
    }

    /// The parity of all blades; none if some are even and some odd.
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
