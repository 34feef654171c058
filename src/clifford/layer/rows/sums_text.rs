//! The text of the first half of a row: loads, the product, and what a lane adds to its sums.

use super::operands::{Accessed, Operand};
use super::text::Writer;
use crate::kernel::Width;
use std::fmt::Write;

impl Writer<'_> {
    /// The body of `row_sums`.
    pub(super) fn sums(&self) -> String {
        let mut text = String::new();
        self.loads(&mut text);
        self.product(&mut text);
        self.own(&mut text);
        let kept = self.kept();
        if kept.is_empty() {
            return text + "return RowState();\n";
        }
        text.push_str("var kept: RowState;\n");
        for name in kept {
            let _ = writeln!(text, "kept.{name} = {name};");
        }
        text + "return kept;\n"
    }

    /// Every blade that is read, and the gates.
    fn loads(&self, text: &mut String) {
        let read = [Operand::X, Operand::Y, Operand::G].map(|operand| self.has(operand));
        let read: Vec<&Accessed> = read.into_iter().flatten().collect();
        read.iter().for_each(|access| self.place(text, access));
        // The scalars first: gates take long, and need nothing else.
        if self.problem.is_gated() {
            read[..2].iter().for_each(|access| self.load(text, access, self.scalar()));
            self.gates(text);
        }
        for (i, access) in read.iter().enumerate() {
            let is_there = |k: &usize| i < 2 && self.problem.is_gated() && *k == self.scalar();
            (0..self.blades()).filter(|k| !is_there(k)).for_each(|k| self.load(text, access, k));
        }
    }

    /// What is normalised: the product, or X itself. Without a norm the gradients need no product.
    fn product(&self, text: &mut String) {
        let Some(products) = &self.products else {
            text.push_str("// What is normalised.\n");
            for k in &self.names {
                let _ = writeln!(text, "let o_{k} = x_{k};");
            }
            return;
        };
        if self.problem.function.is_backward() && !self.problem.is_normalised() {
            return;
        }
        self.gated_blades(text);
        text.push_str("// The product.\n");
        let [x, y] = self.gated();
        for (k, o) in self.names.iter().zip(products.forward(x, y)) {
            let _ = writeln!(text, "let o_{k} = {o};");
        }
    }

    /// Where an operand's features lie at the first blade.
    fn place(&self, text: &mut String, access: &Accessed) {
        let name = access.operand.name();
        let _ = writeln!(
            text,
            "let {name}_at = dims.{name}.w + row * dims.{name}.y + unit.feature * dims.{name}.z;"
        );
        if access.width == Width::One {
            for i in 1..self.width {
                let _ = writeln!(
                    text,
                    "let {name}_at{i} = {name}_at + min({i}u, unit.count - 1u) * dims.{name}.z;"
                );
            }
        }
    }

    /// A blade of an operand.
    fn load(&self, text: &mut String, access: &Accessed, k: usize) {
        let (name, blade) = (access.operand.name(), &self.names[k]);
        let load = |at: String| format!("load_{name}({at} + {k}u * dims.{name}.x)");
        let first = load(format!("{name}_at"));
        let value = match access.width {
            Width::One if self.width > 1 => {
                let others = (1..self.width).map(|i| load(format!("{name}_at{i}")));
                format!("lanes({})", std::iter::once(first).chain(others).collect::<Vec<_>>().join(", "))
            }
            _ => first,
        };
        // A gradient that is nobody's adds nothing to the weights'.
        let _ = match access.operand {
            Operand::G => writeln!(text, "let g_{blade} = select(lanes(0.0), {value}, is_mine);"),
            _ => writeln!(text, "let {name}_{blade} = {value};"),
        };
    }
}
