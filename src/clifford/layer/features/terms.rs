//! Writes the shader code of functions with parameters for each feature, from the algebra's table of squares.

use super::problem::{FeatureFunction, Pass};
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::signs::grade;
use crate::kernel::wgsl::{
    Block, Callee, Expression, FunctionDefinition, Member, Module, StructDefinition, Sum, index, integer,
    name, number,
};

/// The smooth norm of a square, in `clifford/per_feature.wgsl`.
pub(super) const NORM_OF: Callee = Callee::new("norm_of", 7);
/// Its derivative, up to a factor for each blade.
pub(super) const NORM_SLOPE: Callee = Callee::new("norm_slope", 3);

/// The sigmoids of four numbers, in `common/math.wgsl`. The caller uses `used` of them.
pub(super) fn sigmoid_of(used: usize) -> Callee {
    Callee::new("sigmoid_of", 29 * used)
}

/// The code of a function, and its arithmetic operations.
pub(super) struct FunctionCode {
    /// The code of the slot `features_terms`, or `mean_terms` for functions with a row mean.
    pub(super) module: Module,
    /// Operations for each feature of a row.
    pub(super) row_flops: usize,
    /// Operations for each feature of a strip of rows.
    pub(super) strip_flops: usize,
}

/// Writes the code of a function or of its gradients.
pub(super) fn terms(function: FeatureFunction, pass: Pass, blades: &Blades) -> FunctionCode {
    match function {
        FeatureFunction::LayerNorm => layer_norm(pass, blades),
        FeatureFunction::Normalization | FeatureFunction::Silu => by_grade(function, pass, blades),
    }
}

/// The code of layer norm.
fn layer_norm(pass: Pass, blades: &Blades) -> FunctionCode {
    let writer = || FunctionWriter::new(pass, blades);
    let sums = FunctionDefinition {
        comment: "The contribution of a feature to the sums of its row.",
        name: "feature_sums",
        parameters: vec![("row", "u32"), ("feature", "u32")],
        result: Some("vec2<f32>"),
        body: writer().feature_sums(),
    };
    let plane = [("row", "u32"), ("feature", "u32"), ("plane", "u32")];
    let results = FunctionDefinition {
        comment: "Stores the results of a feature, from the mean of its row.",
        name: "feature_results",
        parameters: plane.into_iter().chain([("mean", "f32"), ("total", "vec2<f32>")]).collect(),
        result: None,
        body: writer().feature_results(),
    };
    let module = Module { structures: Vec::new(), functions: vec![sums, results] };
    FunctionCode { row_flops: module.flops(), strip_flops: 0, module }
}

/// The code of a function that treats each grade separately.
fn by_grade(function: FeatureFunction, pass: Pass, blades: &Blades) -> FunctionCode {
    let writer = || FunctionWriter::new(pass, blades);
    let (body, members) = writer().parameters_of(function);
    let parameters =
        StructDefinition { comment: "The parameters of a feature, by grade.", name: "Parameters", members };
    let loads = FunctionDefinition {
        comment: "Loads the parameters of a feature.",
        name: "parameters_of",
        parameters: vec![("feature", "u32")],
        result: Some("Parameters"),
        body,
    };
    let sums = ("sums", "ptr<function, array<f32, SUMS>>");
    let plane = [("row", "u32"), ("feature", "u32"), ("plane", "u32")];
    let results = FunctionDefinition {
        comment: "Stores the results of a feature of a row.",
        name: "row_results",
        parameters: plane.into_iter().chain([("p", "Parameters"), sums]).collect(),
        result: None,
        body: writer().row_results(function),
    };
    let stores = FunctionDefinition {
        comment: "Stores the gradients of the parameters, summed over a strip of rows.",
        name: "store_sums",
        parameters: vec![("unit", "u32"), sums],
        result: None,
        body: writer().store_sums(function),
    };
    let (row_flops, strip_flops) = (results.body.flops(), loads.body.flops() + stores.body.flops());
    let module = Module { structures: vec![parameters], functions: vec![loads, results, stores] };
    FunctionCode { module, row_flops, strip_flops }
}

/// Writes the statements of one function. In the code, `x_e12` and `g_e12` are coefficients of blades of x and of the
/// gradient; names of values of a grade end in its number.
struct FunctionWriter<'a> {
    blades: &'a Blades,
    pass: Pass,
    code: Block,
}

/// The value of grade `g` of a kind.
fn of_grade(kind: &str, g: usize) -> Expression {
    name(format!("{kind}{g}"))
}

/// The parameter of grade `g` of a feature.
fn parameter(kind: &str, g: usize) -> Expression {
    name("p").member(format!("{kind}{g}"))
}

/// A sum over the rows of a strip.
fn strip_sum(i: usize) -> Expression {
    name("sums").dereference().element(integer(i))
}

impl<'a> FunctionWriter<'a> {
    fn new(pass: Pass, blades: &'a Blades) -> Self {
        Self { blades, pass, code: Block::default() }
    }

    fn square(&self, k: usize) -> i8 {
        self.blades.signature().square(self.blades.masks()[k])
    }

    fn grade(&self, k: usize) -> usize {
        grade(self.blades.masks()[k])
    }

    /// The name of a blade.
    fn name(&self, k: usize) -> String {
        self.blades.signature().name(self.blades.masks()[k])
    }

    /// The coefficient of a blade of x or g.
    fn blade(&self, operand: &str, k: usize) -> Expression {
        name(format!("{operand}_{}", self.name(k)))
    }

    fn grades(&self) -> usize {
        self.blades.signature().dimension() + 1
    }

    fn is_backward(&self) -> bool {
        self.pass == Pass::Backward
    }

    /// Loads the blades of x, and in a backward pass of g.
    fn loads(&mut self) {
        let operands = if self.is_backward() { &["x", "g"][..] } else { &["x"] };
        for &operand in operands {
            let place = |member: &'static str| index("dims").member(operand).member(member);
            let first = place("w") + index("row") * place("y") + index("feature") * place("z");
            let first = self.code.define(format!("at_{operand}"), first);
            for k in 0..self.blades.len() {
                let at = &first + integer(k) * place("x");
                let value = Callee::without_flops(format!("load_{operand}")).call([at]);
                self.code.define(format!("{operand}_{}", self.name(k)), value);
            }
        }
    }

    /// Defines `q`, which is $\langle \tilde x x \rangle_{0}$ of some blades, and in a backward pass `along`, the
    /// product of x and g over them.
    fn invariants(&mut self, suffix: &str, includes: impl Fn(&Self, usize) -> bool) {
        let (mut q, mut along) = (Sum::default(), Sum::default());
        for k in (0..self.blades.len()).filter(|&k| includes(self, k)) {
            let x = self.blade("x", k);
            q.push(self.square(k), &x * &x);
            along.push(1, self.blade("g", k) * x);
        }
        self.code.define(format!("q{suffix}"), q.or(number(0.0)));
        if self.is_backward() {
            self.code.define(format!("along{suffix}"), along.or(number(0.0)));
        }
    }

    /// Stores the result of a blade: `factor` times x, or in a backward pass `factor` times g minus `less` times the
    /// blade's square.
    fn store(&mut self, k: usize, factor: Expression, less: Expression) {
        let value = match (self.is_backward(), self.square(k)) {
            (false, _) => factor * self.blade("x", k),
            (true, 0) => factor * self.blade("g", k),
            (true, 1) => factor * self.blade("g", k) - less,
            (true, _) => factor * self.blade("g", k) + less,
        };
        let at = index("at_c") + integer(k) * index("plane");
        self.code.call(Callee::without_flops("save_c").call([at, value]));
        self.code.remark(self.name(k));
    }

    /// The gain of layer norm.
    fn a() -> Expression {
        let place = |member: &'static str| index("dims").member("a").member(member);
        Callee::without_flops("load_a").call([place("z") + index("feature") * place("x")])
    }

    /// Defines the index of a feature in a plane of results.
    fn place(&mut self) -> Expression {
        self.code.define("at_c", index("row") * index("dims").member("features") + index("feature"))
    }

    /// The statements of `feature_sums`.
    fn feature_sums(mut self) -> Block {
        self.loads();
        self.invariants("", |_, _| true);
        let along = if self.is_backward() { Self::a() * name("along") } else { number(0.0) };
        self.code.returns(Callee::without_flops("vec2<f32>").call([NORM_OF.call([name("q")]), along]));
        self.code
    }

    /// The statements of `feature_results`.
    fn feature_results(mut self) -> Block {
        self.loads();
        let at = self.place();
        let mean = || name("mean");
        let factor = self.code.define("factor", Self::a() / mean());
        if self.is_backward() {
            self.invariants("", |_, _| true);
            let features = Callee::without_flops("f32").call([index("dims").member("features")]);
            let common = name("total").member("y") / mean() / mean() / features;
            let common = self.code.define("common_factor", common);
            let slope = NORM_SLOPE.call([name("q"), NORM_OF.call([name("q")])]);
            self.code.define("less", common * slope);
            self.code.assign(name("d").element(at), name("along") / mean());
            self.code.remark("the gradient of a");
        }
        for k in 0..self.blades.len() {
            self.store(k, factor.clone(), name("less") * self.blade("x", k));
        }
        self.code
    }

    /// Defines the sigmoid of one argument for each grade, four at a time. Their names are `sigmoid` and the grade.
    fn sigmoids(&mut self, sigmoid: &str, argument: impl Fn(usize) -> Expression) {
        for first in (0..self.grades()).step_by(4) {
            let last = self.grades() - 1;
            let four = (first..first + 4).map(|g| argument(g.min(last)));
            let four = Callee::without_flops("vec4<f32>").call(four);
            let value = sigmoid_of(self.grades().min(first + 4) - first).call([four]);
            let four = self.code.define(format!("{sigmoid}_from{first}"), value);
            for (g, part) in (first..self.grades()).zip(["x", "y", "z", "w"]) {
                self.code.define(format!("{sigmoid}{g}"), four.clone().member(part));
            }
        }
    }

    /// The statements of `parameters_of`, and the members of the struct that it returns. For a normalization these are
    /// the sigmoids of a, and in a backward pass also of -a.
    fn parameters_of(mut self, function: FeatureFunction) -> (Block, Vec<Member>) {
        for parameter in ["a", "b"].into_iter().take(function.parameters()) {
            let place = |member: &'static str| index("dims").member(parameter).member(member);
            let first = place("z") + index("feature") * place("x");
            let first = self.code.define(format!("at_{parameter}"), first);
            for g in 0..self.grades() {
                let at = &first + integer(g) * place("y");
                let value = Callee::without_flops(format!("load_{parameter}")).call([at]);
                self.code.define(format!("{parameter}{g}"), value);
            }
        }
        let kinds = match (function, self.pass) {
            (FeatureFunction::Normalization, Pass::Forward) => {
                &[("s", "the sigmoids of a, from grade 0 on")][..]
            }
            (FeatureFunction::Normalization, Pass::Backward) => {
                &[("s", "the sigmoids of a, from grade 0 on"), ("t", "the sigmoids of -a")]
            }
            _ => &[("a", "a, from grade 0 on"), ("b", "b, from grade 0 on")],
        };
        if function == FeatureFunction::Normalization {
            self.sigmoids("s", |g| of_grade("a", g));
            if self.is_backward() {
                self.sigmoids("t", |g| -of_grade("a", g));
            }
        }
        let mut members = Vec::new();
        for (kind, comment) in kinds {
            for g in 0..self.grades() {
                let comment = if g == 0 { *comment } else { "" }.into();
                members.push(Member { name: format!("{kind}{g}"), of_type: "f32", comment });
            }
        }
        let values = members.iter().map(|member| name(&member.name));
        self.code.returns(Callee::without_flops("Parameters").call(values));
        (self.code, members)
    }

    /// The statements of `row_results`.
    fn row_results(mut self, function: FeatureFunction) -> Block {
        self.loads();
        self.place();
        for g in 0..self.grades() {
            self.invariants(&g.to_string(), |own, k| own.grade(k) == g);
        }
        match function {
            FeatureFunction::Silu => self.silu(),
            _ => self.normalization(),
        }
        for k in 0..self.blades.len() {
            let g = self.grade(k);
            // The argument of `silu` for grade 0 is the scalar part, whose derivative is 1. Squares have the derivative
            // 2 x.
            let is_linear = g == 0 && function == FeatureFunction::Silu;
            let less = of_grade("less", g);
            let less = if is_linear { less } else { less * self.blade("x", k) };
            self.store(k, of_grade("factor", g), less);
        }
        self.code
    }

    /// x / d with d = s (n - 1) + 1 + 1e-6, s the sigmoid of a and t the sigmoid of -a. The gradient of x is
    /// g / d - (g, x) s n' / d^2, the gradient of a is -(g, x) (n - 1) s t / d^2.
    fn normalization(&mut self) {
        for g in 0..self.grades() {
            let (s, q) = (parameter("s", g), of_grade("q", g));
            self.code.comment(format!("Grade {g}."));
            let n = self.code.define(format!("n{g}"), NORM_OF.call([&q]));
            let beyond = || &n - number(1.0);
            let factor = number(1.0) / (&s * beyond() + number(1.000_001));
            let factor = self.code.define(format!("factor{g}"), factor);
            if self.is_backward() {
                let common = of_grade("along", g) * &factor * &factor * s;
                let common = self.code.define(format!("common_factor{g}"), common);
                self.code.define(format!("less{g}"), &common * NORM_SLOPE.call([q, n.clone()]));
                self.code.decrease(strip_sum(g), common * parameter("t", g) * beyond());
            }
        }
    }

    /// x s with s the sigmoid of u = a v + b and t the sigmoid of -u. The gradient of x is g s + (g, x) s t a v', the
    /// gradient of a is (g, x) s t v, the gradient of b is (g, x) s t.
    fn silu(&mut self) {
        let scalar = self.blade("x", self.blades.position(0).unwrap_or(0));
        for g in 0..self.grades() {
            let v = if g == 0 { scalar.clone() } else { of_grade("q", g) };
            let v = self.code.define(format!("v{g}"), v);
            self.code.define(format!("u{g}"), parameter("a", g) * v + parameter("b", g));
        }
        self.sigmoids("factor", |g| of_grade("u", g));
        if self.is_backward() {
            self.sigmoids("t", |g| -of_grade("u", g));
            for g in 0..self.grades() {
                self.code.comment(format!("Grade {g}."));
                let common = of_grade("along", g) * of_grade("factor", g) * of_grade("t", g);
                let common = self.code.define(format!("common_factor{g}"), common);
                let slope = number(if g == 0 { -1.0 } else { -2.0 });
                self.code.define(format!("less{g}"), slope * parameter("a", g) * &common);
                self.code.increase(strip_sum(g), &common * of_grade("v", g));
                self.code.increase(strip_sum(self.grades() + g), common);
            }
        }
    }

    /// The statements of `store_sums`.
    fn store_sums(mut self, function: FeatureFunction) -> Block {
        let sums = if self.is_backward() { function.parameters() * self.grades() } else { 0 };
        for i in 0..sums {
            let at = index("unit") * integer(sums) + integer(i);
            self.code.assign(name("d").element(at), strip_sum(i));
        }
        self.code
    }
}
