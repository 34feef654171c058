//! Writes the generated code of a function of rows, which fills the slots of `shaders/clifford/rows.wgsl`.

use super::expressions::count;
use super::operands::{Accessed, RowOperand, operands};
use super::problem::{RowFunction, RowProblem, RowStep};
use super::tile::RowTile;
use super::weighted_product::WeightedProduct;
use crate::Result;
use crate::caps::Caps;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::kernel::wgsl::{
    Block, Callee, Expression, FunctionDefinition, MIN, Member, Module, StructDefinition, index, integer,
    name,
};

/// The generated code of a function of rows, by slots.
pub(super) struct RowCode {
    pub(super) operands: String,
    pub(super) terms: String,
    /// Arithmetic operations per position, counted in the code for vector width 1. In wider code, features share some
    /// operations.
    pub(super) flops: usize,
}

/// Writes the functions of one kernel. Each file `write_*.rs` adds the statements of one part.
pub(super) struct RowWriter<'a> {
    pub(super) problem: &'a RowProblem,
    pub(super) width: u32,
    accesses: Vec<Accessed>,
    pub(super) product: Option<WeightedProduct>,
    /// The names of the blades, in their order.
    pub(super) names: Vec<String>,
    /// The grades that the norm divides.
    pub(super) grades: Vec<usize>,
}

/// Writes the code of a kernel.
pub(super) fn row_code(problem: &RowProblem, tile: &RowTile, caps: &Caps) -> Result<RowCode> {
    let writer = RowWriter::of(problem, tile, caps)?;
    let declarations = writer.accesses.iter().enumerate().map(|(i, access)| access.declaration(i));
    let terms = writer.terms();
    let flops = match tile.width {
        1 => terms.flops(),
        _ => RowWriter::of(problem, &RowTile { width: 1, ..*tile }, caps)?.terms().flops(),
    };
    Ok(RowCode { operands: declarations.collect(), terms: terms.to_string(), flops })
}

/// The type of the sums of a row, of one lane or of all lanes.
const SUMS: &str = "ptr<function, array<f32, SUMS>>";

impl<'a> RowWriter<'a> {
    fn of(problem: &'a RowProblem, tile: &RowTile, caps: &Caps) -> Result<Self> {
        let access = |operand| Accessed::of(problem, operand, tile, caps);
        let accesses = operands(problem).into_iter().map(access).collect();
        let product = if problem.function.is_product() { Some(WeightedProduct::new(problem)?) } else { None };
        let grades = if problem.is_normalised() { problem.grades() } else { Vec::new() };
        let names = problem.blades.masks().iter().map(|&blade| problem.signature().name(blade)).collect();
        Ok(Self { problem, width: tile.width, accesses, product, names, grades })
    }
}

impl RowWriter<'_> {
    pub(super) fn blades(&self) -> usize {
        self.names.len()
    }

    /// A blade of the multivector with this name.
    pub(super) fn blade(&self, of: &str, k: usize) -> Expression {
        name(format!("{of}_{}", self.names[k]))
    }

    pub(super) fn has(&self, operand: RowOperand) -> Option<&Accessed> {
        self.accesses.iter().find(|access| access.operand == operand)
    }

    /// The component of feature `i` in a vector.
    pub(super) fn component(&self, numbers: &Expression, i: u32) -> Expression {
        match self.width {
            1 => numbers.clone(),
            _ => numbers.clone().member(["x", "y", "z", "w"][i as usize]),
        }
    }

    /// Defines the index of each feature of a unit. Features past the end of a row get the index of the last feature.
    pub(super) fn feature_indices(
        &self,
        to: &mut Block,
        operand: &str,
        first: Expression,
        stride: &Expression,
    ) -> Vec<Expression> {
        let first = to.define(format!("{operand}_at"), first);
        let mut places = vec![first.clone()];
        for i in 1..self.width {
            let least = MIN.call([Expression::from(i), count() - 1u32]);
            places.push(to.define(format!("{operand}_at{i}"), &first + least * stride));
        }
        places
    }

    /// The structs and functions of the slot `row_terms`.
    fn terms(&self) -> Module {
        let structures = vec![
            StructDefinition {
                comment: "The state of a unit over all rows of a strip.",
                name: "StripState",
                members: self.strip_state(),
            },
            StructDefinition {
                comment: "The values of a unit that row_results needs from row_sums.",
                name: "RowState",
                members: self.row_state(),
            },
        ];
        let [unit, is_mine, strip] = [("unit", "Unit"), ("is_mine", "bool"), ("strip", "StripState")];
        let functions = vec![
            FunctionDefinition {
                comment: "Called before the first row.",
                name: "strip_begin",
                parameters: vec![unit],
                result: Some("StripState"),
                body: self.begin(),
            },
            FunctionDefinition {
                comment: "Loads a unit and adds its contribution to the sums of the row.",
                name: "row_sums",
                parameters: vec![("row", "u32"), unit, is_mine, strip, ("own", SUMS)],
                result: Some("RowState"),
                body: self.sums(),
            },
            FunctionDefinition {
                comment: "Stores the results of a unit, from the sums of the row.",
                name: "row_results",
                parameters: vec![("row", "u32"), unit, is_mine, strip, ("kept", "RowState"), ("total", SUMS)],
                result: Some("StripState"),
                body: self.results(),
            },
            FunctionDefinition {
                comment: "Called after the last row.",
                name: "strip_end",
                parameters: vec![("place", "u32"), unit, strip],
                result: None,
                body: self.end(),
            },
        ];
        Module { structures, functions }
    }

    /// The weights, and the sums of their gradients.
    fn strip_state(&self) -> Vec<Member> {
        let paths = if self.product.is_some() { self.problem.signature().paths() } else { Vec::new() };
        let weights = paths.iter().enumerate().map(|(i, path)| {
            let comment = format!("of grades {} and {} into {}", path.left, path.right, path.out);
            Member { name: format!("w{i}"), of_type: "lanes", comment: comment.into() }
        });
        let has_sums = self.has(RowOperand::Slab).is_some();
        let sums = (0..paths.len()).filter(|_| has_sums).map(|i| {
            let comment =
                if i == 0 { "the gradients of the weights, summed over the rows so far" } else { "" };
            Member { name: format!("gw{i}"), of_type: "lanes", comment: comment.into() }
        });
        weights.chain(sums).collect()
    }

    fn row_state(&self) -> Vec<Member> {
        let member = |name| Member { name, of_type: "lanes", comment: "".into() };
        self.kept().into_iter().map(member).collect()
    }

    /// Loads the weights.
    fn begin(&self) -> Block {
        let mut body = Block::default();
        let Some(product) = &self.product else {
            body.returns(Callee::without_flops("StripState").call::<Expression>([]));
            return body;
        };
        let w = |member: &'static str| index("dims").member("w").member(member);
        let first = w("z") + index("unit").member("feature") * w("y");
        let places = self.feature_indices(&mut body, "w", first, &w("y"));
        let strip = body.zero("strip", "StripState");
        for path in 0..product.paths {
            let load = |at: &Expression| Callee::without_flops("load_w").call([at + integer(path) * w("x")]);
            let weights = Callee::without_flops("lanes").call(places.iter().map(load));
            body.assign(strip.clone().member(format!("w{path}")), weights);
        }
        body.returns(strip);
        body
    }

    /// The names of the values that `row_results` needs from `row_sums`.
    pub(super) fn kept(&self) -> Vec<String> {
        let blades = |name: &str| self.names.iter().map(|k| format!("{name}_{k}")).collect::<Vec<_>>();
        let mut kept = Vec::new();
        let function = self.problem.function;
        if self.problem.step == RowStep::Sums && function.is_backward() {
            return kept;
        }
        if function == RowFunction::SteerableBackward {
            kept.extend(["x", "y"].into_iter().flat_map(blades));
            if self.problem.is_gated() {
                kept.extend(["x_gate".to_owned(), "y_gate".to_owned()]);
            }
        }
        if function.is_backward() {
            kept.extend(blades("g"));
        }
        if !function.is_backward() || self.problem.is_normalised() {
            kept.extend(blades("o"));
        }
        if function.is_backward() && self.problem.product.norm == GradeNorm::Invariant {
            kept.extend(self.grades.iter().map(|g| format!("square{g}")));
        }
        kept
    }

    /// Stores the gradients of the weights, summed over the rows of this lane.
    fn end(&self) -> Block {
        let mut body = Block::default();
        let (Some(product), Some(_)) = (&self.product, self.has(RowOperand::Slab)) else { return body };
        let mut stores = Block::default();
        let position = index("place") * index("dims").member("features") + index("unit").member("feature");
        let first = stores.define("slab_at", position * integer(product.paths));
        for i in 0..self.width {
            let mut of_feature = Block::default();
            for path in 0..product.paths {
                let at = &first + integer(i as usize * product.paths + path);
                let sum = name("strip").member(format!("gw{path}"));
                of_feature.assign(name("slab").element(at), self.component(&sum, i));
            }
            stores.branch(count().above(i), of_feature);
        }
        body.branch(index("unit").member("index").below(index("dims").member("units")), stores);
        body
    }
}
