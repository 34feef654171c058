//! The text of the norm behind a function of rows: what lanes sum, and what becomes of a gradient.

use super::problem::RowStep;
use super::products::fused;
use super::text::Writer;
use crate::clifford::grade;
use crate::clifford::layer::form::GradeNorm;
use std::fmt::Write;

impl Writer<'_> {
    fn norm_weight(&self, blade: usize) -> i8 {
        self.problem.product.norm.weight(self.problem.signature(), self.problem.blades.masks()[blade])
    }

    /// The place among the grades that are divided of the grade of a blade.
    pub(super) fn grade_of(&self, blade: usize) -> Option<usize> {
        self.grades.iter().position(|&g| g == grade(self.problem.blades.masks()[blade]))
    }

    /// Adds a number of each feature to one of the lane's sums; what is beyond the last feature counts for nothing.
    fn add(&self, text: &mut String, sum: usize, number: &str) {
        let counted = format!("counted_{number}");
        let across = match self.width {
            1 => format!("select(0.0, {number}, is_mine)"),
            2 => format!("{counted}.x + {counted}.y"),
            _ => format!("({counted}.x + {counted}.y) + ({counted}.z + {counted}.w)"),
        };
        if self.width > 1 {
            let _ = writeln!(text, "let {counted} = select(lanes(0.0), {number}, is_counted);");
        }
        let _ = writeln!(text, "(*own)[{sum}] += {across};");
    }

    /// What a lane adds to its sums of the row, grade by grade; of the results of gradients, the squares alone.
    pub(super) fn own(&self, text: &mut String) {
        let (is_backward, step) = (self.problem.function.is_backward(), self.problem.step);
        if self.grades.is_empty() || step == RowStep::Results && !is_backward {
            return;
        }
        if self.width > 1 && step != RowStep::Results {
            let counted: Vec<String> =
                (0..self.width).map(|i| format!("is_mine && unit.count > {i}u")).collect();
            let _ = writeln!(text, "let is_counted = vec{}<bool>({});", self.width, counted.join(", "));
        }
        for (place, &g) in self.grades.iter().enumerate() {
            let _ = writeln!(text, "// Of grade {g}.\nlet square{g} = {};", self.square_of(g));
            if step == RowStep::Results {
                continue;
            }
            let _ = writeln!(text, "let size{g} = abs(square{g});");
            self.add(text, place, &format!("size{g}"));
            if is_backward {
                let _ = writeln!(text, "let along{g} = {};", self.along_of(g));
                self.add(text, self.grades.len() + place, &format!("along{g}"));
            }
        }
    }

    /// The places of a grade's blades.
    fn blades_of(&self, g: usize) -> impl Iterator<Item = usize> {
        (0..self.blades()).filter(move |&k| grade(self.problem.blades.masks()[k]) == g)
    }

    /// The square of a grade of what is normalised, as an expression.
    fn square_of(&self, g: usize) -> String {
        let terms = self.blades_of(g).filter(|&k| self.norm_weight(k) != 0).map(|k| {
            let o = format!("o_{}", self.names[k]);
            (self.norm_weight(k), o.clone(), o)
        });
        fused(terms).unwrap_or_else(|| "lanes(0.0)".to_owned())
    }

    /// The product of a grade of it with the gradient.
    fn along_of(&self, g: usize) -> String {
        let names = self.blades_of(g).map(|k| &self.names[k]);
        fused(names.map(|k| (1, format!("g_{k}"), format!("o_{k}")))).unwrap_or_default()
    }

    /// The gradient in front of the norm, as expressions.
    pub(super) fn norm_backward(&self, text: &mut String) -> Vec<String> {
        for (place, &g) in self.grades.iter().enumerate() {
            let at = self.grades.len() + place;
            let sign = match self.problem.product.norm {
                GradeNorm::Invariant => format!(" * sign(square{g})"),
                _ => String::new(),
            };
            let _ = writeln!(
                text,
                "let f{g} = lanes((*total)[{at}] / f32(dims.features) * r{g} * r{g} * r{g}){sign};"
            );
        }
        let of = |(k, blade): (usize, &String)| match (
            self.grade_of(k).map(|at| self.grades[at]),
            self.norm_weight(k),
        ) {
            (None, _) => format!("g_{blade}"),
            (Some(g), 0) => format!("g_{blade} * r{g}"),
            (Some(g), 1) => format!("fma(-f{g}, o_{blade}, g_{blade} * r{g})"),
            (Some(g), _) => format!("fma(f{g}, o_{blade}, g_{blade} * r{g})"),
        };
        self.names.iter().enumerate().map(of).collect()
    }
}
