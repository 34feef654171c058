//! The text of a function of rows: what stands in the slots of `shaders/clifford/rows.wgsl`.

use super::operands::{Accessed, Operand, operands};
use super::problem::{RowFunction, RowProblem, RowStep};
use super::products::Products;
use super::tile::RowTile;
use crate::Result;
use crate::clifford::layer::form::GradeNorm;
use crate::clifford::layer::wgsl::{Member, function, structure};
use crate::gpu::Caps;
use std::fmt::Write;

/// What is written of a function of rows, by the slots.
pub(super) struct Texts {
    pub(super) operands: String,
    pub(super) terms: String,
    /// Arithmetic operations at a position, about.
    pub(super) flops: usize,
}

/// What is behind `v` of its features.
pub(super) fn part(width: u32, i: u32) -> &'static str {
    if width == 1 { "" } else { [".x", ".y", ".z", ".w"][i as usize] }
}

/// Writes the functions of one kernel.
pub(super) struct Writer<'a> {
    pub(super) problem: &'a RowProblem,
    pub(super) width: u32,
    accesses: Vec<Accessed>,
    pub(super) products: Option<Products>,
    /// What the blades are called, in their order.
    pub(super) names: Vec<String>,
    /// The grades that are divided.
    pub(super) grades: Vec<usize>,
}

pub(super) fn texts(problem: &RowProblem, tile: &RowTile, caps: &Caps) -> Result<Texts> {
    let accesses: Vec<Accessed> =
        operands(problem).into_iter().map(|operand| Accessed::of(problem, operand, tile, caps)).collect();
    let products = if problem.function.is_product() { Some(Products::new(problem)?) } else { None };
    let grades = if problem.is_normalised() { problem.grades() } else { Vec::new() };
    let names = problem.blades.masks().iter().map(|&blade| problem.signature().name(blade)).collect();
    let writer = Writer { problem, width: tile.width, accesses, products, names, grades };
    let declarations = writer.accesses.iter().enumerate().map(|(i, access)| access.declaration(i));
    Ok(Texts { operands: declarations.collect(), terms: writer.terms(), flops: writer.flops() })
}

impl Writer<'_> {
    pub(super) fn blades(&self) -> usize {
        self.names.len()
    }

    pub(super) fn has(&self, operand: Operand) -> Option<&Accessed> {
        self.accesses.iter().find(|access| access.operand == operand)
    }

    /// The structs and functions of the slot `row_terms`.
    fn terms(&self) -> String {
        [
            structure("What a unit keeps through the rows of a strip.", "StripState", &self.strip_state()),
            structure("What a unit keeps from the sums of a row to its results.", "RowState", &self.row_state()),
            function("Before the first row.", "strip_begin(unit: Unit) -> StripState", &self.begin()),
            function(
                "What is summed over a row.",
                "row_sums(row: u32, unit: Unit, is_mine: bool, strip: StripState, own: ptr<function, array<f32, SUMS>>) -> RowState",
                &self.sums(),
            ),
            function(
                "What becomes of a row, by its sums.",
                "row_results(row: u32, unit: Unit, is_mine: bool, strip: StripState, kept: RowState, total: ptr<function, array<f32, SUMS>>) -> StripState",
                &self.results(),
            ),
            function("Behind the last row.", "strip_end(place: u32, unit: Unit, strip: StripState)", &self.end()),
        ]
        .concat()
    }

    /// Weights and sums of their gradients.
    fn strip_state(&self) -> Vec<Member> {
        let paths = if self.products.is_some() { self.problem.signature().paths() } else { Vec::new() };
        let member = |name: String, comment: String| Member { name, of_type: "lanes", comment };
        let weights = paths.iter().enumerate().map(|(i, path)| {
            let comment = format!("of grades {} and {} into {}", path.left, path.right, path.out);
            member(format!("w{i}"), comment)
        });
        let has_sums = self.has(Operand::Slab).is_some();
        let sums = (0..paths.len()).filter(|_| has_sums).map(|i| {
            let comment = if i == 0 { "the gradients of weights, summed over the rows before" } else { "" };
            member(format!("gw{i}"), comment.to_owned())
        });
        weights.chain(sums).collect()
    }

    fn row_state(&self) -> Vec<Member> {
        let member = |name| Member { name, of_type: "lanes", comment: String::new() };
        self.kept().into_iter().map(member).collect()
    }

    /// Loads the weights.
    fn begin(&self) -> String {
        let Some(products) = &self.products else { return "return StripState();\n".to_owned() };
        let mut text = "let w_at = dims.w.z + unit.feature * dims.w.y;\n".to_owned();
        for i in 1..self.width {
            let _ = writeln!(text, "let w_at{i} = w_at + min({i}u, unit.count - 1u) * dims.w.y;");
        }
        text.push_str("var strip: StripState;\n");
        for path in 0..products.paths {
            let loads: Vec<String> = (0..self.width)
                .map(|i| if i == 0 { "w_at".to_owned() } else { format!("w_at{i}") })
                .map(|at| format!("load_w({at} + {path}u * dims.w.x)"))
                .collect();
            let _ = writeln!(text, "strip.w{path} = lanes({});", loads.join(", "));
        }
        text + "return strip;\n"
    }

    /// What results need of what sums have found, by name.
    pub(super) fn kept(&self) -> Vec<String> {
        let blades = |name: &str| self.names.iter().map(|k| format!("{name}_{k}")).collect::<Vec<_>>();
        let mut kept = Vec::new();
        let function = self.problem.function;
        if self.problem.step == RowStep::Sums && function.is_backward() {
            return kept;
        }
        if function == RowFunction::SteerableBackward {
            kept.extend(["x", "y"].into_iter().flat_map(blades));
            if self.problem.is_gated() {
                kept.extend(["x_gate".to_owned(), "y_gate".to_owned()]);
            }
        }
        if function.is_backward() {
            kept.extend(blades("g"));
        }
        if !function.is_backward() || self.problem.is_normalised() {
            kept.extend(blades("o"));
        }
        if function.is_backward() && self.problem.product.norm == GradeNorm::Invariant {
            kept.extend(self.grades.iter().map(|g| format!("square{g}")));
        }
        kept
    }

    /// Stores the sums of weight gradients, of the rows that this lane had.
    fn end(&self) -> String {
        let mut text = String::new();
        let (Some(products), Some(_)) = (&self.products, self.has(Operand::Slab)) else { return text };
        let _ = writeln!(
            text,
            "if unit.index < dims.units {{\n    let slab_at = (place * dims.features + unit.feature) * {}u;",
            products.paths
        );
        for i in 0..self.width {
            let _ = writeln!(text, "    if unit.count > {i}u {{");
            for path in 0..products.paths {
                let at = i as usize * products.paths + path;
                let component = part(self.width, i);
                let _ = writeln!(text, "        slab[slab_at + {at}u] = strip.gw{path}{component};");
            }
            text.push_str("    }\n");
        }
        text + "}\n"
    }

    fn flops(&self) -> usize {
        let blades = self.blades();
        let gates = if self.problem.is_gated() { 2 * (30 + blades) } else { 0 };
        let norm = if self.grades.is_empty() { 0 } else { 3 * blades };
        let product = self.products.as_ref().map_or(0, Products::flops);
        match self.problem.function {
            RowFunction::Steerable => gates + product + norm,
            RowFunction::SteerableBackward if self.grades.is_empty() => 2 * gates + 3 * product + 4 * blades,
            RowFunction::SteerableBackward => 2 * gates + 4 * product + 2 * norm + 4 * blades,
            RowFunction::Normalize => norm,
            RowFunction::NormalizeBackward => 3 * norm,
        }
    }
}
