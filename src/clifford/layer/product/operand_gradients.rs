//! The gradients of a fully connected product with respect to its operands: the problem, its plan of one step, the kernel and
//! its generated code.
//!
//! A matrix product first computes the gradient T of every path sum $P_{c,p}$: one matrix for each pair of a blade and
//! a path. The kernel multiplies T by the other operand's blades, term by term, sums the terms of each blade, and
//! applies the derivative of the gates.

use super::pairs::{Pair, pairs};
use crate::caps::Caps;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::path::Path;
use crate::clifford::layer::gate::Gate;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::kernel::wgsl::{
    Block, Callee, Expression, FunctionDefinition, Module, Sum, fma, index, integer, name, number,
};
use crate::kernel::{AccessWidth, Kernel, Needs, OperandAccess, StorageFormat, shader_dims};
use crate::layout::{DType, Layout, known};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Operand, Plan, Problem};
use crate::{Error, Result};
use std::ops::Range;

const OP: &str = "LayerProduct::connected";

/// Invocations of one workgroup.
const LANES: u32 = 64;

shader_dims! {
    /// The uniform of `shaders/clifford/operand_gradients.wgsl`, in elements.
    pub struct OperandGradientsDims {
        /// of T
        positions: u32,
        /// of a row
        features: u32,
        /// position in X, Y, U and V of the first position of T
        first: u32,
        /// positions of U and V
        plane: u32,
        x_offset: u32,
        /// strides of X, in elements
        x_blade: u32,
        x_row: u32,
        x_feature: u32,
        y_offset: u32,
        y_blade: u32,
        y_row: u32,
        y_feature: u32,
    }
}

/// The gradients of some rows of a fully connected product with respect to its operands, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperandGradientsProblem {
    product: LayerProduct,
    blades: Blades,
    /// X and Y, (blade, row, feature), relative to their windows.
    operands: [Layout; 2],
    dtype: DType,
    rows: Range<usize>,
}

impl OperandGradientsProblem {
    /// The gradients of `rows` rows from row `first` on. The operands are (blade, row, feature), both of one shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the operands have fewer rows; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub(in crate::clifford::layer::product) fn new(
        product: &LayerProduct,
        blades: &Blades,
        operands: &[Layout; 2],
        dtype: DType,
        [first, rows]: [usize; 2],
    ) -> Result<Self> {
        let all = operands[0].shape()[1];
        let end = first.checked_add(rows).filter(|end| *end <= all).ok_or_else(|| {
            Error::shapes(OP, "the rows must be those of the product", &[first, rows], &[all])
        })?;
        operands.iter().try_for_each(|of| of.check_dims(OP))?;
        let (product, blades, operands) = (*product, blades.clone(), *operands);
        Ok(Self { product, blades, operands, dtype, rows: first..end })
    }

    fn dims(&self) -> OperandGradientsDims {
        let [x, y] = &self.operands;
        let [_, all, features] = [0, 1, 2].map(|axis| known(x.shape()[axis]));
        let [first, rows] = [self.rows.start, self.rows.len()].map(known);
        OperandGradientsDims {
            positions: rows * features,
            features,
            first: first * features,
            plane: all * features,
            x_offset: x.offset_in_window(self.dtype),
            x_blade: known(x.step(0)),
            x_row: known(x.step(1)),
            x_feature: known(x.step(2)),
            y_offset: y.offset_in_window(self.dtype),
            y_blade: known(y.step(0)),
            y_row: known(y.step(1)),
            y_feature: known(y.step(2)),
        }
    }

    fn kernel(&self, description: String, terms: &Module, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let operand = OperandAccess::read(format, AccessWidth::One);
        let result = OperandAccess::write(format, AccessWidth::One);
        Kernel::new("clifford/operand_gradients")
            .dims::<OperandGradientsDims>(caps)
            .operand("x", operand)
            .operand("y", operand)
            .operand("u", result)
            .operand("v", result)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.product.gate.variant())
            .generated("operand_gradient_terms", description, terms.to_string())
    }
}

impl Problem for OperandGradientsProblem {
    /// One step. Operands: the gradients of X and Y; the gradients of the path sums (pair, row, feature), in f32; X and
    /// Y.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let (dims, dtype, [x, y]) = (self.dims(), self.dtype, self.operands);
        let LayerProduct { signature, gate, .. } = self.product;
        let pairs = pairs(&self.blades)?;
        let terms = terms(&self.product, &self.blades, &pairs);
        let description = format!("gradients of {signature}, {} matrices, {gate} gate", pairs.len());
        let writes = if dims.positions == dims.plane { Access::Write } else { Access::Update };
        let gradient = |name| Operand::read(name, dtype, x.dense()).accessed(writes);
        let sums = Layout::contiguous(OP, &[pairs.len(), dims.positions as usize])?;
        let mut draft = Draft::new(OP, &[], caps);
        let args = draft.operands(&[
            gradient("the gradient of X"),
            gradient("the gradient of Y"),
            Operand::read("the gradients of the path sums", DType::F32, sums),
            Operand::read("X", dtype, x),
            Operand::read("Y", dtype, y),
        ]);
        draft.step(NewStep {
            tile: format!("{LANES} invocations, {description}, {dtype}"),
            blocks: u64::from(dims.positions.div_ceil(LANES)),
            dims: Dims::of(&dims),
            flops: Flops::of_f32(terms.flops() as f64 * f64::from(dims.positions)),
            ..NewStep::of(self.kernel(description, &terms, caps), Needs::of(LANES, 0), &args)
        })?;
        Ok(draft.finish())
    }
}

/// The function `store_gradients` of the shader.
fn terms(product: &LayerProduct, blades: &Blades, pairs: &[Pair]) -> Module {
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
