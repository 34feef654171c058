//! The text of the first half of a row: loads, the product, and what a lane adds to its sums.

use super::operands::{Accessed, Operand};
use super::text::Writer;
use crate::clifford::generate::formula::lanes;
use crate::kernel::Width;
use crate::kernel::write::{Block, Callee, Expression, index, integer, name, select};

impl Writer<'_> {
    /// The body of `row_sums`.
    pub(super) fn sums(&self) -> Block {
        let mut body = Block::default();
        self.loads(&mut body);
        self.product(&mut body);
        self.own(&mut body);
        let kept = self.kept();
        if kept.is_empty() {
            body.returns(Callee::free("RowState").call::<Expression>([]));
            return body;
        }
        let state = body.zero("kept", "RowState");
        for value in kept {
            body.assign(state.clone().member(value.clone()), name(value));
        }
        body.returns(state);
        body
    }

    /// Every blade that is read, and the gates.
    fn loads(&self, to: &mut Block) {
        let read = [Operand::X, Operand::Y, Operand::G].map(|operand| self.has(operand));
        let read: Vec<(&Accessed, Vec<Expression>)> =
            read.into_iter().flatten().map(|access| (access, self.places(to, access))).collect();
        // The scalars first: gates take long, and need nothing else.
        if self.problem.is_gated() {
            read[..2].iter().for_each(|(access, places)| self.load(to, access, places, self.scalar()));
            self.gates(to);
        }
        for (i, (access, places)) in read.iter().enumerate() {
            let is_there = |k: &usize| i < 2 && self.problem.is_gated() && *k == self.scalar();
            (0..self.blades()).filter(|k| !is_there(k)).for_each(|k| self.load(to, access, places, k));
        }
    }

    /// What is normalised: the product, or X itself. Without a norm the gradients need no product.
    fn product(&self, to: &mut Block) {
        let Some(products) = &self.products else {
            to.comment("What is normalised.");
            for (k, blade) in self.names.iter().enumerate() {
                to.define(format!("o_{blade}"), self.blade("x", k));
            }
            return;
        };
        if self.problem.function.is_backward() && !self.problem.is_normalised() {
            return;
        }
        self.gated_blades(to);
        to.comment("The product.");
        let [x, y] = self.gated();
        for (blade, o) in self.names.iter().zip(products.forward(x, y)) {
            to.define(format!("o_{blade}"), o);
        }
    }

    /// Where an operand's features lie at the first blade: what is loaded one by one has a place for each.
    fn places(&self, to: &mut Block, access: &Accessed) -> Vec<Expression> {
        let operand = access.operand.name();
        let place = |member: &'static str| index("dims").member(operand).member(member);
        let row = place("w") + index("row") * place("y");
        let first = row + index("unit").member("feature") * place("z");
        match access.width {
            Width::One => self.of_features(to, operand, first, &place("z")),
            _ => vec![to.define(format!("{operand}_at"), first)],
        }
    }

    /// A blade of an operand.
    fn load(&self, to: &mut Block, access: &Accessed, places: &[Expression], k: usize) {
        let operand = access.operand.name();
        let step = integer(k) * index("dims").member(operand).member("x");
        let load = |at: &Expression| Callee::free(format!("load_{operand}")).call([at + &step]);
        let value = match places {
            [first] => load(first),
            places => Callee::free("lanes").call(places.iter().map(load)),
        };
        let value = match access.operand {
            // A gradient that is nobody's adds nothing to the weights'.
            Operand::G => select(lanes(0.0), value, name("is_mine")),
            _ => value,
        };
        to.define(format!("{operand}_{}", self.names[k]), value);
    }
}
