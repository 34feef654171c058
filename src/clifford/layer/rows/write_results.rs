//! Writes the function `row_results`: it stores the results of a row, from its sums.

use super::expressions::{count, factor, mean, vector};
use super::operands::RowOperand;
use super::problem::{RowFunction, RowStep};
use super::writer::RowWriter;
use crate::clifford::layer::gate::Gate;
use crate::kernel::AccessWidth;
use crate::kernel::wgsl::{Block, Callee, Expression, SQRT, index, integer, name, number, select};

impl RowWriter<'_> {
    /// The body of `row_results`.
    pub(super) fn results(&self) -> Block {
        let mut code = Block::default();
        let is_sums = self.problem.step == RowStep::Sums;
        if is_sums && self.problem.function.is_backward() {
            code.returns(name("strip"));
            return code;
        }
        for value in self.kept() {
            code.define(value.clone(), name("kept").member(value));
        }
        if !is_sums {
            self.factors(&mut code);
        }
        let first = index("row") * index("dims").member("features") + index("unit").member("feature");
        code.define("c_at", first);
        let mut state = name("strip");
        match self.problem.function {
            RowFunction::Steerable | RowFunction::Normalize => {
                let divided = |k| match self.grade_of(k) {
                    Some(at) if !is_sums => self.blade("o", k) * factor(self.grades[at]),
                    _ => self.blade("o", k),
                };
                self.store(&mut code, RowOperand::C, (0..self.blades()).map(divided).collect());
            }
            RowFunction::NormalizeBackward => {
                let values = self.norm_backward(&mut code);
                self.store(&mut code, RowOperand::C, values);
            }
            RowFunction::SteerableBackward => state = self.backward(&mut code),
        }
        code.returns(state);
        code
    }

    /// Defines the factor of each grade, one over its norm.
    fn factors(&self, to: &mut Block) {
        #[expect(clippy::cast_possible_truncation, reason = "the shader reads the number as f32")]
        let epsilon = self.problem.product.norm.epsilon() as f32;
        for (place, &g) in self.grades.iter().enumerate() {
            let root = SQRT.call([mean(place) + number(epsilon)]);
            to.define(format!("r{g}"), number(1.0) / root);
            to.remark(format!("of grade {g}"));
        }
    }

    /// The gradients of a product. Returns the next state of the strip.
    fn backward(&self, to: &mut Block) -> Expression {
        let Some(product) = &self.product else { return name("strip") };
        to.comment("The gradient of the product.");
        for (blade, value) in self.names.iter().zip(self.norm_backward(to)) {
            let is_masked = !self.grades.is_empty();
            let value = if is_masked { select(vector(0.0), value, name("is_mine")) } else { value };
            to.define(format!("h_{blade}"), value);
        }
        if self.problem.is_gated() {
            self.of_scalars(to, "gate_slopes", Gate::slope_of, ["x_slope", "y_slope"]);
        }
        to.comment("The gradients of the weights.");
        let both = self.both_gates(to);
        let h = self.gated(to, "h", &both, "hxy");
        let next = to.variable("next", name("strip"));
        for (path, sum) in product.weight_gradient("x", "y", h).into_iter().enumerate() {
            to.assign(next.clone().member(format!("gw{path}")), sum);
        }
        to.comment("The gradient of x.");
        let h = self.gated(to, "h", &name("y_gate"), "hy");
        self.operand_gradient(to, RowOperand::C, "x", product.x_gradient(h, "y"));
        to.comment("The gradient of y.");
        let h = self.gated(to, "h", &name("x_gate"), "hx");
        self.operand_gradient(to, RowOperand::D, "y", product.y_gradient(h, "x"));
        next
    }

    /// Stores the gradient of an operand, from the gradient of the gated operand.
    fn operand_gradient(
        &self,
        to: &mut Block,
        result: RowOperand,
        operand: &str,
        gradients: Vec<Expression>,
    ) {
        for (blade, gradient) in self.names.iter().zip(gradients) {
            to.define(format!("g{operand}_{blade}"), gradient);
        }
        let values = self.gate_backward(to, operand);
        self.store(to, result, values);
    }

    /// Stores the blades of a result.
    fn store(&self, to: &mut Block, operand: RowOperand, values: Vec<Expression>) {
        let Some(access) = self.has(operand) else { return };
        let save = Callee::without_flops(format!("save_{}", operand.name()));
        let mut stores = Block::default();
        for (k, (blade, value)) in self.names.iter().zip(values).enumerate() {
            let at = index("c_at") + integer(k) * index("dims").member("plane");
            if access.width != AccessWidth::One || self.width == 1 {
                stores.call(save.call([at, value]));
                stores.remark(blade);
                continue;
            }
            let value = stores.define(format!("{}_{blade}", operand.name()), value);
            for i in 0..self.width {
                let mut one = Block::default();
                one.call(save.call([&at + i, self.component(&value, i)]));
                match i {
                    0 => stores.append(&one),
                    _ => stores.branch(count().above(i), one),
                }
            }
        }
        to.branch(name("is_mine"), stores);
    }
}
