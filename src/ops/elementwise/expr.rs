//! Expressions of elements, from which [`map`](super::map::map) makes kernels.

use super::function::Function;
use super::kind::Kind;
use std::sync::Arc;

/// A value of an expression in [`map`](crate::ops::map): an operand's element, a number, or a function of others.
///
/// The operators `+ - * /`, unary minus and the methods combine values and numbers. Clones share the value: it is
/// computed once. A mistake, such as the logarithm of an integer, is an error of `map`, not a panic.
#[derive(Clone, Debug)]
pub struct Expr(Arc<Node>);

/// The largest depth of nested functions.
const MAX_DEPTH: usize = 1000;

/// A node of the graph of an expression.
#[derive(Debug)]
struct Node {
    /// The value, or the reason why it does not exist.
    kind: Result<Kind, String>,
    /// The depth: the number of functions on the longest path to an operand or a number.
    depth: usize,
    content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    /// The element of an operand.
    Operand,
    /// A number, in 32 bits.
    Number(u32),
    /// Whether an integer differs from 0.
    IsSet(Expr),
    /// A function of values.
    Call(Function, Vec<Expr>),
}

impl Expr {
    fn new(kind: Kind, depth: usize, content: Content) -> Self {
        Self(Arc::new(Node { kind: Ok(kind), depth, content }))
    }

    /// A value that does not exist.
    fn mistake(why: String) -> Self {
        Self(Arc::new(Node { kind: Err(why), depth: 0, content: Content::Number(0) }))
    }

    /// The element of an operand.
    pub(super) fn operand(kind: Kind) -> Self {
        Self::new(kind, 0, Content::Operand)
    }

    /// The value of a number, which a call passes in 32 bits.
    pub(super) fn number(bits: u32, kind: Kind) -> Self {
        Self::new(kind, 0, Content::Number(bits))
    }

    /// A function of values. An integer in place of a mask counts as set unless it is 0.
    pub(super) fn call(function: Function, operands: Vec<Self>) -> Self {
        let masks = function.masks();
        let as_mask = |(at, value): (usize, Self)| if at < masks { value.into_mask() } else { value };
        let operands: Vec<Self> = operands.into_iter().enumerate().map(as_mask).collect();
        let depth = 1 + operands.iter().map(|operand| operand.0.depth).max().unwrap_or_default();
        if depth > MAX_DEPTH {
            return Self::mistake(format!(
                "it is a chain of more than {MAX_DEPTH} functions: call `map` twice"
            ));
        }
        match kind_of(function, &operands) {
            Ok(kind) => Self::new(kind, depth, Content::Call(function, operands)),
            Err(why) => Self::mistake(why),
        }
    }

    fn into_mask(self) -> Self {
        if self.0.kind != Ok(Kind::Integer) {
            return self;
        }
        Self::new(Kind::Mask, self.0.depth, Content::IsSet(self))
    }

    pub(super) fn content(&self) -> &Content {
        &self.0.content
    }

    /// The value, or the reason why it does not exist.
    pub(super) fn kind(&self) -> Result<Kind, &str> {
        self.0.kind.as_ref().copied().map_err(String::as_str)
    }

    /// An identifier of this value, unique as long as the value exists.
    pub(super) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    pub(super) fn of(&self, function: Function) -> Self {
        Self::call(function, vec![self.clone()])
    }

    pub(super) fn with(&self, function: Function, other: impl Into<Self>) -> Self {
        Self::call(function, vec![self.clone(), other.into()])
    }
}

/// The result of a function of these values.
fn kind_of(function: Function, operands: &[Expr]) -> Result<Kind, String> {
    let kinds = operands.iter().map(|operand| operand.kind().map_err(str::to_owned));
    let kinds = kinds.collect::<Result<Vec<Kind>, String>>()?;
    function.result(&kinds).ok_or_else(|| {
        let given: Vec<String> = kinds.iter().map(Kind::to_string).collect();
        let remedy = if kinds.contains(&Kind::Real) && kinds.contains(&Kind::Integer) {
            "; convert one with `to_real` or `to_integer`, or write `2.0` for `2`"
        } else if function.result(&[Kind::Real; 3][..kinds.len()]).is_some() {
            "; convert it with `to_real`"
        } else {
            ""
        };
        format!("there is no {function} of {}{remedy}", given.join(" and "))
    })
}

impl From<f32> for Expr {
    fn from(value: f32) -> Self {
        Self::number(value.to_bits(), Kind::Real)
    }
}

impl From<i32> for Expr {
    fn from(value: i32) -> Self {
        Self::number(value.cast_unsigned(), Kind::Integer)
    }
}

impl From<&Self> for Expr {
    fn from(value: &Self) -> Self {
        value.clone()
    }
}
