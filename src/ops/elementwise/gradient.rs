//! The gradients of functions of elements, as expressions and as formulas.

use super::expr::{Content, Expr};
use super::function::Function;
use super::kind::Kind;
use crate::ops::table::function_rows;

/// Generates the gradients from the rows.
macro_rules! gradients {
    ($y:ident $g:ident: $(
        $(#[$doc:meta])+
        $variant:ident: $name:ident($($operand:ident),+) takes $takes:ident, within $within:tt, wgsl $wgsl:tt,
        value $value:tt integers $integers:tt gradients [$($to:ident => $gradient:expr),*];
    )*) => {
        /// The gradients with respect to operands, by the place of the operand, from the result `y` and the gradient `g` with
        /// respect to it. Those of other operands are 0.
        #[allow(unused_variables, reason = "not all gradients need all values")]
        pub fn gradients(function: Function, operands: [&Expr; 3], y: &Expr, g: &Expr) -> Vec<(usize, Expr)> {
            let ($y, $g) = (y, g);
            match function {
                $(Function::$variant => {
                    let [$($operand,)+ ..] = operands;
                    let names: &[&str] = &[$(stringify!($operand)),+];
                    let place = |name: &str| names.iter().position(|of| *of == name).unwrap_or_default();
                    vec![$((place(stringify!($to)), Expr::from($gradient))),*]
                })*
            }
        }

        /// The names of the operands.
        fn operands_of(function: Function) -> &'static [&'static str] {
            match function {
                $(Function::$variant => &[$(stringify!($operand)),+],)*
            }
        }
    };
}

function_rows!(gradients);

/// The gradients as formulas: the name of the operand, unless it is the only one, and the formula. None if all are 0.
#[must_use]
pub fn gradient_formulas(function: Function) -> Option<String> {
    let names = operands_of(function);
    let kind = |at: usize| if at < function.masks() { Kind::Mask } else { Kind::Real };
    let operands = [0, 1, 2].map(|at| Expr::operand(kind(at)));
    let [y, g] = [(); 2].map(|()| Expr::operand(Kind::Real));
    let gradients = gradients(function, operands.each_ref(), &y, &g);
    let all = operands.iter().zip(names.iter().copied()).chain([(&y, "y"), (&g, "g")]);
    let printer = Printer { names: all.map(|(operand, name)| (operand.identity(), name)).collect() };
    let of = |(at, gradient): &(usize, Expr)| {
        let formula = printer.sentence(gradient);
        if names.len() == 1 { formula } else { format!("{}: {formula}", names[*at]) }
    };
    (!gradients.is_empty()).then(|| gradients.iter().map(of).collect::<Vec<_>>().join("; "))
}

/// The precedence of a formula: that of a sum, a product, a power or a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tie {
    Sum,
    Product,
    Atom,
}

struct Printer {
    names: Vec<(usize, &'static str)>,
}

impl Printer {
    /// A gradient in words where it depends on a condition.
    fn sentence(&self, of: &Expr) -> String {
        let Content::Call(Function::Select, values) = of.content() else {
            return format!("${}$", self.formula(of).0);
        };
        let [mask, then, otherwise] = [0, 1, 2].map(|at| &values[at]);
        let condition = match mask.content() {
            Content::Operand => "the mask is set".to_owned(),
            _ => format!("${}$", self.formula(mask).0),
        };
        let [then, otherwise] = [then, otherwise].map(|value| format!("${}$", self.formula(value).0));
        format!("{then} where {condition}, {otherwise} elsewhere")
    }

    fn formula(&self, of: &Expr) -> (String, Tie) {
        match of.content() {
            Content::Operand | Content::IsSet(_) => {
                let name = self.names.iter().find(|(identity, _)| *identity == of.identity());
                (name.map_or("?", |(_, name)| name).to_owned(), Tie::Atom)
            }
            Content::Number(bits) => (f32::from_bits(*bits).to_string(), Tie::Atom),
            Content::Call(function, values) => self.call(*function, values),
        }
    }

    /// A formula, in parentheses if its precedence is lower.
    fn within(&self, of: &Expr, tie: Tie) -> String {
        let (formula, found) = self.formula(of);
        if found < tie { format!("({formula})") } else { formula }
    }

    fn call(&self, function: Function, values: &[Expr]) -> (String, Tie) {
        let first = |tie| self.within(&values[0], tie);
        let second = |tie| self.within(&values[1], tie);
        match function {
            Function::Neg => (format!("-{}", first(Tie::Product)), Tie::Product),
            Function::Add => (format!("{} + {}", first(Tie::Sum), second(Tie::Sum)), Tie::Sum),
            Function::Sub => (format!("{} - {}", first(Tie::Sum), second(Tie::Product)), Tie::Sum),
            Function::Mul => (format!("{} {}", first(Tie::Product), second(Tie::Product)), Tie::Product),
            Function::Div => (format!("{} / {}", first(Tie::Product), second(Tie::Atom)), Tie::Product),
            Function::Square => (format!("{}^2", first(Tie::Atom)), Tie::Atom),
            Function::Pow => (format!("{}^{{{}}}", first(Tie::Atom), second(Tie::Sum)), Tie::Atom),
            Function::Equal => (format!("{} = {}", first(Tie::Sum), second(Tie::Sum)), Tie::Sum),
            Function::Log => (format!("\\ln {}", first(Tie::Atom)), Tie::Product),
            Function::Sin | Function::Cos | Function::Tanh => {
                (format!("\\{function} {}", first(Tie::Atom)), Tie::Product)
            }
            other => {
                let all: Vec<String> = values.iter().map(|value| self.formula(value).0).collect();
                (format!("\\operatorname{{{other}}}({})", all.join(", ")), Tie::Atom)
            }
        }
    }
}
