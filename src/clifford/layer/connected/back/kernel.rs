//! The kernel that makes both operands' gradients: what fills its parameters and slots. Its code is made from the algebra's
//! table of signs.

use super::problem::{ConnectedBackDims, ConnectedBackProblem};
use crate::caps::Caps;
use crate::clifford::layer::connected::matrices::Pair;
use crate::clifford::layer::connected::problem::ConnectedProblem;
use crate::kernel::write::{
    Block, Callee, Definition, Expression, Module, Sum, fma, index, integer, name, number,
};
use crate::kernel::{Access, Kernel, Memory, Needs, Width};

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl ConnectedBackProblem {
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let operand = Access::read(memory, Width::One);
        let result = Access::write(memory, Width::One);
        Kernel::new("clifford/connected_back")
            .dims(caps, size_of::<ConnectedBackDims>())
            .operand("x", operand)
            .operand("y", operand)
            .operand("u", result)
            .operand("v", result)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate)
            .generated("connected_terms", self.what.clone(), self.text.clone())
    }

    /// The limits that a workgroup needs: bindings for both gradients, what came back, and both operands.
    pub(super) fn needs() -> Needs {
        Needs { bindings: 5, invocations: LANES, workgroup_bytes: 0 }
    }
}

/// What a position hands back.
pub(super) fn text(product: &ConnectedProblem, pairs: &[Pair]) -> Module {
    let writer = Writer::of(product);
    let mut body = Block::default();
    ["x", "y"].into_iter().for_each(|operand| writer.loads(&mut body, operand));
    writer.terms(&mut body, pairs);
    writer.gates(&mut body);
    let places = ["at", "at_x", "at_y", "at_u"].map(|place| (place, "u32"));
    Module::from(Definition {
        comment: "What a position hands back to both operands.",
        name: "hand_back",
        parameters: places.to_vec(),
        result: None,
        body,
    })
}

/// Statements of the function, part by part. `x_e12` is a blade of X, `dx_e12` the gradient of X behind its gate.
struct Writer<'a> {
    product: &'a ConnectedProblem,
    /// What the blades are called, in their order.
    names: Vec<String>,
}

impl<'a> Writer<'a> {
    fn of(product: &'a ConnectedProblem) -> Self {
        let signature = product.product.signature;
        let names = product.blades.masks().iter().map(|&blade| signature.name(blade)).collect();
        Self { product, names }
    }

    /// A blade of the multivector of this name.
    fn blade(&self, of: &str, k: usize) -> Expression {
        name(format!("{of}_{}", self.names[k]))
    }

    /// Loads an operand, with sums for its gradient.
    fn loads(&self, to: &mut Block, operand: &str) {
        for (k, blade) in self.names.iter().enumerate() {
            let step = index("dims").member(format!("{operand}_blade"));
            let at = index(format!("at_{operand}")) + integer(k) * step;
            to.define(format!("{operand}_{blade}"), Callee::free(format!("load_{operand}")).call([at]));
            to.variable(format!("d{operand}_{blade}"), number(0.0));
        }
    }

    /// Each matrix is read once, and its terms are added to both gradients.
    fn terms(&self, to: &mut Block, pairs: &[Pair]) {
        let paths = self.product.product.signature.paths();
        for (i, pair) in pairs.iter().enumerate() {
            let at = index("at") + integer(i) * index("dims").member("positions");
            let t = to.define(format!("t{i}"), name("through").element(at));
            let (into, path) = (&self.names[pair.blade as usize], paths[pair.path as usize]);
            to.remark(format!("{into}, of grades {} and {}", path.left, path.right));
            for term in &pair.terms {
                let [a, b] = [term.x, term.y].map(usize::from);
                let signed = || if term.sign < 0 { -&t } else { t.clone() };
                let [dx, dy] = [self.blade("dx", a), self.blade("dy", b)];
                to.assign(&dx, fma(signed(), self.blade("y", b), dx.clone()));
                to.assign(&dy, fma(signed(), self.blade("x", a), dy.clone()));
            }
        }
    }

    /// Takes both gradients through the gates, and stores them.
    fn gates(&self, to: &mut Block) {
        let (gate, scalar) = (self.product.product.gate, self.product.scalar());
        to.comment("Both gradients lack the other operand's gate, and what their own hands to the scalar.");
        let scalars = || {
            let [x, y] = ["x", "y"].map(|operand| self.blade(operand, scalar));
            Callee::free("vec4<f32>").call([x, y, number(0.0), number(0.0)])
        };
        let gates = to.define("gates", gate.function_of(2).call([scalars()]));
        let slopes = to.define("slopes", gate.slope_of(2).call([scalars()]));
        for (operand, result, other) in [("x", "u", "y"), ("y", "v", "x")] {
            let of_d = format!("d{operand}");
            let along = Sum::of((0..self.names.len()).map(|k| self.blade(operand, k) * self.blade(&of_d, k)));
            let slope = slopes.clone().member(operand) * gates.clone().member(other);
            let along = to.define(format!("along_{operand}"), slope * Expression::Sum(along));
            let both = gates.clone().member("x") * gates.clone().member("y");
            let both = to.define(format!("gate_{operand}"), both);
            for (k, blade) in self.names.iter().enumerate() {
                let value = &both * self.blade(&of_d, k);
                let value = if k == scalar { value + &along } else { value };
                let at = index("at_u") + integer(k) * index("dims").member("plane");
                to.call(Callee::free(format!("save_{result}")).call([at, value]));
                to.remark(blade);
            }
        }
    }
}
