//! The straight-line code of functions that have parameters for each feature, made from the algebra's table of squares.

use super::problem::{FeatureFunction, Pass};
use crate::clifford::body::push_term;
use crate::clifford::{Blades, grade};
use std::fmt::Write;

/// The code of a function, as far as it depends on the algebra.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    /// What a feature adds to the sums of its row, where there are such.
    pub(super) sums: String,
    /// All of an invocation's rows; with such sums, one feature's results.
    pub(super) results: String,
}

impl Body {
    pub(super) fn of(function: FeatureFunction, pass: Pass, blades: &Blades) -> Self {
        let writer = Writer { blades, pass, text: String::new() };
        match function {
            FeatureFunction::LayerNorm => writer.layer_norm(),
            _ => writer.by_grade(function),
        }
    }
}

/// Statements, one by one. `x0`, `g0` and so on are the blades' coefficients; what belongs to a grade has its number.
struct Writer<'a> {
    blades: &'a Blades,
    pass: Pass,
    text: String,
}

impl Writer<'_> {
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
                self.line(format_args!("let {name}{k} = load_{name}(at_{name} + {k}u * dims.{name}.x);"));
            }
        }
    }

    /// $\langle \tilde x x \rangle_{0}$ of some blades, and their product with the gradient.
    fn invariants(&mut self, suffix: &str, of: impl Fn(&Self, usize) -> bool) {
        let (mut q, mut along) = (String::new(), String::new());
        for k in (0..self.blades.len()).filter(|&k| of(self, k)) {
            push_term(&mut q, self.square(k), &format!("x{k} * x{k}"));
            push_term(&mut along, 1, &format!("g{k} * x{k}"));
        }
        let q = if q.is_empty() { "0.0".to_owned() } else { q };
        self.line(format_args!("let q{suffix} = {q};"));
        if self.is_backward() {
            self.line(format_args!("let along{suffix} = {along};"));
        }
    }

    /// Stores a blade's result: `factor` times what came in, and of gradients, less `less` times the blade's square.
    fn store(&mut self, k: usize, factor: &str, less: &str) {
        let value = match (self.is_backward(), self.square(k)) {
            (false, _) => format!("{factor} * x{k}"),
            (true, 0) => format!("{factor} * g{k}"),
            (true, 1) => format!("{factor} * g{k} - {less}"),
            (true, _) => format!("{factor} * g{k} + {less}"),
        };
        self.line(format_args!("store_element(at_c + {k}u * plane, {value});"));
    }

    fn layer_norm(mut self) -> Body {
        let sums = {
            let mut sums = Writer { blades: self.blades, pass: self.pass, text: String::new() };
            sums.loads();
            sums.invariants("", |_, _| true);
            let along = if self.is_backward() { "load_a(at_a) * along" } else { "0.0" };
            sums.line(format_args!("sums += vec2<f32>(norm_of(q), {along});"));
            sums.text
        };
        self.loads();
        self.line(format_args!("let at_c = row * dims.features + feature;"));
        self.line(format_args!("let factor = load_a(at_a) / mean;"));
        if self.is_backward() {
            self.invariants("", |_, _| true);
            self.line(format_args!("let back = total.y / mean / mean / f32(dims.features);"));
            self.line(format_args!("let less = back * norm_slope(q, norm_of(q));"));
            self.line(format_args!("d[at_c] = along / mean;"));
        }
        for k in 0..self.blades.len() {
            self.store(k, "factor", &format!("less * x{k}"));
        }
        Body { sums, results: self.text }
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

    fn by_grade(mut self, function: FeatureFunction) -> Body {
        let grades = self.grades();
        for name in ["a", "b"].iter().take(function.parameters()) {
            for g in 0..grades {
                self.line(format_args!("let {name}{g} = load_{name}(at_{name} + {g}u * dims.{name}.y);"));
            }
        }
        if function == FeatureFunction::Normalization {
            self.sigmoids("s", "a", "");
            if self.is_backward() {
                self.sigmoids("t", "a", "-");
            }
        }
        let sums = function.parameters() * grades;
        if self.is_backward() {
            (0..sums).for_each(|i| self.line(format_args!("var sum{i} = 0.0;")));
        }
        self.line(format_args!("for (var row = first; row < end; row++) {{"));
        self.loads();
        self.line(format_args!("let at_c = row * dims.features + feature;"));
        for g in 0..grades {
            self.invariants(&g.to_string(), |own, k| own.grade(k) == g);
        }
        match function {
            FeatureFunction::Silu => self.silu(),
            _ => self.normalization(),
        }
        for k in 0..self.blades.len() {
            let g = self.grade(k);
            // The scalar part is a silu's own argument, of slope 1; squares have the slope 2 x.
            let is_linear = g == 0 && function == FeatureFunction::Silu;
            let less = if is_linear { "less0".to_owned() } else { format!("less{g} * x{k}") };
            self.store(k, &format!("factor{g}"), &less);
        }
        self.line(format_args!("}}"));
        if self.is_backward() {
            for i in 0..sums {
                self.line(format_args!("d[unit * {sums}u + {i}u] = sum{i};"));
            }
        }
        Body { sums: String::new(), results: self.text }
    }

    /// x over d = s (n - 1) + 1 + 1e-6 with s the sigmoid of a and t that of -a: g / d - (g, x) s n' / d^2 and
    /// -(g, x) (n - 1) s t / d^2.
    fn normalization(&mut self) {
        for g in 0..self.grades() {
            self.line(format_args!("let n{g} = norm_of(q{g});"));
            self.line(format_args!("let factor{g} = 1.0 / (s{g} * (n{g} - 1.0) + 1.000001);"));
            if self.is_backward() {
                self.line(format_args!("let back{g} = along{g} * factor{g} * factor{g} * s{g};"));
                self.line(format_args!("let less{g} = back{g} * norm_slope(q{g}, n{g});"));
                self.line(format_args!("sum{g} -= back{g} * t{g} * (n{g} - 1.0);"));
            }
        }
    }

    /// x times s, the sigmoid of u = a v + b, with t that of -u: g s + (g, x) s t a v' and (g, x) s t v, (g, x) s t.
    fn silu(&mut self) {
        let scalar = self.blades.position(0).unwrap_or(0);
        for g in 0..self.grades() {
            let v = if g == 0 { format!("x{scalar}") } else { format!("q{g}") };
            self.line(format_args!("let v{g} = {v};"));
            self.line(format_args!("let u{g} = a{g} * v{g} + b{g};"));
        }
        self.sigmoids("factor", "u", "");
        if self.is_backward() {
            self.sigmoids("t", "u", "-");
            for g in 0..self.grades() {
                self.line(format_args!("let back{g} = along{g} * factor{g} * t{g};"));
                let slope = if g == 0 { "-1.0" } else { "-2.0" };
                self.line(format_args!("let less{g} = {slope} * a{g} * back{g};"));
                self.line(format_args!("sum{g} += back{g} * v{g};"));
                self.line(format_args!("sum{} += back{g};", self.grades() + g));
            }
        }
    }
}
