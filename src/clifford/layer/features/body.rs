//! The functions that stand in the slots of functions with parameters for each feature, made from the algebra's table of
//! squares.

use super::problem::{FeatureFunction, Pass};
use crate::clifford::body::push_term;
use crate::clifford::layer::wgsl::{Member, function, structure};
use crate::clifford::{Blades, grade};
use std::fmt::Write;

/// The text of `features_terms`, or of `mean_terms` for what goes by rows.
pub(super) fn terms(of: FeatureFunction, pass: Pass, blades: &Blades) -> String {
    match of {
        FeatureFunction::LayerNorm => layer_norm(pass, blades),
        FeatureFunction::Normalization | FeatureFunction::Silu => by_grade(of, pass, blades),
    }
}

/// The functions of layer norm.
fn layer_norm(pass: Pass, blades: &Blades) -> String {
    let writer = || Writer::new(pass, blades);
    let [mut sums, mut results] = [writer(), writer()];
    sums.feature_sums();
    results.feature_results();
    [
        function(
            "What is summed over a row.",
            "feature_sums(row: u32, feature: u32) -> vec2<f32>",
            &sums.text,
        ),
        function(
            "What becomes of a feature, by the mean of its row.",
            "feature_results(row: u32, feature: u32, plane: u32, mean: f32, total: vec2<f32>)",
            &results.text,
        ),
    ]
    .concat()
}

/// The functions of what is done grade by grade.
fn by_grade(of: FeatureFunction, pass: Pass, blades: &Blades) -> String {
    let writer = || Writer::new(pass, blades);
    let [mut loads, mut results, mut sums] = [writer(), writer(), writer()];
    let members = loads.parameters_of(of);
    results.row_results(of);
    sums.store_sums(of);
    [
        structure("The parameters of a feature, by grade.", "Parameters", &members),
        function("Loads them.", "parameters_of(feature: u32) -> Parameters", &loads.text),
        function(
            "What becomes of a feature of a row.",
            "row_results(row: u32, feature: u32, plane: u32, p: Parameters, sums: ptr<function, array<f32, SUMS>>)",
            &results.text,
        ),
        function(
            "What the rows of a strip hand back to its parameters.",
            "store_sums(unit: u32, sums: ptr<function, array<f32, SUMS>>)",
            &sums.text,
        ),
    ]
    .concat()
}

/// Statements of one function, one by one. `x_e12`, `g_e12` and so on are the blades' coefficients; what belongs to a grade
/// has its number.
struct Writer<'a> {
    blades: &'a Blades,
    pass: Pass,
    text: String,
}

impl<'a> Writer<'a> {
    fn new(pass: Pass, blades: &'a Blades) -> Self {
        Self { blades, pass, text: String::new() }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing into a String does not fail.
        let _ = writeln!(self.text, "{line}");
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

    fn grades(&self) -> usize {
        self.blades.signature().dimension() + 1
    }

    fn is_backward(&self) -> bool {
        self.pass == Pass::Backward
    }

    /// Loads the operand, and the gradient.
    fn loads(&mut self) {
        let names = if self.is_backward() { &["x", "g"][..] } else { &["x"] };
        for name in names {
            self.line(format_args!(
                "let at_{name} = dims.{name}.w + row * dims.{name}.y + feature * dims.{name}.z;"
            ));
            for k in 0..self.blades.len() {
                let blade = self.name(k);
                self.line(format_args!(
                    "let {name}_{blade} = load_{name}(at_{name} + {k}u * dims.{name}.x);"
                ));
            }
        }
    }

    /// $\langle \tilde x x \rangle_{0}$ of some blades, and their product with the gradient.
    fn invariants(&mut self, suffix: &str, of: impl Fn(&Self, usize) -> bool) {
        let (mut q, mut along) = (String::new(), String::new());
        for k in (0..self.blades.len()).filter(|&k| of(self, k)) {
            let blade = self.name(k);
            push_term(&mut q, self.square(k), &format!("x_{blade} * x_{blade}"));
            push_term(&mut along, 1, &format!("g_{blade} * x_{blade}"));
        }
        let q = if q.is_empty() { "0.0".to_owned() } else { q };
        self.line(format_args!("let q{suffix} = {q};"));
        if self.is_backward() {
            self.line(format_args!("let along{suffix} = {along};"));
        }
    }

    /// Stores a blade's result: `factor` times what came in, and of gradients, less `less` times the blade's square.
    fn store(&mut self, k: usize, factor: &str, less: &str) {
        let blade = self.name(k);
        let value = match (self.is_backward(), self.square(k)) {
            (false, _) => format!("{factor} * x_{blade}"),
            (true, 0) => format!("{factor} * g_{blade}"),
            (true, 1) => format!("{factor} * g_{blade} - {less}"),
            (true, _) => format!("{factor} * g_{blade} + {less}"),
        };
        self.line(format_args!("save_c(at_c + {k}u * plane, {value}); // {blade}"));
    }

    /// The body of `feature_sums`.
    fn feature_sums(&mut self) {
        self.loads();
        self.invariants("", |_, _| true);
        let along = if self.is_backward() { "load_a(dims.a.z + feature * dims.a.x) * along" } else { "0.0" };
        self.line(format_args!("return vec2<f32>(norm_of(q), {along});"));
    }

    /// The body of `feature_results`.
    fn feature_results(&mut self) {
        self.loads();
        self.line(format_args!("let at_c = row * dims.features + feature;"));
        self.line(format_args!("let factor = load_a(dims.a.z + feature * dims.a.x) / mean;"));
        if self.is_backward() {
            self.invariants("", |_, _| true);
            self.line(format_args!("let back = total.y / mean / mean / f32(dims.features);"));
            self.line(format_args!("let less = back * norm_slope(q, norm_of(q));"));
            self.line(format_args!("d[at_c] = along / mean; // of a"));
        }
        for k in 0..self.blades.len() {
            let less = format!("less * x_{}", self.name(k));
            self.store(k, "factor", &less);
        }
    }

    /// Sigmoids of every grade's `of`, four at once, as `name` with the grade.
    fn sigmoids(&mut self, name: &str, of: &str, sign: &str) {
        for first in (0..self.grades()).step_by(4) {
            let last = self.grades() - 1;
            let four: Vec<String> =
                (first..first + 4).map(|g| format!("{sign}{of}{}", g.min(last))).collect();
            self.line(format_args!("let {name}_from{first} = sigmoid_of(vec4<f32>({}));", four.join(", ")));
            for (g, part) in (first..self.grades()).zip(["x", "y", "z", "w"]) {
                self.line(format_args!("let {name}{g} = {name}_from{first}.{part};"));
            }
        }
    }

    /// The body of `parameters_of`; and the members of what it returns: of a normalization, the sigmoids of a and, of
    /// gradients, of -a.
    fn parameters_of(&mut self, of: FeatureFunction) -> Vec<Member> {
        for name in ["a", "b"].iter().take(of.parameters()) {
            self.line(format_args!("let at_{name} = dims.{name}.z + feature * dims.{name}.x;"));
            for g in 0..self.grades() {
                self.line(format_args!("let {name}{g} = load_{name}(at_{name} + {g}u * dims.{name}.y);"));
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
            for (&(name, _), sign) in kept.iter().zip(["", "-"]) {
                self.sigmoids(name, "a", sign);
            }
        }
        let mut members = Vec::new();
        for (name, comment) in kept {
            for g in 0..self.grades() {
                let comment = if g == 0 { *comment } else { "" }.to_owned();
                members.push(Member { name: format!("{name}{g}"), of_type: "f32", comment });
            }
        }
        let names: Vec<&str> = members.iter().map(|member| &member.name[..]).collect();
        self.line(format_args!("return Parameters({});", names.join(", ")));
        members
    }

    /// The body of `row_results`.
    fn row_results(&mut self, of: FeatureFunction) {
        self.loads();
        self.line(format_args!("let at_c = row * dims.features + feature;"));
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
            let less = if is_linear { "less0".to_owned() } else { format!("less{g} * x_{}", self.name(k)) };
            self.store(k, &format!("factor{g}"), &less);
        }
    }

    /// x over d = s (n - 1) + 1 + 1e-6 with s the sigmoid of a and t that of -a: g / d - (g, x) s n' / d^2 and
    /// -(g, x) (n - 1) s t / d^2.
    fn normalization(&mut self) {
        for g in 0..self.grades() {
            self.line(format_args!("// Of grade {g}."));
            self.line(format_args!("let n{g} = norm_of(q{g});"));
            self.line(format_args!("let factor{g} = 1.0 / (p.s{g} * (n{g} - 1.0) + 1.000001);"));
            if self.is_backward() {
                self.line(format_args!("let back{g} = along{g} * factor{g} * factor{g} * p.s{g};"));
                self.line(format_args!("let less{g} = back{g} * norm_slope(q{g}, n{g});"));
                self.line(format_args!("(*sums)[{g}] -= back{g} * p.t{g} * (n{g} - 1.0);"));
            }
        }
    }

    /// x times s, the sigmoid of u = a v + b, with t that of -u: g s + (g, x) s t a v' and (g, x) s t v, (g, x) s t.
    fn silu(&mut self) {
        let scalar = self.name(self.blades.position(0).unwrap_or(0));
        for g in 0..self.grades() {
            let v = if g == 0 { format!("x_{scalar}") } else { format!("q{g}") };
            self.line(format_args!("let v{g} = {v};"));
            self.line(format_args!("let u{g} = p.a{g} * v{g} + p.b{g};"));
        }
        self.sigmoids("factor", "u", "");
        if self.is_backward() {
            self.sigmoids("t", "u", "-");
            for g in 0..self.grades() {
                self.line(format_args!("// Of grade {g}."));
                self.line(format_args!("let back{g} = along{g} * factor{g} * t{g};"));
                let slope = if g == 0 { "-1.0" } else { "-2.0" };
                self.line(format_args!("let less{g} = {slope} * p.a{g} * back{g};"));
                self.line(format_args!("(*sums)[{g}] += back{g} * v{g};"));
                self.line(format_args!("(*sums)[{}] += back{g};", self.grades() + g));
            }
        }
    }

    /// The body of `store_sums`.
    fn store_sums(&mut self, of: FeatureFunction) {
        let sums = if self.is_backward() { of.parameters() * self.grades() } else { 0 };
        for i in 0..sums {
            self.line(format_args!("d[unit * {sums}u + {i}u] = (*sums)[{i}];"));
        }
    }
}
