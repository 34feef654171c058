//! Values as text. Parentheses stand where the grammar of WGSL would read another order, or none.

use super::expression::{Expression, Operator, Sign, Sum};
use super::statement::{Block, Statement};
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
            Self::Negative(_) | Self::Pointed(_) => Bond::Sign,
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
        if self.may_open() && !is_last { write!(f, "({self})") } else { write!(f, "{self}") }
    }

    /// Whether it has a `<` that no parentheses enclose; what is in front of `&&` opens nothing behind it.
    fn may_open(&self) -> bool {
        match self {
            Self::Binary(Operator::Less | Operator::LessOrEqual, _) => true,
            Self::Binary(Operator::Both, of) => of[1].may_open(),
            _ => false,
        }
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
                match &of[1] {
                    // Of any type of integers.
                    Self::Index(place) => write!(f, "[{place}]"),
                    place => write!(f, "[{place}]"),
                }
            }
            Self::Pointed(of) => {
                f.write_str("*")?;
                of.operand(f, Bond::Whole)
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
    pub(super) fn print(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        for statement in &self.0 {
            f.write_str(&indent)?;
            statement.print(f, depth)?;
            f.write_str("\n")?;
        }
        Ok(())
    }

    /// Its statements, in braces.
    pub(super) fn print_enclosed(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        f.write_str("{\n")?;
        self.print(f, depth + 1)?;
        write!(f, "{}}}", "    ".repeat(depth))
    }
}

impl Statement {
    /// Prints it, without what ends its last line.
    fn print(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        match self {
            Self::Comment(text) => write!(f, "// {text}"),
            Self::Let(name, value) => write!(f, "let {name} = {value};"),
            Self::Var(name, value) => write!(f, "var {name} = {value};"),
            Self::Zero(name, of_type) => write!(f, "var {name}: {of_type};"),
            Self::Assign(to, value) => write!(f, "{to} = {value};"),
            Self::Change(what, Sign::Plus, by) => write!(f, "{what} += {by};"),
            Self::Change(what, Sign::Minus, by) => write!(f, "{what} -= {by};"),
            Self::Call(call) => write!(f, "{call};"),
            Self::If(condition, then) => {
                write!(f, "if {condition} ")?;
                then.print_enclosed(f, depth)
            }
            Self::Return(value) => write!(f, "return {value};"),
            Self::Remarked(of, text) => {
                of.print(f, depth)?;
                write!(f, " // {text}")
            }
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, 0)
    }
}
