//! Weighted products as shader expressions, from the algebra's table. The terms of a path are summed before they are
//! weighted.

use super::expressions::{fused, vector};
use super::problem::RowProblem;
use crate::Result;
use crate::clifford::algebra::path::Path;
use crate::clifford::algebra::product::Product;
use crate::kernel::wgsl::{Expression, fma, name};

/// A term of the geometric product: the positions of its blades, its sign and its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightedTerm {
    x: usize,
    y: usize,
    out: usize,
    sign: i8,
    path: usize,
}

/// The blades of a weighted product and of its gradients, as expressions.
pub(super) struct WeightedProduct {
    terms: Vec<WeightedTerm>,
    /// The names of the blades, in their order.
    names: Vec<String>,
    pub(super) paths: usize,
}

impl WeightedProduct {
    pub(super) fn new(problem: &RowProblem) -> Result<Self> {
        let blades = &problem.blades;
        let paths = problem.signature().paths();
        let product = Product::Geometric.terms(blades, blades)?.select(blades)?;
        let place = |i: u8| usize::from(i);
        let path = |x: u8, y: u8| Path::of(blades.masks()[place(x)], blades.masks()[place(y)]);
        let terms = product.terms.iter().map(|term| WeightedTerm {
            x: place(term.x),
            y: place(term.y),
            out: place(term.out),
            sign: term.sign,
            // Every term belongs to a path.
            path: paths.binary_search(&path(term.x, term.y)).unwrap_or_default(),
        });
        let names = blades.masks().iter().map(|&blade| blades.signature().name(blade)).collect();
        Ok(Self { terms: terms.collect(), names, paths: paths.len() })
    }

    /// A blade of the multivector with this name.
    fn of(&self, multivector: &str, blade: usize) -> Expression {
        name(format!("{multivector}_{}", self.names[blade]))
    }

    /// Each blade of the product of the multivectors named `x` and `y`.
    pub(super) fn forward(&self, x: &str, y: &str) -> Vec<Expression> {
        self.weighted([x, y], |term| [term.out, term.x, term.y])
    }

    /// Each blade of the gradient of X, from the gradient `g` of the product and from `y`.
    pub(super) fn x_gradient(&self, g: &str, y: &str) -> Vec<Expression> {
        self.weighted([g, y], |term| [term.x, term.out, term.y])
    }

    /// Each blade of the gradient of Y, from the gradient `g` of the product and from `x`.
    pub(super) fn y_gradient(&self, g: &str, x: &str) -> Vec<Expression> {
        self.weighted([g, x], |term| [term.y, term.out, term.x])
    }

    /// The gradient of each path's weight, added to the strip's sum for that path.
    pub(super) fn weight_gradient(&self, x: &str, y: &str, g: &str) -> Vec<Expression> {
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

    /// The weighted sum of terms for each blade. `of` returns the positions of a term: that of its sum, and those of
    /// the factors in `a` and `b`.
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
            sum.unwrap_or_else(|| vector(0.0))
        };
        (0..self.names.len()).map(of_place).collect()
    }
}
