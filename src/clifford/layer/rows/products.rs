//! Weighted products as expressions, from the algebra's table: the terms of a path are summed before they are weighted.

use super::problem::RowProblem;
use crate::Result;
use crate::clifford::generate::formula::lanes;
use crate::clifford::{Path, Product};
use crate::kernel::write::{Expression, fma, name};

/// A term of the geometric product of two multivectors with all blades: places of blades, and the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightedTerm {
    x: usize,
    y: usize,
    out: usize,
    sign: i8,
    path: usize,
}

/// The blades of a weighted product, forward or backward, as expressions.
pub(super) struct Products {
    terms: Vec<WeightedTerm>,
    /// What the blades are called, in their order.
    names: Vec<String>,
    pub(super) paths: usize,
}

impl Products {
    pub(super) fn new(problem: &RowProblem) -> Result<Self> {
        let blades = &problem.blades;
        let paths = problem.signature().paths();
        let found = Product::Geometric.terms(blades, blades)?.select(blades)?;
        let place = |i: u8| usize::from(i);
        let path = |x: u8, y: u8| Path::of(blades.masks()[place(x)], blades.masks()[place(y)]);
        let terms = found.terms.iter().map(|term| WeightedTerm {
            x: place(term.x),
            y: place(term.y),
            out: place(term.out),
            sign: term.sign,
            // Every term has a path: that is what paths are.
            path: paths.binary_search(&path(term.x, term.y)).unwrap_or_default(),
        });
        let names = blades.masks().iter().map(|&blade| blades.signature().name(blade)).collect();
        Ok(Self { terms: terms.collect(), names, paths: paths.len() })
    }

    /// A blade of the multivector of this name.
    fn of(&self, multivector: &str, blade: usize) -> Expression {
        name(format!("{multivector}_{}", self.names[blade]))
    }

    /// Each blade of the result, of blades called `x` and `y`.
    pub(super) fn forward(&self, x: &str, y: &str) -> Vec<Expression> {
        self.weighted([x, y], |term| [term.out, term.x, term.y])
    }

    /// Each blade of the gradient of X, of the gradient `g` and of `y`.
    pub(super) fn of_x(&self, g: &str, y: &str) -> Vec<Expression> {
        self.weighted([g, y], |term| [term.x, term.out, term.y])
    }

    /// Each blade of the gradient of Y, of the gradient `g` and of `x`.
    pub(super) fn of_y(&self, g: &str, x: &str) -> Vec<Expression> {
        self.weighted([g, x], |term| [term.y, term.out, term.x])
    }

    /// The gradient of each path's weight, added to the strip's sum of that path.
    pub(super) fn of_w(&self, x: &str, y: &str, g: &str) -> Vec<Expression> {
        let of_path = |path: usize| {
            let mut sum = name("strip").member(format!("gw{path}"));
            for out in 0..self.names.len() {
                let terms = self.terms.iter().filter(|term| (term.path, term.out) == (path, out));
                let inner = fused(terms.map(|term| (term.sign, self.of(x, term.x), self.of(y, term.y))));
                if let Some(inner) = inner {
                    sum = fma(self.of(g, out), inner, sum);
                }
            }
            sum
        };
        (0..self.paths).map(of_path).collect()
    }

    /// The sum of the terms of each place, path by path: where a term goes, and which blades of both multivectors it is a
    /// product of.
    fn weighted(&self, [a, b]: [&str; 2], of: impl Fn(&WeightedTerm) -> [usize; 3]) -> Vec<Expression> {
        let of_path = |path: usize, place: usize| {
            let here = self.terms.iter().filter(|term| term.path == path && of(term)[0] == place);
            fused(here.map(|term| {
                let [_, of_a, of_b] = of(term);
                (term.sign, self.of(a, of_a), self.of(b, of_b))
            }))
        };
        let of_place = |place: usize| {
            let mut sum = None;
            for path in 0..self.paths {
                let Some(inner) = of_path(path, place) else { continue };
                let weight = name("strip").member(format!("w{path}"));
                sum = Some(match sum {
                    None => weight * inner,
                    Some(sum) => fma(weight, inner, sum),
                });
            }
            sum.unwrap_or_else(|| lanes(0.0))
        };
        (0..self.names.len()).map(of_place).collect()
    }
}

/// The sum of products with signs, each added to those before; nothing of no products.
pub(super) fn fused(terms: impl Iterator<Item = (i8, Expression, Expression)>) -> Option<Expression> {
    terms.fold(None, |sum, (sign, a, b)| {
        let a = if sign < 0 { -a } else { a };
        Some(match sum {
            None => a * b,
            Some(sum) => fma(a, b, sum),
        })
    })
}
