//! Clifford algebras: the metric, and the sign of a product of basis blades.

use super::signs::{reverse_sign, swaps};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The most basis vectors of an algebra: 256 blades, whose product has 65,536 terms.
pub const DIMENSION_AT_MOST: usize = 8;

/// The algebra $\mathrm{Cl}(p, q, r)$ of $n = p + q + r$ orthogonal basis vectors, of which p square to 1, q to -1 and r
/// to 0, in any order. Plain data.
///
/// A blade, the product of some basis vectors in their order, is a bitmask: bit i stands for the i-th vector. Vectors are
/// called `e1`, `e2` and so on; a null vector that is the only one is `e0`, and so is the first of [`SPACETIME`].
///
/// ```
/// use tilewise::clifford::Signature;
///
/// # fn main() -> tilewise::Result<()> {
/// let algebra = Signature::new(2, 1, 1)?;
/// assert_eq!((algebra.dimension(), algebra.size()), (4, 16));
/// assert_eq!(algebra.sign(0b010, 0b001), -1); // e2 e1 = -e12
/// assert_eq!(algebra.sign(0b100, 0b100), -1); // e3 squares to -1
/// assert_eq!(algebra.to_string(), "Cl(2,1,1)");
/// # Ok(())
/// # }
/// ```
///
/// [`SPACETIME`]: Signature::SPACETIME
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature {
    dimension: u8,
    /// Squares of the vectors; 0 behind the last.
    squares: [i8; DIMENSION_AT_MOST],
}

impl Signature {
    /// $\mathrm{Cl}(2)$, of the plane: complex numbers are its even part.
    pub const CL2: Self = Self::constant(2, 0, 0);
    /// $\mathrm{Cl}(3)$, of space: quaternions are its even part.
    pub const CL3: Self = Self::constant(3, 0, 0);
    /// $\mathrm{Cl}(2,0,1)$, plane-based geometric algebra of the plane, the null vector last.
    pub const PGA2D: Self = Self::constant(2, 0, 1);
    /// $\mathrm{Cl}(3,0,1)$, plane-based geometric algebra of space, the null vector last.
    pub const PGA3D: Self = Self::constant(3, 0, 1);
    /// $\mathrm{Cl}(1,3)$, of spacetime, time first.
    pub const SPACETIME: Self = Self::constant(1, 3, 0);
    /// $\mathrm{Cl}(3,1)$, conformal geometric algebra of the plane.
    pub const CGA2D: Self = Self::constant(3, 1, 0);
    /// $\mathrm{Cl}(4,1)$, conformal geometric algebra of space.
    pub const CGA3D: Self = Self::constant(4, 1, 0);

    /// $\mathrm{Cl}(p,q,r)$, vectors that square to 1 first and null vectors last.
    ///
    /// # Errors
    /// [`Error::Input`] of more than 8 vectors.
    pub fn new(p: usize, q: usize, r: usize) -> Result<Self> {
        let count = |n: usize| n.min(DIMENSION_AT_MOST + 1);
        check_dimension(p.saturating_add(q).saturating_add(r))?;
        Ok(Self::constant(count(p), count(q), count(r)))
    }

    /// The algebra of vectors with these squares, each 1, -1 or 0, in this order.
    ///
    /// # Errors
    /// [`Error::Input`] of more than 8 vectors, or if a square is none of 1, -1 and 0.
    pub fn of(squares: &[i8]) -> Result<Self> {
        check_dimension(squares.len())?;
        if let Some(square) = squares.iter().find(|square| !(-1..=1).contains(*square)) {
            return Err(Error::input("signature", format!("a vector squares to 1, -1 or 0, not {square}")));
        }
        let mut all = [0; DIMENSION_AT_MOST];
        all[..squares.len()].copy_from_slice(squares);
        #[expect(clippy::cast_possible_truncation, reason = "at most 8")]
        Ok(Self { dimension: squares.len() as u8, squares: all })
    }

    const fn constant(p: usize, q: usize, r: usize) -> Self {
        let mut squares = [0; DIMENSION_AT_MOST];
        let mut i = 0;
        while i < p + q {
            squares[i] = if i < p { 1 } else { -1 };
            i += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 8, checked where it is no constant")]
        Self { dimension: (p + q + r) as u8, squares }
    }

    /// The same vectors with the null ones in front, their order kept otherwise.
    #[must_use]
    pub fn null_first(self) -> Self {
        self.sorted_by_null(|square| square != 0)
    }

    /// The same vectors with the null ones behind, their order kept otherwise.
    #[must_use]
    pub fn null_last(self) -> Self {
        self.sorted_by_null(|square| square == 0)
    }

    fn sorted_by_null(mut self, key: fn(i8) -> bool) -> Self {
        let n = self.dimension();
        self.squares[..n].sort_by_key(|&square| key(square)); // stable
        self
    }

    /// The number n of basis vectors.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension as usize
    }

    /// The number $2^n$ of basis blades.
    #[must_use]
    pub const fn size(&self) -> usize {
        1 << self.dimension
    }

    /// What each basis vector squares to.
    #[must_use]
    pub fn squares(&self) -> &[i8] {
        &self.squares[..self.dimension()]
    }

    /// How many vectors square to 1, to -1 and to 0.
    #[must_use]
    pub fn pqr(&self) -> [usize; 3] {
        [1, -1, 0].map(|square| self.squares().iter().filter(|&&s| s == square).count())
    }

    /// The sign of the geometric product of two basis blades: $e_{a} e_{b} = \mathrm{sign}\; e_{a \oplus b}$. It is 0 where
    /// they share a null vector.
    ///
    /// Bringing the vectors into order takes $\sum_{k \ge 1} |(a \gg k) \wedge b|$ swaps; then those of both square.
    #[must_use]
    pub fn sign(&self, a: u8, b: u8) -> i8 {
        let shared = a & b;
        let square = self.squares().iter().enumerate().filter(|(i, _)| shared >> i & 1 == 1);
        let metric: i8 = square.map(|(_, &square)| square).product();
        if swaps(a, b).is_multiple_of(2) { metric } else { -metric }
    }

    /// The blade of all vectors, $I$.
    #[must_use]
    pub fn pseudoscalar(&self) -> u8 {
        u8::MAX.checked_shr(8 - u32::from(self.dimension)).unwrap_or(0)
    }

    /// The mask of the null vectors.
    #[must_use]
    pub fn null(&self) -> u8 {
        (0..self.dimension()).filter(|&i| self.squares[i] == 0).fold(0, |mask, i| mask | 1 << i)
    }

    /// What $e_{a}$ is multiplied by in its square by its own reverse, $e_{a} \tilde e_{a}$: the product of its vectors'
    /// squares.
    #[must_use]
    pub fn square(&self, a: u8) -> i8 {
        self.sign(a, a) * reverse_sign(a)
    }

    /// The digit by which vector i is called.
    #[must_use]
    pub fn digit(&self, i: usize) -> usize {
        let zero = match self.pqr() {
            [_, _, 1] => self.squares().iter().position(|&square| square == 0),
            [1, 3, 0] => self.squares().iter().position(|&square| square == 1),
            _ => None,
        };
        match zero {
            Some(zero) if i == zero => 0,
            Some(zero) if i > zero => i,
            _ => i + 1,
        }
    }

    /// What a blade is called: `1`, `e1`, `e12`, its vectors in the algebra's order.
    #[must_use]
    pub fn name(&self, blade: u8) -> String {
        if blade == 0 {
            return "1".to_owned();
        }
        let digits = (0..self.dimension()).filter(|i| blade >> i & 1 == 1).map(|i| self.digit(i).to_string());
        format!("e{}", digits.collect::<String>())
    }
}

fn check_dimension(n: usize) -> Result<()> {
    if n <= DIMENSION_AT_MOST {
        return Ok(());
    }
    let why = format!("{n} basis vectors are too many: {DIMENSION_AT_MOST} make 65,536 terms");
    Err(Error::input("signature", why))
}

impl fmt::Display for Signature {
    /// `Cl(3,0,1)`; with the vectors' squares behind it where they are not in that order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p, q, r] = self.pqr();
        write!(f, "Cl({p},{q},{r})")?;
        if *self == Self::constant(p, q, r) {
            return Ok(());
        }
        let squares: Vec<String> = self.squares().iter().map(i8::to_string).collect();
        write!(f, " of [{}]", squares.join(", "))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Signature {
    type Err = Error;

    /// Reads `p,q,r`, `p,q` or `p`: what is not there is 0.
    fn from_str(text: &str) -> Result<Self> {
        let why = || Error::input(format!("signature `{text}`"), "it is up to three numbers: p,q,r");
        let numbers = text.split(',').map(|n| n.trim().parse::<usize>().map_err(|_| why()));
        let mut counts = numbers.collect::<Result<Vec<_>>>()?;
        counts.resize(counts.len().max(3), 0);
        match counts[..] {
            [p, q, r] => Self::new(p, q, r),
            _ => Err(why()),
        }
    }
}
