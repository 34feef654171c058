//! The functions of elements, with the operands and the result of each.

use super::kind::Kind;
use std::fmt;

/// A function of elements.
///
/// Reals are computed in f32, integers in i32. Integers wrap on overflow. Functions of [`ops`](crate::ops) with the same
/// names apply one to tensors; [`map`](crate::ops::map) combines several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// $-a$.
    Neg,
    /// $|a|$.
    Abs,
    /// -1, 0 or 1.
    Sign,
    /// $\sqrt a$.
    Sqrt,
    /// $1 / \sqrt a$.
    Rsqrt,
    /// $e^a$.
    Exp,
    /// $\ln a$.
    Log,
    /// $a^2$.
    Square,
    /// $1 / a$.
    Recip,
    /// The largest integer that is at most a.
    Floor,
    /// The smallest integer that is at least a.
    Ceil,
    /// The nearest integer; ties go to the even one.
    Round,
    /// $\sin a$.
    Sin,
    /// $\cos a$.
    Cos,
    /// $\tanh a$.
    Tanh,
    /// $1 / (1 + e^{-a})$.
    Sigmoid,
    /// $a + b$.
    Add,
    /// $a - b$.
    Sub,
    /// $ab$.
    Mul,
    /// $a / b$.
    Div,
    /// $a^b$.
    Pow,
    /// The smaller of two values.
    Minimum,
    /// The larger of two values.
    Maximum,
    /// The first operand, limited to the range from the second to the third.
    Clamp,
    /// Whether $a = b$.
    Equal,
    /// Whether $a \ne b$.
    NotEqual,
    /// Whether $a < b$.
    Less,
    /// Whether $a \le b$.
    LessOrEqual,
    /// Whether $a > b$.
    Greater,
    /// Whether $a \ge b$.
    GreaterOrEqual,
    /// Whether both masks are set.
    And,
    /// Whether one of two masks is set, or both.
    Or,
    /// Whether a mask is not set.
    Not,
    /// The second operand where the first, a mask, is set; elsewhere the third.
    Select,
    /// An integer as a real, rounded to f32.
    ToReal,
    /// A real as an integer: truncated, saturated at the ends of i32; NaN becomes 0.
    ToInteger,
}

impl Function {
    /// Every function.
    pub const ALL: [Self; 36] = [
        Self::Neg,
        Self::Abs,
        Self::Sign,
        Self::Sqrt,
        Self::Rsqrt,
        Self::Exp,
        Self::Log,
        Self::Square,
        Self::Recip,
        Self::Floor,
        Self::Ceil,
        Self::Round,
        Self::Sin,
        Self::Cos,
        Self::Tanh,
        Self::Sigmoid,
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Pow,
        Self::Minimum,
        Self::Maximum,
        Self::Clamp,
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::And,
        Self::Or,
        Self::Not,
        Self::Select,
        Self::ToReal,
        Self::ToInteger,
    ];

    /// The name of the function in [`ops`](crate::ops).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Neg => "neg",
            Self::Abs => "abs",
            Self::Sign => "sign",
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Square => "square",
            Self::Recip => "recip",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Round => "round",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Pow => "pow",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::Clamp => "clamp",
            Self::Equal => "equal",
            Self::NotEqual => "not_equal",
            Self::Less => "less",
            Self::LessOrEqual => "less_or_equal",
            Self::Greater => "greater",
            Self::GreaterOrEqual => "greater_or_equal",
            Self::And => "and",
            Self::Or => "or",
            Self::Not => "not",
            Self::Select => "select",
            Self::ToReal => "to_real",
            Self::ToInteger => "to_integer",
        }
    }

    /// The number of operands.
    #[must_use]
    pub fn operands(self) -> usize {
        match self {
            Self::Clamp | Self::Select => 3,
            Self::Neg
            | Self::Abs
            | Self::Sign
            | Self::Sqrt
            | Self::Rsqrt
            | Self::Exp
            | Self::Log
            | Self::Square
            | Self::Recip
            | Self::Floor
            | Self::Ceil
            | Self::Round
            | Self::Sin
            | Self::Cos
            | Self::Tanh
            | Self::Sigmoid
            | Self::Not
            | Self::ToReal
            | Self::ToInteger => 1,
            _ => 2,
        }
    }

    /// The number of masks; they are the first operands.
    pub(super) fn masks(self) -> usize {
        match self {
            Self::And | Self::Or => 2,
            Self::Not | Self::Select => 1,
            _ => 0,
        }
    }

    /// The kind of the result for operands of these kinds; None if there is no such function.
    pub(super) fn result(self, operands: &[Kind]) -> Option<Kind> {
        use Kind::{Integer, Mask, Real};
        // An integer in place of a mask counts as set unless it is 0.
        let kinds = operands.iter().enumerate();
        let kinds: Vec<Kind> =
            kinds.map(|(at, &kind)| if at < self.masks() && kind == Integer { Mask } else { kind }).collect();
        match (self, &kinds[..]) {
            (Self::Neg | Self::Abs | Self::Sign | Self::Square, &[kind @ (Real | Integer)])
            | (
                Self::Add | Self::Sub | Self::Mul | Self::Minimum | Self::Maximum,
                &[kind @ Real, Real] | &[kind @ Integer, Integer],
            )
            | (Self::Clamp, &[kind @ Real, Real, Real] | &[kind @ Integer, Integer, Integer]) => Some(kind),
            (
                Self::Sqrt
                | Self::Rsqrt
                | Self::Exp
                | Self::Log
                | Self::Recip
                | Self::Floor
                | Self::Ceil
                | Self::Round
                | Self::Sin
                | Self::Cos
                | Self::Tanh
                | Self::Sigmoid,
                [Real],
            )
            | (Self::Div | Self::Pow, [Real, Real])
            | (Self::ToReal, [Integer]) => Some(Real),
            (Self::ToInteger, [Real | Mask]) => Some(Integer),
            (
                Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessOrEqual
                | Self::Greater
                | Self::GreaterOrEqual,
                [Real, Real] | [Integer, Integer],
            )
            | (Self::And | Self::Or, [Mask, Mask])
            | (Self::Not, [Mask]) => Some(Mask),
            (Self::Select, &[Mask, a, b]) if a == b => Some(a),
            _ => None,
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
