//! Writes the norm: the sums of a lane, and the backward pass.

use super::expressions::{count, factor, fused, mean, vector};
use super::problem::RowStep;
use super::writer::RowWriter;
use crate::clifford::algebra::signs::grade;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::kernel::wgsl::{ABS, Block, Callee, Expression, SIGN, fma, integer, name, number, select};

impl RowWriter<'_> {
    fn norm_weight(&self, blade: usize) -> i8 {
        self.problem.product.norm.weight(self.problem.signature(), self.problem.blades.masks()[blade])
    }

    /// The position of a blade's grade among the grades that the norm divides.
    pub(super) fn grade_of(&self, blade: usize) -> Option<usize> {
        self.grades.iter().position(|&g| g == grade(self.problem.blades.masks()[blade]))
    }

    /// Adds a number of each feature to one of the lane's sums, except for features past the end of the row.
    fn add(&self, to: &mut Block, sum: usize, value: &Expression) {
        let across = if self.width == 1 {
            select(number(0.0), value.clone(), name("is_mine"))
        } else {
            let counted = select(vector(0.0), value.clone(), name("is_counted"));
            let counted = to.define(format!("counted_{value}"), counted);
            let pair = |i| self.component(&counted, i) + self.component(&counted, i + 1);
            if self.width == 2 { pair(0) } else { pair(0) + pair(2) }
        };
        to.increase(name("own").dereference().element(integer(sum)), across);
    }

    /// Adds a unit's squares to the lane's sums, grade by grade. In [`RowStep::Results`] of a backward pass it only
    /// defines the squares.
    pub(super) fn lane_sums(&self, to: &mut Block) {
        let (is_backward, step) = (self.problem.function.is_backward(), self.problem.step);
        if self.grades.is_empty() || step == RowStep::Results && !is_backward {
            return;
        }
        if self.width > 1 && step != RowStep::Results {
            let is_counted = |i: u32| name("is_mine").and_then(count().above(i));
            let truths = Callee::without_flops(format!("vec{}<bool>", self.width));
            to.define("is_counted", truths.call((0..self.width).map(is_counted)));
        }
        for (place, &g) in self.grades.iter().enumerate() {
            to.comment(format!("Grade {g}."));
            let square = to.define(format!("square{g}"), self.square_of(g));
            if step == RowStep::Results {
                continue;
            }
            let size = to.define(format!("size{g}"), ABS.call([square]));
            self.add(to, place, &size);
            if is_backward {
                let along = to.define(format!("along{g}"), self.along_of(g));
                self.add(to, self.grades.len() + place, &along);
            }
        }
    }

    /// The positions of the blades of a grade.
    fn blades_of(&self, g: usize) -> impl Iterator<Item = usize> {
        (0..self.blades()).filter(move |&k| grade(self.problem.blades.masks()[k]) == g)
    }

    /// The square of a grade of o.
    fn square_of(&self, g: usize) -> Expression {
        let blades = self.blades_of(g).filter(|&k| self.norm_weight(k) != 0);
        let squares = blades.map(|k| (self.norm_weight(k), self.blade("o", k), self.blade("o", k)));
        fused(squares).unwrap_or_else(|| vector(0.0))
    }

    /// The product of a grade of o with the gradient.
    fn along_of(&self, g: usize) -> Expression {
        let products = self.blades_of(g).map(|k| (1, self.blade("g", k), self.blade("o", k)));
        fused(products).unwrap_or_else(|| vector(0.0))
    }

    /// The gradient of o, blade by blade.
    pub(super) fn norm_backward(&self, to: &mut Block) -> Vec<Expression> {
        for (place, &g) in self.grades.iter().enumerate() {
            let r = factor(g);
            let along = mean(self.grades.len() + place) * &r * &r * &r;
            let along = Callee::without_flops("lanes").call([along]);
            let factor = match self.problem.product.norm {
                GradeNorm::Invariant => along * SIGN.call([name(format!("square{g}"))]),
                _ => along,
            };
            to.define(format!("f{g}"), factor);
        }
        (0..self.blades()).map(|k| self.blade_norm_backward(k)).collect()
    }

    fn blade_norm_backward(&self, k: usize) -> Expression {
        let gradient = self.blade("g", k);
        let Some(at) = self.grade_of(k) else { return gradient };
        let g = self.grades[at];
        let (divided, factor_of_o) = (gradient * factor(g), name(format!("f{g}")));
        match self.norm_weight(k) {
            0 => divided,
            1 => fma(-factor_of_o, self.blade("o", k), divided),
            _ => fma(factor_of_o, self.blade("o", k), divided),
        }
    }
}
