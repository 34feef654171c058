//! Values as text. Parentheses stand where the grammar of WGSL would read another order, or none.

use super::expression::{Expression, Operator, Sign, Sum};
use super::statement::{Block, Definition, Statement};
use std::collections::BTreeSet;
use std::fmt;

/// How close operators bind, the loosest first: what stands beside an operator binds at least as close as it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    /// `&` and `&&`: neither has an order with the other.
    Logic,
    Comparison,
    Sum,
    Product,
    Sign,
    Whole,
}

impl Operator {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::Each => "&",
            Self::Both => "&&",
        }
    }

    fn bond(self) -> Bond {
        match self {
            Self::Multiply | Self::Divide => Bond::Product,
            Self::Each | Self::Both => Bond::Logic,
            _ => Bond::Comparison,
        }
    }

    /// What operands bind at least, the left and the right.
    fn bonds_of_operands(self) -> [Bond; 2] {
        match self {
            // From left to right.
            Self::Multiply | Self::Divide => [Bond::Product, Bond::Sign],
            Self::Each => [Bond::Sign; 2],
            Self::Both => [Bond::Comparison; 2],
            _ => [Bond::Sum; 2],
        }
    }
}

impl Expression {
    fn bond(&self) -> Bond {
        match self {
            Self::Float(value) if value.is_sign_negative() => Bond::Sign,
            Self::Negative(_) => Bond::Sign,
            Self::Sum(sum) => sum.bond(),
            Self::Binary(operator, _) => operator.bond(),
            _ => Bond::Whole,
        }
    }

    /// Prints it as an operand of what asks for such a bond.
    fn operand(&self, f: &mut fmt::Formatter<'_>, least: Bond) -> fmt::Result {
        if self.bond() >= least { write!(f, "{self}") } else { write!(f, "({self})") }
    }

    /// As the left operand: a chain of one of the logical operators goes on.
    fn left(&self, f: &mut fmt::Formatter<'_>, operator: Operator) -> fmt::Result {
        match self {
            Self::Binary(own, _) if *own == operator && own.bond() == Bond::Logic => write!(f, "{self}"),
            _ => self.operand(f, operator.bonds_of_operands()[0]),
        }
    }

    /// As an argument. `f(a < b, c > d)` would be read as a template `a` of `b` and `c`.
    fn argument(&self, f: &mut fmt::Formatter<'_>, is_last: bool) -> fmt::Result {
        let may_open = matches!(self, Self::Binary(Operator::Less | Operator::LessOrEqual, _));
        if may_open && !is_last { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name, _) => f.write_str(name),
            // The shortest digits that are this number and no other, with a point or an exponent.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Index(value) => write!(f, "{value}u"),
            Self::Negative(of) => {
                // NOTE: `--` is a word of its own.
                f.write_str("-")?;
                of.operand(f, Bond::Whole)
            }
            Self::Sum(sum) => write!(f, "{sum}"),
            Self::Binary(operator, operands) => {
                operands[0].left(f, *operator)?;
                write!(f, " {} ", operator.text())?;
                operands[1].operand(f, operator.bonds_of_operands()[1])
            }
            Self::Call(callee, arguments) => {
                write!(f, "{}(", callee.name)?;
                for (i, argument) in arguments.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    argument.argument(f, i + 1 == arguments.len())?;
                }
                f.write_str(")")
            }
            Self::Member(of, member) => {
                of.operand(f, Bond::Whole)?;
                write!(f, ".{member}")
            }
            Self::Element(of) => {
                of[0].operand(f, Bond::Whole)?;
                write!(f, "[{}]", of[1])
            }
        }
    }
}

impl Sum {
    fn bond(&self) -> Bond {
        match &self.0[..] {
            [(Sign::Plus, term)] => term.bond(),
            [(Sign::Minus, _)] => Bond::Sign,
            _ => Bond::Sum,
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (sign, term)) in self.0.iter().enumerate() {
            match (i, sign) {
                (0, Sign::Plus) if self.0.len() == 1 => write!(f, "{term}")?,
                (0, Sign::Plus) => term.operand(f, Bond::Sum)?,
                (0, Sign::Minus) => {
                    f.write_str("-")?;
                    term.operand(f, Bond::Whole)?;
                }
                (_, sign) => {
                    f.write_str(if *sign == Sign::Plus { " + " } else { " - " })?;
                    term.operand(f, Bond::Product)?;
                }
            }
        }
        Ok(())
    }
}

impl Block {
    fn print(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        for statement in &self.0 {
            f.write_str(&indent)?;
            match statement {
                Statement::Comment(text) => writeln!(f, "// {text}")?,
                Statement::Let(name, value) => writeln!(f, "let {name} = {value};")?,
                Statement::Var(name, value) => writeln!(f, "var {name} = {value};")?,
                Statement::Assign(to, value) => writeln!(f, "{to} = {value};")?,
                Statement::Increase(what, by) => writeln!(f, "{what} += {by};")?,
                Statement::Call(call) => writeln!(f, "{call};")?,
                Statement::If(condition, then) => {
                    writeln!(f, "if {condition} {{")?;
                    then.print(f, depth + 1)?;
                    writeln!(f, "{indent}}}")?;
                }
                Statement::For(i, [first, end], body) => {
                    writeln!(f, "for (var {i} = {first}; {i} < {end}; {i}++) {{")?;
                    body.print(f, depth + 1)?;
                    writeln!(f, "{indent}}}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, 0)
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut files = BTreeSet::new();
        self.body.files(&mut files);
        for file in &files {
            writeln!(f, "//#import {file}")?;
        }
        if !files.is_empty() {
            writeln!(f)?;
        }
        let parameters: Vec<String> =
            self.parameters.iter().map(|(name, of)| format!("{name}: {of}")).collect();
        writeln!(f, "fn {}({}) {{", self.name, parameters.join(", "))?;
        self.body.print(f, 1)?;
        writeln!(f, "}}")
    }
}
