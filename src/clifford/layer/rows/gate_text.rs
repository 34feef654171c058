//! The text of the gates in front of a product, and of what goes back through them.

use super::text::Writer;
use std::fmt::Write;

impl Writer<'_> {
    /// What gated operands are called.
    pub(super) fn gated(&self) -> [&'static str; 2] {
        if self.problem.is_gated() { ["xh", "yh"] } else { ["x", "y"] }
    }

    pub(super) fn scalar(&self) -> usize {
        self.problem.blades.position(0).unwrap_or_default()
    }

    /// The gates of both operands, two features of each at a time: functions are of four numbers.
    pub(super) fn gates(&self, text: &mut String) {
        if self.problem.is_gated() {
            self.of_scalars(text, "gate", ["x_gate", "y_gate"]);
        }
    }

    pub(super) fn gated_blades(&self, text: &mut String) {
        if !self.problem.is_gated() {
            return;
        }
        text.push_str("// x and y behind their gates.\n");
        for name in ["x", "y"] {
            for blade in &self.names {
                let _ = writeln!(text, "let {name}h_{blade} = {name}_gate * {name}_{blade};");
            }
        }
    }

    /// A function of the scalars of X and of Y.
    pub(super) fn of_scalars(&self, text: &mut String, function: &str, [of_x, of_y]: [&str; 2]) {
        let s = &self.names[self.scalar()];
        let _ = match self.width {
            1 => writeln!(
                text,
                "let {function}s = {function}(vec4<f32>(x_{s}, y_{s}, 0.0, 0.0));\nlet {of_x} = {function}s.x;\nlet {of_y} = {function}s.y;"
            ),
            2 => writeln!(
                text,
                "let {function}s = {function}(vec4<f32>(x_{s}, y_{s}));\nlet {of_x} = {function}s.xy;\nlet {of_y} = {function}s.zw;"
            ),
            _ => writeln!(text, "let {of_x} = {function}(x_{s});\nlet {of_y} = {function}(y_{s});"),
        };
    }

    /// The gradient in front of the gate, as expressions.
    pub(super) fn gate_backward(&self, text: &mut String, name: &str) -> Vec<String> {
        if !self.problem.is_gated() {
            return self.names.iter().map(|k| format!("g{name}_{k}")).collect();
        }
        let along = self.names.iter().fold(None, |sum: Option<String>, k| {
            Some(match sum {
                None => format!("{name}_{k} * g{name}_{k}"),
                Some(sum) => format!("fma({name}_{k}, g{name}_{k}, {sum})"),
            })
        });
        let _ = writeln!(text, "let {name}_along = {};", along.unwrap_or_default());
        let of = |(k, blade): (usize, &String)| match k == self.scalar() {
            true => format!("fma({name}_slope, {name}_along, {name}_gate * g{name}_{blade})"),
            false => format!("{name}_gate * g{name}_{blade}"),
        };
        self.names.iter().enumerate().map(of).collect()
    }
}
