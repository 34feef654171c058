//! The signature of a Clifford algebra: the metric, and the signs of products of basis blades.

use super::signs::{reverse_sign, swaps};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The maximum number of basis vectors: 256 blades, and products of 65,536 terms.
pub const MAX_DIMENSION: usize = 8;

/// The signature of the algebra $\mathrm{Cl}(p, q, r)$ with $n = p + q + r$ orthogonal basis vectors. p of them square
/// to 1, q to -1 and r to 0, in any order.
///
/// A basis blade is the product of some basis vectors in ascending order. It is stored as a bitmask: bit i stands for
/// the i-th vector. Vectors are named `e1`, `e2` and so on. A single null vector is named `e0`, and so is the time
/// vector of [`SPACETIME`].
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
    /// Squares of the vectors, then zeros.
    squares: [i8; MAX_DIMENSION],
}

impl Signature {
    /// $\mathrm{Cl}(2)$, the algebra of the plane. Its even part is the complex numbers.
    pub const CL2: Self = Self::constant(2, 0, 0);
    /// $\mathrm{Cl}(3)$, the algebra of space. Its even part is the quaternions.
    pub const CL3: Self = Self::constant(3, 0, 0);
    /// $\mathrm{Cl}(2,0,1)$, plane-based geometric algebra of the plane, the null vector last.
    pub const PGA2D: Self = Self::constant(2, 0, 1);
    /// $\mathrm{Cl}(3,0,1)$, plane-based geometric algebra of space, the null vector last.
    pub const PGA3D: Self = Self::constant(3, 0, 1);
    /// $\mathrm{Cl}(1,3)$, the algebra of spacetime, time first.
    pub const SPACETIME: Self = Self::constant(1, 3, 0);
    /// $\mathrm{Cl}(3,1)$, conformal geometric algebra of the plane.
    pub const CGA2D: Self = Self::constant(3, 1, 0);
    /// $\mathrm{Cl}(4,1)$, conformal geometric algebra of space.
    pub const CGA3D: Self = Self::constant(4, 1, 0);

    /// $\mathrm{Cl}(p,q,r)$, with vectors that square to 1 first and null vectors last.
    ///
    /// # Errors
    /// [`Error::Input`] for more than 8 vectors.
    pub fn new(p: usize, q: usize, r: usize) -> Result<Self> {
        let count = |n: usize| n.min(MAX_DIMENSION + 1);
        check_dimension(p.saturating_add(q).saturating_add(r))?;
        Ok(Self::constant(count(p), count(q), count(r)))
    }

    /// The signature of vectors with these squares, each 1, -1 or 0, in this order.
    ///
    /// # Errors
    /// [`Error::Input`] for more than 8 vectors, or if a square is not 1, -1 or 0.
    pub fn from_squares(squares: &[i8]) -> Result<Self> {
        check_dimension(squares.len())?;
        if let Some(square) = squares.iter().find(|square| !(-1..=1).contains(*square)) {
            return Err(Error::input("signature", format!("a vector squares to 1, -1 or 0, not {square}")));
        }
        let mut all = [0; MAX_DIMENSION];
        all[..squares.len()].copy_from_slice(squares);
        #[expect(clippy::cast_possible_truncation, reason = "at most 8")]
        Ok(Self { dimension: squares.len() as u8, squares: all })
    }

    const fn constant(p: usize, q: usize, r: usize) -> Self {
        let mut squares = [0; MAX_DIMENSION];
        let mut i = 0;
        while i < p + q {
            squares[i] = if i < p { 1 } else { -1 };
            i += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 8, checked by `new`")]
        Self { dimension: (p + q + r) as u8, squares }
    }

    /// The same vectors, null vectors first. The order is otherwise unchanged.
    #[must_use]
    pub fn null_first(self) -> Self {
        self.sorted_by_null(|square| square != 0)
    }

    /// The same vectors, null vectors last. The order is otherwise unchanged.
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

    /// The square of each basis vector.
    #[must_use]
    pub fn squares(&self) -> &[i8] {
        &self.squares[..self.dimension()]
    }

    /// The numbers of vectors that square to 1, to -1 and to 0.
    #[must_use]
    pub fn pqr(&self) -> [usize; 3] {
        [1, -1, 0].map(|square| self.squares().iter().filter(|&&s| s == square).count())
    }

    /// The sign of the geometric product of two basis blades: $e_{a} e_{b} = \mathrm{sign}\\; e_{a \oplus b}$. It is 0
    /// if they share a null vector.
    ///
    /// Sorting the vectors takes $\sum_{k \ge 1} |(a \gg k) \wedge b|$ swaps. Each shared vector then contributes its
    /// square.
    #[must_use]
    pub fn sign(&self, a: u8, b: u8) -> i8 {
        let shared = a & b;
        let square = self.squares().iter().enumerate().filter(|(i, _)| shared >> i & 1 == 1);
        let metric: i8 = square.map(|(_, &square)| square).product();
        if swaps(a, b).is_multiple_of(2) { metric } else { -metric }
    }

    /// The bitmask of the pseudoscalar $I$, the product of all vectors.
    #[must_use]
    pub fn pseudoscalar(&self) -> u8 {
        u8::MAX.checked_shr(8 - u32::from(self.dimension)).unwrap_or(0)
    }

    /// The bitmask of the null vectors.
    #[must_use]
    pub fn null(&self) -> u8 {
        (0..self.dimension()).filter(|&i| self.squares[i] == 0).fold(0, |mask, i| mask | 1 << i)
    }

    /// The product of a blade and its reverse, $e_{a} \tilde e_{a}$: the product of its vectors' squares.
    #[must_use]
    pub fn square(&self, a: u8) -> i8 {
        self.sign(a, a) * reverse_sign(a)
    }

    /// The digit in the name of vector i.
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

    /// The name of a blade, such as `1`, `e1` or `e12`.
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
    if n <= MAX_DIMENSION {
        return Ok(());
    }
    let why = format!("an algebra has at most {MAX_DIMENSION} basis vectors, not {n}");
    Err(Error::input("signature", why))
}

impl fmt::Display for Signature {
    /// `Cl(3,0,1)`, followed by the vectors' squares if they are in another order.
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

    /// Parses `p,q,r`, `p,q` or `p`. Missing numbers are 0.
    fn from_str(text: &str) -> Result<Self> {
        let why = || Error::input(format!("signature `{text}`"), "expected up to three numbers, p,q,r");
        let numbers = text.split(',').map(|n| n.trim().parse::<usize>().map_err(|_| why()));
        let mut counts = numbers.collect::<Result<Vec<_>>>()?;
        counts.resize(counts.len().max(3), 0);
        match counts[..] {
            [p, q, r] => Self::new(p, q, r),
            _ => Err(why()),
        }
    }
}
