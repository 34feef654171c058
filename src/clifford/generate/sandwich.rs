//! The formula of a sandwich $v x \tilde v$: a matrix that is applied to x, or two products.
//!
//! A versor keeps grades, so the matrix has entries between blades of the same grade only. Its entries are quadratic
//! forms of the versor's coefficients. Products of two coefficients are computed once, and so are entries that are
//! equal up to their sign.

use super::formula::{Formula, numbered, sum_expressions};
use crate::clifford::algebra::blades::{Blades, Parity};
use crate::clifford::algebra::product::Product;
use crate::clifford::algebra::signs::{grade, involute_sign, reverse_sign};
use crate::kernel::wgsl::{Block, Expression, Sum, name, number};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The blades of the result: all blades of the grades of `x`. They have the order of `x` if `x` has all of them.
pub(crate) fn blades(x: &Blades) -> Blades {
    let has = x.has_grades();
    let all = x.signature().select(|blade| has[grade(blade)]);
    if all.len() == x.len() { x.clone() } else { all }
}

/// The parity of a versor.
///
/// # Errors
/// [`Error::Input`] if it has both even and odd blades.
pub(crate) fn parity(v: &Blades) -> Result<Parity> {
    v.parity().ok_or_else(|| {
        let why = format!("a versor has even blades or odd ones, and this has both: {v}");
        Error::input("sandwich", why)
    })
}

/// An upper bound of the number of terms of two products.
pub(crate) fn max_terms_of_two(v: &Blades, x: &Blades, out: &Blades) -> usize {
    v.len() * (x.len() + out.len())
}

/// The number of positions of an invocation to which a versor is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersorUse {
    /// Each position has its own versor.
    PerPosition,
    /// All positions of an invocation share one versor, so that its matrix is computed once, from scalars.
    Shared,
}

/// The maximum number of positions of an invocation.
const MAX_POSITIONS: usize = 4;

/// The formula of $v x \tilde v$ for an even versor, $v \hat x \tilde v$ for an odd one: by a matrix or by two
/// products. The form with fewer instructions is used. A matrix with more than `max_terms` terms is not used.
///
/// # Errors
/// [`Error::Input`] if v has both even and odd blades.
pub(crate) fn sandwich(
    v: &Blades,
    x: &Blades,
    out: &Blades,
    versor: VersorUse,
    max_terms: usize,
) -> Result<Formula> {
    let parity = parity(v)?;
    let matrix = Matrix::of(v, x, out, parity);
    let products = two_products(v, x, out, parity)?;
    let positions = match versor {
        VersorUse::PerPosition => 1,
        VersorUse::Shared => MAX_POSITIONS,
    };
    // In instructions: a fused multiply-add is one.
    let instructions = matrix.setup_instructions() + positions * matrix.apply_instructions();
    let is_less = instructions <= positions * products.flops() / 2;
    let by_matrix = matrix.formula();
    Ok(if is_less && by_matrix.flops() <= 2 * max_terms { by_matrix } else { products })
}

/// The sign of a blade in x or $\hat x$, whichever a versor of this parity is applied to.
fn operand_sign(parity: Parity, blade: u8) -> i8 {
    match parity {
        Parity::Even => 1,
        Parity::Odd => involute_sign(blade),
    }
}

/// A quadratic form of the versor's coefficients: a factor for each pair of coefficients, by their indices.
type Quadratic = BTreeMap<(usize, usize), i32>;

/// The matrix of a sandwich, as a function of the versor.
struct Matrix {
    /// Distinct entries up to their sign. The first factor of each is positive.
    entries: Vec<Quadratic>,
    /// For each blade of the result: the blade of x, the entry, and its sign.
    rows: Vec<Vec<(usize, usize, i8)>>,
}

impl Matrix {
    fn of(v: &Blades, x: &Blades, out: &Blades, parity: Parity) -> Self {
        let signature = v.signature();
        let mut matrix = Self { entries: Vec::new(), rows: vec![Vec::new(); out.len()] };
        for (i, &of_x) in x.masks().iter().enumerate() {
            let mut column: BTreeMap<usize, Quadratic> = BTreeMap::new();
            for (p, &a) in v.masks().iter().enumerate() {
                for (q, &b) in v.masks().iter().enumerate() {
                    let k = a ^ of_x ^ b;
                    let sign = signature.sign(a, of_x) * signature.sign(a ^ of_x, b) * reverse_sign(b);
                    let place = out.position(k).filter(|_| sign != 0 && grade(k) == grade(of_x));
                    if let Some(place) = place {
                        let entry = column.entry(place).or_default();
                        *entry.entry((p.min(q), p.max(q))).or_default() +=
                            i32::from(sign * operand_sign(parity, of_x));
                    }
                }
            }
            for (k, mut entry) in column {
                entry.retain(|_, factor| *factor != 0);
                matrix.push(k, i, entry);
            }
        }
        matrix
    }

    /// Adds an entry. Zeros are dropped, and an equal entry with either sign is shared.
    fn push(&mut self, row: usize, column: usize, mut entry: Quadratic) {
        let Some(&first) = entry.values().next() else { return };
        let sign = if first < 0 { -1 } else { 1 };
        entry.values_mut().for_each(|factor| *factor *= i32::from(sign));
        let place = self.entries.iter().position(|other| *other == entry).unwrap_or_else(|| {
            self.entries.push(entry);
            self.entries.len() - 1
        });
        self.rows[row].push((column, place, sign));
    }

    /// The pairs of coefficients whose products occur in an entry.
    fn products(&self) -> BTreeSet<(usize, usize)> {
        self.entries.iter().flat_map(BTreeMap::keys).copied().collect()
    }

    /// The number of instructions that compute the entries.
    fn setup_instructions(&self) -> usize {
        self.products().len() + self.entries.iter().map(|entry| entry.len() - 1).sum::<usize>()
    }

    /// The number of instructions that apply the matrix at one position.
    fn apply_instructions(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// The formula that computes and applies the matrix.
    fn formula(&self) -> Formula {
        let mut lines = Block::default();
        for (p, q) in self.products() {
            lines.define(format!("p{p}_{q}"), numbered("x", p) * numbered("x", q));
        }
        for (place, entry) in self.entries.iter().enumerate() {
            lines.define(format!("m{place}"), sum(entry));
        }
        let mut results = vec![Sum::default(); self.rows.len()];
        for (result, row) in results.iter_mut().zip(&self.rows) {
            for &(column, place, sign) in row {
                result.push(sign, numbered("m", place) * numbered("y", column));
            }
        }
        Formula { statements: lines, results: sum_expressions(results) }
    }
}

/// The expression of an entry: the products with factor 1, plus twice the products with factor 2.
fn sum(entry: &Quadratic) -> Expression {
    let [mut once, mut twice] = [Sum::default(), Sum::default()];
    for (&(p, q), &factor) in entry {
        let of = if factor.abs() == 1 { &mut once } else { &mut twice };
        of.push(if factor < 0 { -1 } else { 1 }, name(format!("p{p}_{q}")));
    }
    if !twice.is_empty() {
        once.push(1, number(2.0) * Expression::Sum(twice));
    }
    Expression::Sum(once)
}

/// The formula by two products: $t = v x$, then the blades `out` of $t \tilde v$.
fn two_products(v: &Blades, x: &Blades, out: &Blades, parity: Parity) -> Result<Formula> {
    let first = Product::Geometric.terms(v, x)?;
    let second = Product::Geometric.terms(&first.out, v)?.select(out)?;
    let mut sums = vec![Sum::default(); first.out.len()];
    for term in &first.terms {
        let sign = term.sign * operand_sign(parity, x.masks()[usize::from(term.y)]);
        sums[usize::from(term.out)].push(sign, numbered("x", term.x) * numbered("y", term.y));
    }
    let mut lines = Block::default();
    for (i, sum) in sum_expressions(sums).into_iter().enumerate() {
        lines.define(format!("t{i}"), sum);
    }
    let mut results = vec![Sum::default(); out.len()];
    for term in &second.terms {
        let sign = term.sign * reverse_sign(v.masks()[usize::from(term.y)]);
        results[usize::from(term.out)].push(sign, numbered("t", term.x) * numbered("x", term.y));
    }
    Ok(Formula { statements: lines, results: sum_expressions(results) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clifford::{Multivector, Signature};

    /// Applies the matrix on the CPU.
    fn applied(matrix: &Matrix, v: &[f64], x: &[f64]) -> Vec<f64> {
        let value = |entry: &Quadratic| -> f64 {
            entry.iter().map(|(&(p, q), &factor)| f64::from(factor) * v[p] * v[q]).sum()
        };
        let entries: Vec<f64> = matrix.entries.iter().map(value).collect();
        let row = |row: &Vec<(usize, usize, i8)>| {
            row.iter().map(|&(column, place, sign)| f64::from(sign) * entries[place] * x[column]).sum()
        };
        matrix.rows.iter().map(row).collect()
    }

    #[test]
    fn matrices_are_sandwiches() -> Result<()> {
        let signatures =
            [Signature::CL2, Signature::PGA3D, Signature::PGA3D.null_first(), Signature::SPACETIME];
        for signature in signatures.into_iter().chain([Signature::new(2, 1, 1)?]) {
            let vector = |k: f64| {
                let values: Vec<f64> = (0..signature.dimension()).map(|i| (k * i as f64 + k).sin()).collect();
                Multivector::new(&signature.vectors(), &values)
            };
            let motor = vector(1.0)?.geometric(&vector(2.0)?)?;
            for (v, versor) in [(signature.even(), motor), (signature.odd(), vector(3.0)?)] {
                for x in [signature.blades(), signature.points(), signature.planes()] {
                    let values: Vec<f64> = (0..x.len()).map(|i| (7.0 * i as f64 + 1.0).cos()).collect();
                    let parity = parity(&v)?;
                    let matrix = Matrix::of(&v, &x, &x, parity);
                    let found = applied(&matrix, &versor.select(&v), &values);
                    let want = versor.sandwich(&Multivector::new(&x, &values)?)?.select(&x);
                    for (found, want) in found.iter().zip(&want) {
                        assert!((found - want).abs() < 1e-12, "{signature} {x}: {found} {want}");
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn one_motor_for_all_points_costs_a_matrix_product_per_point() -> Result<()> {
        for algebra in [Signature::PGA3D, Signature::PGA3D.null_first()] {
            for (x, entries) in [(algebra.points(), 13), (algebra.planes(), 13), (algebra.lines(), 27)] {
                let shared = sandwich(&algebra.motors(), &x, &x, VersorUse::Shared, 1024)?;
                let applied: usize =
                    shared.results.iter().map(|row| row.to_string().matches('*').count()).sum();
                assert_eq!(applied, entries, "{algebra} {x}: {:?}", shared.results);
                let each = sandwich(&algebra.motors(), &x, &x, VersorUse::PerPosition, 1024)?;
                assert!(each.flops() <= 2 * 75, "{algebra} {x}: {}", each.flops());
            }
        }
        Ok(())
    }

    #[test]
    fn dense_multivectors_take_two_products_up_to_five_vectors() -> Result<()> {
        let all = Signature::CGA3D.blades();
        let dense = sandwich(&Signature::CGA3D.even(), &all, &all, VersorUse::PerPosition, 1024)?;
        assert_eq!(dense.flops(), 2048);
        assert!(sandwich(&all, &all, &all, VersorUse::PerPosition, 1024).is_err(), "neither even nor odd");
        Ok(())
    }
}
