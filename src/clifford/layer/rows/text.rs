//! The text of a function of rows: what stands in the slots of `shaders/clifford/rows.wgsl`.

use super::operands::{Access, Operand, operands};
use super::problem::{RowFunction, RowProblem, RowStep};
use super::products::Products;
use super::tile::RowTile;
use crate::Result;
use crate::clifford::layer::form::GradeNorm;
use crate::clifford::walk::Unit;
use crate::gpu::Caps;
use std::fmt::Write;

/// The statements of a function of rows, by the slots they stand in.
pub(super) struct Texts {
    pub(super) operands: String,
    pub(super) memory: String,
    pub(super) begin: String,
    pub(super) sums: String,
    pub(super) results: String,
    pub(super) end: String,
    /// Numbers that a unit keeps between its sums and its results.
    pub(super) kept: usize,
    /// Arithmetic operations at a position, about.
    pub(super) flops: usize,
}

/// What is behind `v` of its features.
fn part(width: u32, i: u32) -> &'static str {
    if width == 1 { "" } else { [".x", ".y", ".z", ".w"][i as usize] }
}

/// Writes statements of one kernel.
pub(super) struct Writer<'a> {
    pub(super) problem: &'a RowProblem,
    pub(super) width: u32,
    accesses: Vec<Access>,
    products: Option<Products>,
    /// The grades that are divided.
    pub(super) grades: Vec<usize>,
}

pub(super) fn texts(problem: &RowProblem, tile: &RowTile, caps: &Caps) -> Result<Texts> {
    let accesses: Vec<Access> =
        operands(problem).into_iter().map(|operand| Access::of(problem, operand, tile, caps)).collect();
    let products = if problem.function.is_product() { Some(Products::of(problem)?) } else { None };
    let grades = if problem.is_normalised() { problem.grades() } else { Vec::new() };
    let writer = Writer { problem, width: tile.width, accesses, products, grades };
    let declarations = writer.accesses.iter().enumerate().map(|(i, access)| access.declaration(i));
    Ok(Texts {
        operands: declarations.collect(),
        memory: writer.memory(),
        begin: writer.begin(),
        sums: writer.sums(),
        results: writer.results(),
        end: writer.end(),
        kept: writer.kept().len(),
        flops: writer.flops(),
    })
}

impl Writer<'_> {
    pub(super) fn blades(&self) -> usize {
        self.problem.blade_count()
    }

    fn has(&self, operand: Operand) -> Option<&Access> {
        self.accesses.iter().find(|access| access.operand == operand)
    }

    /// Weights and sums of their gradients, which stay for all rows of a strip.
    fn memory(&self) -> String {
        let mut text = String::new();
        if self.products.is_some() {
            text.push_str("var weights: array<lanes, UNITS * PATHS>;\n");
        }
        if self.has(Operand::Slab).is_some() {
            text.push_str("var sums_w: array<lanes, UNITS * PATHS>;\n");
        }
        text
    }

    fn begin(&self) -> String {
        let mut text = String::new();
        let Some(products) = &self.products else { return text };
        text.push_str("let w_at = dims.w.z + feature * dims.w.y;\n");
        for i in 1..self.width {
            let _ = writeln!(text, "let w_{i} = w_at + min({i}u, count - 1u) * dims.w.y;");
        }
        for path in 0..products.paths {
            let loads: Vec<String> = (0..self.width)
                .map(|i| if i == 0 { "w_at".to_owned() } else { format!("w_{i}") })
                .map(|at| format!("load_w({at} + {path}u * dims.w.x)"))
                .collect();
            let _ = writeln!(text, "weights[u * PATHS + {path}u] = lanes({});", loads.join(", "));
        }
        text
    }

    /// The weights of a unit, by their names.
    fn weights(&self, text: &mut String) {
        for path in 0..self.products.as_ref().map_or(0, |products| products.paths) {
            let _ = writeln!(text, "let w{path} = weights[u * PATHS + {path}u];");
        }
    }

    /// What results need of what sums have found, by name.
    fn kept(&self) -> Vec<String> {
        let blades = |name: &str| (0..self.blades()).map(|k| format!("{name}{k}")).collect::<Vec<_>>();
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

    /// Loads, the product, and what a lane adds to the sums of its row.
    fn sums(&self) -> String {
        let mut text = String::new();
        let function = self.problem.function;
        let read = [Operand::X, Operand::Y, Operand::G].map(|operand| self.has(operand));
        let read: Vec<&Access> = read.into_iter().flatten().collect();
        read.iter().for_each(|access| self.place(&mut text, access));
        // The scalars first: gates take long, and need nothing else.
        if self.problem.is_gated() {
            read[..2].iter().for_each(|access| self.load(&mut text, access, self.scalar()));
            self.gates(&mut text);
        }
        for (i, access) in read.iter().enumerate() {
            let is_there = |k: &usize| i < 2 && self.problem.is_gated() && *k == self.scalar();
            (0..self.blades()).filter(|k| !is_there(k)).for_each(|k| self.load(&mut text, access, k));
        }
        match (function, &self.products) {
            (_, Some(products)) => {
                self.weights(&mut text);
                self.gated_blades(&mut text);
                // Without a norm the gradients need no product.
                if !function.is_backward() || self.problem.is_normalised() {
                    let [x, y] = self.gated();
                    for (k, o) in products.forward(x, y).iter().enumerate() {
                        let _ = writeln!(text, "let o{k} = {o};");
                    }
                }
            }
            (_, None) => (0..self.blades()).for_each(|k| {
                let _ = writeln!(text, "let o{k} = x{k};");
            }),
        }
        self.own(&mut text);
        for (i, name) in self.kept().iter().enumerate() {
            let _ = writeln!(text, "kept[u * KEPT + {i}u] = {name};");
        }
        text
    }

    /// Where an operand's features lie at the first blade.
    fn place(&self, text: &mut String, access: &Access) {
        let name = access.operand.name();
        let _ = writeln!(
            text,
            "let {name}_at = dims.{name}.w + at_row * dims.{name}.y + feature * dims.{name}.z;"
        );
        if access.unit == Unit::One {
            for i in 1..self.width {
                let _ = writeln!(text, "let {name}_{i} = {name}_at + min({i}u, count - 1u) * dims.{name}.z;");
            }
        }
    }

    /// A blade of an operand.
    fn load(&self, text: &mut String, access: &Access, blade: usize) {
        let name = access.operand.name();
        let load = |at: String| format!("load_{name}({at} + {blade}u * dims.{name}.x)");
        let first = load(format!("{name}_at"));
        let value = match access.unit {
            Unit::One if self.width > 1 => {
                let others = (1..self.width).map(|i| load(format!("{name}_{i}")));
                format!("lanes({})", std::iter::once(first).chain(others).collect::<Vec<_>>().join(", "))
            }
            _ => first,
        };
        // A gradient that is nobody's adds nothing to the weights'.
        let _ = match access.operand {
            Operand::G => writeln!(text, "let g{blade} = select(lanes(0.0), {value}, is_mine);"),
            _ => writeln!(text, "let {name}{blade} = {value};"),
        };
    }

    /// What is stored of a row.
    fn results(&self) -> String {
        let mut text = String::new();
        for (i, name) in self.kept().iter().enumerate() {
            let _ = writeln!(text, "let {name} = kept[u * KEPT + {i}u];");
        }
        if self.problem.step == RowStep::Sums {
            text.push_str("if u == 0u && row < dims.rows && part == 0u {\n");
            for i in 0..self.problem.sums() {
                let _ =
                    writeln!(text, "    sums[({i}u * dims.rows + row) * dims.blocks + of_row] = total[{i}];");
            }
            text.push_str("}\n");
        } else {
            for (place, &g) in self.grades.iter().enumerate() {
                let epsilon = self.problem.product.norm.epsilon();
                let _ = writeln!(
                    text,
                    "let r{g} = 1.0 / sqrt(total[{place}] / f32(dims.features) + {epsilon:e});"
                );
            }
        }
        if self.has(Operand::C).is_some() {
            text.push_str("let c_at = row * dims.features + feature;\n");
        }
        match self.problem.function {
            RowFunction::Steerable | RowFunction::Normalize => {
                if self.has(Operand::C).is_some() {
                    let divided = |k: usize| match self.grade_of(k) {
                        Some(_) if self.problem.step == RowStep::Sums => format!("o{k}"),
                        Some(at) => format!("o{k} * r{}", self.grades[at]),
                        None => format!("o{k}"),
                    };
                    let values: Vec<String> = (0..self.blades()).map(divided).collect();
                    self.store(&mut text, Operand::C, &values);
                }
            }
            _ if self.problem.step == RowStep::Sums => {}
            RowFunction::NormalizeBackward => {
                let values = self.norm_backward(&mut text);
                self.store(&mut text, Operand::C, &values);
            }
            RowFunction::SteerableBackward => self.backward(&mut text),
        }
        text
    }

    /// The gradients of a product.
    fn backward(&self, text: &mut String) {
        let Some(products) = &self.products else { return };
        for (k, value) in self.norm_backward(text).iter().enumerate() {
            let value = if self.grades.is_empty() {
                value.clone()
            } else {
                format!("select(lanes(0.0), {value}, is_mine)")
            };
            let _ = writeln!(text, "let h{k} = {value};");
        }
        let [x, y] = self.gated();
        self.weights(text);
        if self.problem.is_gated() {
            self.gated_blades(text);
            self.of_scalars(text, "gate_slope", ["x_slope", "y_slope"]);
        }
        for (path, sum) in products.of_w(x, y, "h").iter().enumerate() {
            let _ = writeln!(text, "let gw{path} = sums_w[u * PATHS + {path}u];");
            let _ = writeln!(text, "sums_w[u * PATHS + {path}u] = {sum};");
        }
        let sides = [(Operand::C, "x", products.of_x("h", y)), (Operand::D, "y", products.of_y("h", x))];
        for (to, name, gradients) in sides {
            for (k, gradient) in gradients.iter().enumerate() {
                let _ = writeln!(text, "let g{name}{k} = {gradient};");
            }
            let values = self.gate_backward(text, name);
            self.store(text, to, &values);
        }
    }

    /// The blades of a result.
    fn store(&self, text: &mut String, operand: Operand, values: &[String]) {
        let Some(access) = self.has(operand) else { return };
        let name = operand.name();
        text.push_str("if is_mine {\n");
        for (k, value) in values.iter().enumerate() {
            let at = format!("c_at + {k}u * dims.plane");
            if access.unit != Unit::One || self.width == 1 {
                let _ = writeln!(text, "    save_{name}({at}, {value});");
                continue;
            }
            let _ = writeln!(text, "    let {name}_{k} = {value};");
            for i in 0..self.width {
                let guard = if i == 0 { String::new() } else { format!("if count > {i}u ") };
                let component = part(self.width, i);
                let _ = writeln!(text, "    {guard}{{ save_{name}({at} + {i}u, {name}_{k}{component}); }}");
            }
        }
        text.push_str("}\n");
    }

    /// The sums of weight gradients, of the rows that this lane had.
    fn end(&self) -> String {
        let mut text = String::new();
        let (Some(products), Some(_)) = (&self.products, self.has(Operand::Slab)) else { return text };
        let _ = writeln!(
            text,
            "if unit < dims.units {{\n    let slab_at = ((strip * ROWS + slot) * dims.features + feature) * {}u;",
            products.paths
        );
        for i in 0..self.width {
            let _ = writeln!(text, "    if count > {i}u {{");
            for path in 0..products.paths {
                let at = i as usize * products.paths + path;
                let _ = writeln!(
                    text,
                    "        slab[slab_at + {at}u] = sums_w[u * PATHS + {path}u]{};",
                    part(self.width, i)
                );
            }
            text.push_str("    }\n");
        }
        text.push_str("}\n");
        text
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
