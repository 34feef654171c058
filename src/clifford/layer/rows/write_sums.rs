//! Writes the function `row_sums`: it loads a unit, computes the product and adds to the lane's sums.

use super::expressions::vector;
use super::operands::{Accessed, RowOperand};
use super::writer::RowWriter;
use crate::kernel::AccessWidth;
use crate::kernel::wgsl::{Block, Callee, Expression, index, integer, name, select};

impl RowWriter<'_> {
    /// The body of `row_sums`.
    pub(super) fn sums(&self) -> Block {
        let mut code = Block::default();
        self.loads(&mut code);
        self.product(&mut code);
        self.lane_sums(&mut code);
        let kept = self.kept();
        if kept.is_empty() {
            code.returns(Callee::without_flops("RowState").call::<Expression>([]));
            return code;
        }
        let state = code.zero("kept", "RowState");
        for value in kept {
            code.assign(state.clone().member(value.clone()), name(value));
        }
        code.returns(state);
        code
    }

    /// Loads every blade of the operands, and computes the gates.
    fn loads(&self, to: &mut Block) {
        let read = [RowOperand::X, RowOperand::Y, RowOperand::G].map(|operand| self.has(operand));
        let read: Vec<(&Accessed, Vec<Expression>)> =
            read.into_iter().flatten().map(|access| (access, self.places(to, access))).collect();
        // The scalars come first, because the gates need only them and take long.
        if self.problem.is_gated() {
            read[..2].iter().for_each(|(access, places)| self.load(to, access, places, self.scalar()));
            self.gates(to);
        }
        for (i, (access, places)) in read.iter().enumerate() {
            let is_there = |k: &usize| i < 2 && self.problem.is_gated() && *k == self.scalar();
            (0..self.blades()).filter(|k| !is_there(k)).for_each(|k| self.load(to, access, places, k));
        }
    }

    /// Defines o, which is normalised: the product, or X itself. A backward pass without a norm needs no product.
    fn product(&self, to: &mut Block) {
        let Some(product) = &self.product else {
            to.comment("The operand of the norm.");
            for (k, blade) in self.names.iter().enumerate() {
                to.define(format!("o_{blade}"), self.blade("x", k));
            }
            return;
        };
        if self.problem.function.is_backward() && !self.problem.is_normalised() {
            return;
        }
        let both = self.both_gates(to);
        let x = self.gated(to, "x", &both, "xh");
        to.comment("The product.");
        for (blade, o) in self.names.iter().zip(product.forward(x, "y")) {
            to.define(format!("o_{blade}"), o);
        }
    }

    /// Defines the index of the first blade: one for each feature if they are loaded one by one, otherwise one for the
    /// unit.
    fn places(&self, to: &mut Block, access: &Accessed) -> Vec<Expression> {
        let operand = access.operand.name();
        let place = |member: &'static str| index("dims").member(operand).member(member);
        let row = place("w") + index("row") * place("y");
        let first = row + index("unit").member("feature") * place("z");
        match access.width {
            AccessWidth::One => self.feature_indices(to, operand, first, &place("z")),
            _ => vec![to.define(format!("{operand}_at"), first)],
        }
    }

    /// Loads a blade of an operand.
    fn load(&self, to: &mut Block, access: &Accessed, places: &[Expression], k: usize) {
        let operand = access.operand.name();
        let step = integer(k) * index("dims").member(operand).member("x");
        let load = |at: &Expression| Callee::without_flops(format!("load_{operand}")).call([at + &step]);
        let value = match places {
            [first] => load(first),
            places => Callee::without_flops("lanes").call(places.iter().map(load)),
        };
        let value = match access.operand {
            // Outside of the rows and features, the gradient is 0, so that it adds nothing to the weights' gradients.
            RowOperand::G => select(vector(0.0), value, name("is_mine")),
            _ => value,
        };
        to.define(format!("{operand}_{}", self.names[k]), value);
    }
}
