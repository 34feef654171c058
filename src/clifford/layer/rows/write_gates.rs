//! Writes the gates of a product's operands, and their backward pass.

use super::expressions::fused;
use super::writer::RowWriter;
use crate::clifford::layer::gate::Gate;
use crate::kernel::wgsl::{Block, Callee, Expression, fma, name, number};

impl RowWriter<'_> {
    pub(super) fn scalar(&self) -> usize {
        self.problem.blades.position(0).unwrap_or_default()
    }

    /// The gates of both operands.
    pub(super) fn gates(&self, to: &mut Block) {
        if self.problem.is_gated() {
            self.of_scalars(to, "gates", Gate::function_of, ["x_gate", "y_gate"]);
        }
    }

    /// Defines the multivector `result`: `of` times `gates`. Without gates it is `of` itself. Returns its name.
    ///
    /// A product is linear in its operands. So one of them is multiplied by all gates, and the others need no second
    /// copy in registers.
    pub(super) fn gated(
        &self,
        to: &mut Block,
        of: &'static str,
        gates: &Expression,
        result: &'static str,
    ) -> &'static str {
        if !self.problem.is_gated() {
            return of;
        }
        for (k, blade) in self.names.iter().enumerate() {
            to.define(format!("{result}_{blade}"), gates * self.blade(of, k));
        }
        result
    }

    /// The product of both operands' gates.
    pub(super) fn both_gates(&self, to: &mut Block) -> Expression {
        let both = name("x_gate") * name("y_gate");
        if self.problem.is_gated() { to.define("both_gates", both) } else { both }
    }

    /// Calls a function of the scalars of X and of Y. The function takes four numbers. With a vector width of 4 it is
    /// called for each operand; with less, one call, whose result is named `both`, computes both operands.
    pub(super) fn of_scalars(
        &self,
        to: &mut Block,
        both: &str,
        function: fn(Gate, usize) -> Callee,
        [x_result, y_result]: [&str; 2],
    ) {
        let [x, y] = ["x", "y"].map(|operand| self.blade(operand, self.scalar()));
        let gate = self.problem.product.gate;
        if self.width == 4 {
            for (of, scalars) in [(x_result, x), (y_result, y)] {
                to.define(of, function(gate, 1).call([scalars]));
            }
            return;
        }
        let (scalars, parts) = match self.width {
            1 => (vec![x, y, number(0.0), number(0.0)], ["x", "y"]),
            _ => (vec![x, y], ["xy", "zw"]),
        };
        let both =
            to.define(both, function(gate, 2).call([Callee::without_flops("vec4<f32>").call(scalars)]));
        for (of, part) in [x_result, y_result].into_iter().zip(parts) {
            to.define(of, both.clone().member(part));
        }
    }

    /// The gradient of the operand before its gate, blade by blade.
    pub(super) fn gate_backward(&self, to: &mut Block, operand: &str) -> Vec<Expression> {
        let gradient = |k| self.blade(&format!("g{operand}"), k);
        if !self.problem.is_gated() {
            return (0..self.blades()).map(gradient).collect();
        }
        let of = |what: &str| name(format!("{operand}_{what}"));
        let products = (0..self.blades()).map(|k| (1, self.blade(operand, k), gradient(k)));
        let Some(along) = fused(products) else { return Vec::new() };
        let along = to.define(format!("{operand}_along"), along);
        let before = |k| match k == self.scalar() {
            true => fma(of("slope"), along.clone(), of("gate") * gradient(k)),
            false => of("gate") * gradient(k),
        };
        (0..self.blades()).map(before).collect()
    }
}
