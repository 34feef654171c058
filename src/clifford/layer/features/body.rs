//! The functions that stand in the slots of functions with parameters for each feature, made from the algebra's table of
//! squares.

use super::problem::{FeatureFunction, Pass};
use crate::clifford::layer::calls::{NORM_OF, NORM_SLOPE, sigmoid_of};
use crate::clifford::{Blades, grade};
use crate::kernel::write::{
    Block, Callee, Definition, Expression, Member, Module, Structure, Sum, index, integer, name, number,
};

/// What is written of a function, and the arithmetic operations of it.
pub(super) struct Terms {
    /// The text of `features_terms`, or of `mean_terms` for what goes by rows.
    pub(super) module: Module,
    /// Of each feature of a row.
    pub(super) of_row: usize,
    /// Of each feature of a strip of rows.
    pub(super) of_strip: usize,
}

pub(super) fn terms(of: FeatureFunction, pass: Pass, blades: &Blades) -> Terms {
    match of {
        FeatureFunction::LayerNorm => layer_norm(pass, blades),
        FeatureFunction::Normalization | FeatureFunction::Silu => by_grade(of, pass, blades),
    }
}

/// The functions of layer norm.
fn layer_norm(pass: Pass, blades: &Blades) -> Terms {
    let writer = || Writer::new(pass, blades);
    let sums = Definition {
        comment: "What is summed over a row.",
        name: "feature_sums",
        parameters: vec![("row", "u32"), ("feature", "u32")],
        result: Some("vec2<f32>"),
        body: writer().feature_sums(),
    };
    let plane = [("row", "u32"), ("feature", "u32"), ("plane", "u32")];
    let results = Definition {
        comment: "What becomes of a feature, by the mean of its row.",
        name: "feature_results",
        parameters: plane.into_iter().chain([("mean", "f32"), ("total", "vec2<f32>")]).collect(),
        result: None,
        body: writer().feature_results(),
    };
    let module = Module { structures: Vec::new(), functions: vec![sums, results] };
    Terms { of_row: module.flops(), of_strip: 0, module }
}

/// The functions of what is done grade by grade.
fn by_grade(of: FeatureFunction, pass: Pass, blades: &Blades) -> Terms {
    let writer = || Writer::new(pass, blades);
    let (body, members) = writer().parameters_of(of);
    let parameters =
        Structure { comment: "The parameters of a feature, by grade.", name: "Parameters", members };
    let loads = Definition {
        comment: "Loads them.",
        name: "parameters_of",
        parameters: vec![("feature", "u32")],
        result: Some("Parameters"),
        body,
    };
    let sums = ("sums", "ptr<function, array<f32, SUMS>>");
    let plane = [("row", "u32"), ("feature", "u32"), ("plane", "u32")];
    let results = Definition {
        comment: "What becomes of a feature of a row.",
        name: "row_results",
        parameters: plane.into_iter().chain([("p", "Parameters"), sums]).collect(),
        result: None,
        body: writer().row_results(of),
    };
    let stores = Definition {
        comment: "What the rows of a strip hand back to its parameters.",
        name: "store_sums",
        parameters: vec![("unit", "u32"), sums],
        result: None,
        body: writer().store_sums(of),
    };
    let (of_row, of_strip) = (results.body.flops(), loads.body.flops() + stores.body.flops());
    let module = Module { structures: vec![parameters], functions: vec![loads, results, stores] };
    Terms { module, of_row, of_strip }
}

/// Statements of one function, one by one. `x_e12`, `g_e12` and so on are the blades' coefficients; what belongs to a grade
/// has its number.
struct Writer<'a> {
    blades: &'a Blades,
    pass: Pass,
    body: Block,
}

/// What belongs to a grade.
fn of_grade(of: &str, g: usize) -> Expression {
    name(format!("{of}{g}"))
}

/// A parameter of a feature, of a grade.
fn parameter(of: &str, g: usize) -> Expression {
    name("p").member(format!("{of}{g}"))
}

/// A sum over the rows of a strip.
fn strip_sum(i: usize) -> Expression {
    name("sums").pointed().element(integer(i))
}

impl<'a> Writer<'a> {
    fn new(pass: Pass, blades: &'a Blades) -> Self {
        Self { blades, pass, body: Block::default() }
    }

    fn square(&self, k: usize) -> i8 {
        self.blades.signature().square(self.blades.masks()[k])
    }

    fn grade(&self, k: usize) -> usize {
        grade(self.blades.masks()[k])
    }

    /// What a blade is called.
    fn name(&self, k: usize) -> String {
        self.blades.signature().name(self.blades.masks()[k])
    }

    /// A blade's coefficient.
    fn blade(&self, of: &str, k: usize) -> Expression {
        name(format!("{of}_{}", self.name(k)))
    }

    fn grades(&self) -> usize {
        self.blades.signature().dimension() + 1
    }

    fn is_backward(&self) -> bool {
        self.pass == Pass::Backward
    }

    /// Loads the operand, and the gradient.
    fn loads(&mut self) {
        let operands = if self.is_backward() { &["x", "g"][..] } else { &["x"] };
        for &operand in operands {
            let place = |member: &'static str| index("dims").member(operand).member(member);
            let first = place("w") + index("row") * place("y") + index("feature") * place("z");
            let first = self.body.define(format!("at_{operand}"), first);
            for k in 0..self.blades.len() {
                let at = &first + integer(k) * place("x");
                let value = Callee::free(format!("load_{operand}")).call([at]);
                self.body.define(format!("{operand}_{}", self.name(k)), value);
            }
        }
    }

    /// $\langle \tilde x x \rangle_{0}$ of some blades, and their product with the gradient.
    fn invariants(&mut self, suffix: &str, of: impl Fn(&Self, usize) -> bool) {
        let (mut q, mut along) = (Sum::default(), Sum::default());
        for k in (0..self.blades.len()).filter(|&k| of(self, k)) {
            let x = self.blade("x", k);
            q.push(self.square(k), &x * &x);
            along.push(1, self.blade("g", k) * x);
        }
        self.body.define(format!("q{suffix}"), q.or(number(0.0)));
        if self.is_backward() {
            self.body.define(format!("along{suffix}"), along.or(number(0.0)));
        }
    }

    /// Stores a blade's result: `factor` times what came in, and of gradients, less `less` times the blade's square.
    fn store(&mut self, k: usize, factor: Expression, less: Expression) {
        let value = match (self.is_backward(), self.square(k)) {
            (false, _) => factor * self.blade("x", k),
            (true, 0) => factor * self.blade("g", k),
            (true, 1) => factor * self.blade("g", k) - less,
            (true, _) => factor * self.blade("g", k) + less,
        };
        let at = index("at_c") + integer(k) * index("plane");
        self.body.call(Callee::free("save_c").call([at, value]));
        self.body.remark(self.name(k));
    }

    /// The parameter of layer norm.
    fn a() -> Expression {
        let place = |member: &'static str| index("dims").member("a").member(member);
        Callee::free("load_a").call([place("z") + index("feature") * place("x")])
    }

    /// The place of a feature in a plane of results.
    fn place(&mut self) -> Expression {
        self.body.define("at_c", index("row") * index("dims").member("features") + index("feature"))
    }

    /// The body of `feature_sums`.
    fn feature_sums(mut self) -> Block {
        self.loads();
        self.invariants("", |_, _| true);
        let along = if self.is_backward() { Self::a() * name("along") } else { number(0.0) };
        self.body.returns(Callee::free("vec2<f32>").call([NORM_OF.call([name("q")]), along]));
        self.body
    }

    /// The body of `feature_results`.
    fn feature_results(mut self) -> Block {
        self.loads();
        let at = self.place();
        let mean = || name("mean");
        let factor = self.body.define("factor", Self::a() / mean());
        if self.is_backward() {
            self.invariants("", |_, _| true);
            let features = Callee::free("f32").call([index("dims").member("features")]);
            let back = name("total").member("y") / mean() / mean() / features;
            let back = self.body.define("back", back);
            let slope = NORM_SLOPE.call([name("q"), NORM_OF.call([name("q")])]);
            self.body.define("less", back * slope);
            self.body.assign(name("d").element(at), name("along") / mean());
            self.body.remark("of a");
        }
        for k in 0..self.blades.len() {
            self.store(k, factor.clone(), name("less") * self.blade("x", k));
        }
        self.body
    }

    /// Sigmoids of a number of each grade, four at once, as `sigmoid` with the grade.
    fn sigmoids(&mut self, sigmoid: &str, of: impl Fn(usize) -> Expression) {
        for first in (0..self.grades()).step_by(4) {
            let last = self.grades() - 1;
            let four = (first..first + 4).map(|g| of(g.min(last)));
            let four = Callee::free("vec4<f32>").call(four);
            let value = sigmoid_of(self.grades().min(first + 4) - first).call([four]);
            let four = self.body.define(format!("{sigmoid}_from{first}"), value);
            for (g, part) in (first..self.grades()).zip(["x", "y", "z", "w"]) {
                self.body.define(format!("{sigmoid}{g}"), four.clone().member(part));
            }
        }
    }

    /// The body of `parameters_of`; and the members of what it returns: of a normalization, the sigmoids of a and, of
    /// gradients, of -a.
    fn parameters_of(mut self, of: FeatureFunction) -> (Block, Vec<Member>) {
        for parameter in ["a", "b"].into_iter().take(of.parameters()) {
            let place = |member: &'static str| index("dims").member(parameter).member(member);
            let first = place("z") + index("feature") * place("x");
            let first = self.body.define(format!("at_{parameter}"), first);
            for g in 0..self.grades() {
                let at = &first + integer(g) * place("y");
                let value = Callee::free(format!("load_{parameter}")).call([at]);
                self.body.define(format!("{parameter}{g}"), value);
            }
        }
        let kept = match (of, self.pass) {
            (FeatureFunction::Normalization, Pass::Forward) => {
                &[("s", "the sigmoid of a, of grade 0 and so on")][..]
            }
            (FeatureFunction::Normalization, Pass::Backward) => {
                &[("s", "the sigmoid of a, of grade 0 and so on"), ("t", "and of -a")]
            }
            _ => &[("a", "of grade 0 and so on"), ("b", "likewise")],
        };
        if of == FeatureFunction::Normalization {
            self.sigmoids("s", |g| of_grade("a", g));
            if self.is_backward() {
                self.sigmoids("t", |g| -of_grade("a", g));
            }
        }
        let mut members = Vec::new();
        for (of, comment) in kept {
            for g in 0..self.grades() {
                let comment = if g == 0 { *comment } else { "" }.into();
                members.push(Member { name: format!("{of}{g}"), of_type: "f32", comment });
            }
        }
        let values = members.iter().map(|member| name(&member.name));
        self.body.returns(Callee::free("Parameters").call(values));
        (self.body, members)
    }

    /// The body of `row_results`.
    fn row_results(mut self, of: FeatureFunction) -> Block {
        self.loads();
        self.place();
        for g in 0..self.grades() {
            self.invariants(&g.to_string(), |own, k| own.grade(k) == g);
        }
        match of {
            FeatureFunction::Silu => self.silu(),
            _ => self.normalization(),
        }
        for k in 0..self.blades.len() {
            let g = self.grade(k);
            // The scalar part is a silu's own argument, of slope 1; squares have the slope 2 x.
            let is_linear = g == 0 && of == FeatureFunction::Silu;
            let less = of_grade("less", g);
            let less = if is_linear { less } else { less * self.blade("x", k) };
            self.store(k, of_grade("factor", g), less);
        }
        self.body
    }

    /// x over d = s (n - 1) + 1 + 1e-6 with s the sigmoid of a and t that of -a: g / d - (g, x) s n' / d^2 and
    /// -(g, x) (n - 1) s t / d^2.
    fn normalization(&mut self) {
        for g in 0..self.grades() {
            let (s, q) = (parameter("s", g), of_grade("q", g));
            self.body.comment(format!("Of grade {g}."));
            let n = self.body.define(format!("n{g}"), NORM_OF.call([&q]));
            let beyond = || &n - number(1.0);
            let factor = number(1.0) / (&s * beyond() + number(1.000_001));
            let factor = self.body.define(format!("factor{g}"), factor);
            if self.is_backward() {
                let back = of_grade("along", g) * &factor * &factor * s;
                let back = self.body.define(format!("back{g}"), back);
                self.body.define(format!("less{g}"), &back * NORM_SLOPE.call([q, n.clone()]));
                self.body.decrease(strip_sum(g), back * parameter("t", g) * beyond());
            }
        }
    }

    /// x times s, the sigmoid of u = a v + b, with t that of -u: g s + (g, x) s t a v' and (g, x) s t v, (g, x) s t.
    fn silu(&mut self) {
        let scalar = self.blade("x", self.blades.position(0).unwrap_or(0));
        for g in 0..self.grades() {
            let v = if g == 0 { scalar.clone() } else { of_grade("q", g) };
            let v = self.body.define(format!("v{g}"), v);
            self.body.define(format!("u{g}"), parameter("a", g) * v + parameter("b", g));
        }
        self.sigmoids("factor", |g| of_grade("u", g));
        if self.is_backward() {
            self.sigmoids("t", |g| -of_grade("u", g));
            for g in 0..self.grades() {
                self.body.comment(format!("Of grade {g}."));
                let back = of_grade("along", g) * of_grade("factor", g) * of_grade("t", g);
                let back = self.body.define(format!("back{g}"), back);
                let slope = number(if g == 0 { -1.0 } else { -2.0 });
                self.body.define(format!("less{g}"), slope * parameter("a", g) * &back);
                self.body.increase(strip_sum(g), &back * of_grade("v", g));
                self.body.increase(strip_sum(self.grades() + g), back);
            }
        }
    }

    /// The body of `store_sums`.
    fn store_sums(mut self, of: FeatureFunction) -> Block {
        let sums = if self.is_backward() { of.parameters() * self.grades() } else { 0 };
        for i in 0..sums {
            let at = index("unit") * integer(sums) + integer(i);
            self.body.assign(name("d").element(at), strip_sum(i));
        }
        self.body
    }
}
