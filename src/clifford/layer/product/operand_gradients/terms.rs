//! Writes the shader code of both operands' gradients from the algebra's table of signs.

use super::super::pairs::Pair;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::path::Path;
use crate::clifford::layer::gate::Gate;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::kernel::wgsl::{
    Block, Callee, Expression, FunctionDefinition, Module, Sum, fma, index, integer, name, number,
};

/// The function `store_gradients` of the shader.
pub(super) fn terms(product: &LayerProduct, blades: &Blades, pairs: &[Pair]) -> Module {
    let writer = GradientWriter::of(product, blades);
    let mut code = Block::default();
    ["x", "y"].into_iter().for_each(|operand| writer.loads(&mut code, operand));
    writer.terms(&mut code, pairs);
    writer.gates(&mut code);
    let places = ["at", "at_x", "at_y", "at_u"].map(|place| (place, "u32"));
    Module::from(FunctionDefinition {
        comment: "The gradients of both operands at one position.",
        name: "store_gradients",
        parameters: places.to_vec(),
        result: None,
        body: code,
    })
}

/// Writes the statements of the function. In the code, `x_e12` is a blade of X, and `dx_e12` is the gradient with
/// respect to that blade of the gated X.
struct GradientWriter {
    gate: Gate,
    /// The position of the scalar among the blades.
    scalar: usize,
    /// The names of the blades, in their order.
    names: Vec<String>,
    paths: Vec<Path>,
}

impl GradientWriter {
    fn of(product: &LayerProduct, blades: &Blades) -> Self {
        let signature = product.signature;
        let names = blades.masks().iter().map(|&blade| signature.name(blade)).collect();
        let scalar = blades.position(0).unwrap_or_default();
        Self { gate: product.gate, scalar, names, paths: signature.paths() }
    }

    /// A blade of the multivector with this name.
    fn blade(&self, of: &str, k: usize) -> Expression {
        name(format!("{of}_{}", self.names[k]))
    }

    /// Loads an operand, and declares the sums of its gradient.
    fn loads(&self, to: &mut Block, operand: &str) {
        for (k, blade) in self.names.iter().enumerate() {
            let step = index("dims").member(format!("{operand}_blade"));
            let at = index(format!("at_{operand}")) + integer(k) * step;
            to.define(
                format!("{operand}_{blade}"),
                Callee::without_flops(format!("load_{operand}")).call([at]),
            );
            to.variable(format!("d{operand}_{blade}"), number(0.0));
        }
    }

    /// Reads each path sum's gradient once, and adds its terms to both operands' gradients.
    fn terms(&self, to: &mut Block, pairs: &[Pair]) {
        for (i, pair) in pairs.iter().enumerate() {
            let at = index("at") + integer(i) * index("dims").member("positions");
            let t = to.define(format!("t{i}"), name("t").element(at));
            let (into, path) = (&self.names[pair.blade as usize], self.paths[pair.path as usize]);
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

    /// The gradients with respect to the operands before their gates, and the stores.
    fn gates(&self, to: &mut Block) {
        let (gate, scalar) = (self.gate, self.scalar);
        to.comment("Multiply by both gates, and add the gate's own derivative to the scalar.");
        let scalars = || {
            let [x, y] = ["x", "y"].map(|operand| self.blade(operand, scalar));
            Callee::without_flops("vec4<f32>").call([x, y, number(0.0), number(0.0)])
        };
        let gates = to.define("gates", gate.function_of(2).call([scalars()]));
        let slopes = to.define("slopes", gate.slope_of(2).call([scalars()]));
        for (operand, result, other) in [("x", "u", "y"), ("y", "v", "x")] {
            let gradient = format!("d{operand}");
            let along =
                Sum::of((0..self.names.len()).map(|k| self.blade(operand, k) * self.blade(&gradient, k)));
            let slope = slopes.clone().member(operand) * gates.clone().member(other);
            let along = to.define(format!("along_{operand}"), slope * Expression::Sum(along));
            let both = gates.clone().member("x") * gates.clone().member("y");
            let both = to.define(format!("gate_{operand}"), both);
            for (k, blade) in self.names.iter().enumerate() {
                let value = &both * self.blade(&gradient, k);
                let value = if k == scalar { value + &along } else { value };
                let at = index("at_u") + integer(k) * index("dims").member("plane");
                to.call(Callee::without_flops(format!("save_{result}")).call([at, value]));
                to.remark(blade);
            }
        }
    }
}
