//! The text of the second half of a row: what is stored of it, by its sums.

use super::operands::Operand;
use super::problem::{RowFunction, RowStep};
use super::text::{Writer, part};
use crate::kernel::Width;
use std::fmt::Write;

impl Writer<'_> {
    /// The body of `row_results`.
    pub(super) fn results(&self) -> String {
        let mut text = String::new();
        let is_left = self.problem.step == RowStep::Sums;
        if is_left && self.problem.function.is_backward() {
            return "return strip;\n".to_owned();
        }
        for name in self.kept() {
            let _ = writeln!(text, "let {name} = kept.{name};");
        }
        if !is_left {
            self.factors(&mut text);
        }
        text.push_str("let c_at = row * dims.features + unit.feature;\n");
        match self.problem.function {
            RowFunction::Steerable | RowFunction::Normalize => {
                let divided = |(k, blade): (usize, &String)| match self.grade_of(k) {
                    Some(at) if !is_left => format!("o_{blade} * r{}", self.grades[at]),
                    _ => format!("o_{blade}"),
                };
                let values: Vec<String> = self.names.iter().enumerate().map(divided).collect();
                self.store(&mut text, Operand::C, &values);
            }
            RowFunction::NormalizeBackward => {
                let values = self.norm_backward(&mut text);
                self.store(&mut text, Operand::C, &values);
            }
            RowFunction::SteerableBackward => {
                self.backward(&mut text);
                return text + "return next;\n";
            }
        }
        text + "return strip;\n"
    }

    /// What each grade is multiplied by.
    fn factors(&self, text: &mut String) {
        for (place, &g) in self.grades.iter().enumerate() {
            let epsilon = self.problem.product.norm.epsilon();
            let _ = writeln!(
                text,
                "let r{g} = 1.0 / sqrt((*total)[{place}] / f32(dims.features) + {epsilon:e}); // of grade {g}"
            );
        }
    }

    /// The gradients of a product.
    fn backward(&self, text: &mut String) {
        let Some(products) = &self.products else { return };
        text.push_str("// The gradient of the product.\n");
        for (k, value) in self.names.iter().zip(self.norm_backward(text)) {
            let value =
                if self.grades.is_empty() { value } else { format!("select(lanes(0.0), {value}, is_mine)") };
            let _ = writeln!(text, "let h_{k} = {value};");
        }
        let [x, y] = self.gated();
        self.gated_blades(text);
        if self.problem.is_gated() {
            self.of_scalars(text, "gate_slope", ["x_slope", "y_slope"]);
        }
        text.push_str("// Those of the weights.\nvar next = strip;\n");
        for (path, sum) in products.of_w(x, y, "h").iter().enumerate() {
            let _ = writeln!(text, "next.gw{path} = {sum};");
        }
        let sides = [(Operand::C, "x", products.of_x("h", y)), (Operand::D, "y", products.of_y("h", x))];
        for (to, name, gradients) in sides {
            let _ = writeln!(text, "// That of {name}.");
            for (k, gradient) in self.names.iter().zip(gradients) {
                let _ = writeln!(text, "let g{name}_{k} = {gradient};");
            }
            let values = self.gate_backward(text, name);
            self.store(text, to, &values);
        }
    }

    /// Stores the blades of a result.
    fn store(&self, text: &mut String, operand: Operand, values: &[String]) {
        let Some(access) = self.has(operand) else { return };
        let name = operand.name();
        text.push_str("if is_mine {\n");
        for (k, (blade, value)) in self.names.iter().zip(values).enumerate() {
            let at = format!("c_at + {k}u * dims.plane");
            if access.width != Width::One || self.width == 1 {
                let _ = writeln!(text, "    save_{name}({at}, {value}); // {blade}");
                continue;
            }
            let _ = writeln!(text, "    let {name}_{blade} = {value};");
            for i in 0..self.width {
                let guard = if i == 0 { String::new() } else { format!("if unit.count > {i}u ") };
                let component = part(self.width, i);
                let _ =
                    writeln!(text, "    {guard}{{ save_{name}({at} + {i}u, {name}_{blade}{component}); }}");
            }
        }
        text.push_str("}\n");
    }
}
