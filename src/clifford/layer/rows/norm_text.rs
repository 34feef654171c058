//! The text of the norm behind a function of rows: what lanes sum, and what becomes of a gradient.

use super::problem::RowStep;
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

    /// The sum over features of an expression; what is beyond the last feature counts for nothing.
    fn across(&self, expression: &str) -> String {
        let sum = match self.width {
            1 => return format!("select(0.0, {expression}, is_mine)"),
            2 => "v.x + v.y",
            _ => "(v.x + v.y) + (v.z + v.w)",
        };
        let vector = format!("select(lanes(0.0), {expression}, is_counted)");
        sum.replace('v', "V").replace('V', &vector)
    }

    /// What a lane adds to the sums of its row.
    pub(super) fn own(&self, text: &mut String) {
        if self.grades.is_empty() || self.problem.step == RowStep::Results && !self.needs_squares() {
            return;
        }
        if self.width > 1 {
            let counted: Vec<String> = (0..self.width).map(|i| format!("is_mine && count > {i}u")).collect();
            let _ = writeln!(text, "let is_counted = vec{}<bool>({});", self.width, counted.join(", "));
        }
        for (place, &g) in self.grades.iter().enumerate() {
            let of_grade = |k: &usize| grade(self.problem.blades.masks()[*k]) == g;
            let mut square: Option<String> = None;
            for k in (0..self.blades()).filter(of_grade) {
                let sign = match self.norm_weight(k) {
                    0 => continue,
                    1 => "",
                    _ => "-",
                };
                square = Some(match square {
                    None => format!("{sign}o{k} * o{k}"),
                    Some(sum) => format!("fma({sign}o{k}, o{k}, {sum})"),
                });
            }
            let _ = writeln!(text, "let square{g} = {};", square.unwrap_or_else(|| "lanes(0.0)".to_owned()));
            if self.problem.step == RowStep::Results {
                continue;
            }
            let _ = writeln!(text, "let size{g} = abs(square{g});");
            let _ = writeln!(text, "own[{place}] += {};", self.across(&format!("size{g}")));
            if self.problem.function.is_backward() {
                let along = (0..self.blades()).filter(of_grade).fold(None, |sum: Option<String>, k| {
                    Some(match sum {
                        None => format!("g{k} * o{k}"),
                        Some(sum) => format!("fma(g{k}, o{k}, {sum})"),
                    })
                });
                let _ = writeln!(text, "let along{g} = {};", along.unwrap_or_default());
                let at = self.grades.len() + place;
                let _ = writeln!(text, "own[{at}] += {};", self.across(&format!("along{g}")));
            }
        }
    }

    /// Whether results need the signs of squares.
    fn needs_squares(&self) -> bool {
        self.problem.function.is_backward()
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
                "let f{g} = lanes(total[{at}] / f32(dims.features) * r{g} * r{g} * r{g}){sign};"
            );
        }
        let of = |k: usize| match (self.grade_of(k).map(|at| self.grades[at]), self.norm_weight(k)) {
            (None, _) => format!("g{k}"),
            (Some(g), 0) => format!("g{k} * r{g}"),
            (Some(g), 1) => format!("fma(-f{g}, o{k}, g{k} * r{g})"),
            (Some(g), _) => format!("fma(f{g}, o{k}, g{k} * r{g})"),
        };
        (0..self.blades()).map(of).collect()
    }
}
