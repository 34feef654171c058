//! Prints expressions and statements. Parentheses are printed only where WGSL's grammar needs them.

use super::expression::{Expression, Operator, Sign, Sum};
use super::statement::{Block, Statement};
use std::fmt;

/// The precedence of operators, from the loosest to the tightest. An operand that binds less tightly than its operator requires
/// gets parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    /// `&` and `&&`. WGSL does not allow mixing them without parentheses.
    Logic,
    Comparison,
    Sum,
    Product,
    Sign,
    Primary,
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
            Self::BitAnd => "&",
            Self::And => "&&",
        }
    }

    fn precedence(self) -> Precedence {
        match self {
            Self::Multiply | Self::Divide => Precedence::Product,
            Self::BitAnd | Self::And => Precedence::Logic,
            _ => Precedence::Comparison,
        }
    }

    /// The least precedence that the left and the right operand need to go without parentheses.
    fn operand_precedence(self) -> [Precedence; 2] {
        match self {
            // Left-associative.
            Self::Multiply | Self::Divide => [Precedence::Product, Precedence::Sign],
            Self::BitAnd => [Precedence::Sign; 2],
            Self::And => [Precedence::Comparison; 2],
            _ => [Precedence::Sum; 2],
        }
    }
}

impl Expression {
    fn precedence(&self) -> Precedence {
        match self {
            Self::Float(value) if value.is_sign_negative() => Precedence::Sign,
            Self::Negative(_) | Self::Dereference(_) => Precedence::Sign,
            Self::Sum(sum) => sum.precedence(),
            Self::Binary(operator, _) => operator.precedence(),
            _ => Precedence::Primary,
        }
    }

    /// Prints the expression as an operand, in parentheses if it binds less tightly than `least`.
    fn operand(&self, f: &mut fmt::Formatter<'_>, least: Precedence) -> fmt::Result {
        if self.precedence() >= least { write!(f, "{self}") } else { write!(f, "({self})") }
    }

    /// Prints the expression as a left operand. Chains of the same logical operator need no parentheses.
    fn left(&self, f: &mut fmt::Formatter<'_>, operator: Operator) -> fmt::Result {
        match self {
            Self::Binary(own, _) if *own == operator && own.precedence() == Precedence::Logic => {
                write!(f, "{self}")
            }
            _ => self.operand(f, operator.operand_precedence()[0]),
        }
    }

    /// Prints the expression as an argument.
    ///
    /// NOTE: in `f(a < b, c > d)` WGSL parses `a < b, c >` as a template with arguments. So `a < b` gets parentheses, unless it
    /// is the last argument.
    fn argument(&self, f: &mut fmt::Formatter<'_>, is_last: bool) -> fmt::Result {
        if self.may_start_template() && !is_last { write!(f, "({self})") } else { write!(f, "{self}") }
    }

    /// Whether WGSL could parse a `<` of the expression, outside of parentheses, as the start of a template list. A `<` to the left
    /// of `&&` cannot start one, because WGSL looks for the matching `>` only up to the `&&`.
    fn may_start_template(&self) -> bool {
        match self {
            Self::Binary(Operator::Less | Operator::LessOrEqual, _) => true,
            Self::Binary(Operator::And, of) => of[1].may_start_template(),
            _ => false,
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name, _) => f.write_str(name),
            // The shortest decimal text that parses as this number, with a point or an exponent.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Index(value) => write!(f, "{value}u"),
            Self::Negative(of) => {
                // NOTE: `--` is a token of its own in WGSL.
                f.write_str("-")?;
                of.operand(f, Precedence::Primary)
            }
            Self::Sum(sum) => write!(f, "{sum}"),
            Self::Binary(operator, operands) => {
                operands[0].left(f, *operator)?;
                write!(f, " {} ", operator.text())?;
                operands[1].operand(f, operator.operand_precedence()[1])
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
                of.operand(f, Precedence::Primary)?;
                write!(f, ".{member}")
            }
            Self::Element(of) => {
                of[0].operand(f, Precedence::Primary)?;
                match &of[1] {
                    // A literal index needs no suffix.
                    Self::Index(place) => write!(f, "[{place}]"),
                    place => write!(f, "[{place}]"),
                }
            }
            Self::Dereference(of) => {
                f.write_str("*")?;
                of.operand(f, Precedence::Primary)
            }
        }
    }
}

impl Sum {
    fn precedence(&self) -> Precedence {
        match &self.0[..] {
            [(Sign::Plus, term)] => term.precedence(),
            [(Sign::Minus, _)] => Precedence::Sign,
            _ => Precedence::Sum,
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (sign, term)) in self.0.iter().enumerate() {
            match (i, sign) {
                (0, Sign::Plus) if self.0.len() == 1 => write!(f, "{term}")?,
                (0, Sign::Plus) => term.operand(f, Precedence::Sum)?,
                (0, Sign::Minus) => {
                    f.write_str("-")?;
                    term.operand(f, Precedence::Primary)?;
                }
                (_, sign) => {
                    f.write_str(if *sign == Sign::Plus { " + " } else { " - " })?;
                    term.operand(f, Precedence::Product)?;
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

    /// Prints the block in braces.
    pub(super) fn print_enclosed(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        f.write_str("{\n")?;
        self.print(f, depth + 1)?;
        write!(f, "{}}}", "    ".repeat(depth))
    }
}

impl Statement {
    /// Prints the statement without the final line break.
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
