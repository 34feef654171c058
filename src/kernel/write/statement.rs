//! Statements, in the order in which they run, and whole functions.

use super::expression::{Expression, Number};

/// Statements, one behind the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Block(pub(super) Vec<Statement>);

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// A line of plain English.
    Comment(String),
    /// A value with a name.
    Let(String, Expression),
    /// A variable with its first value.
    Var(String, Expression),
    /// A new value for a variable or an element.
    Assign(Expression, Expression),
    /// What is added to a variable or an element.
    Increase(Expression, Expression),
    /// A call whose result, if there is one, nobody uses.
    Call(Expression),
    /// What runs if a condition holds.
    If(Expression, Block),
    /// What runs for every value of a counter from the first up to the second, without it.
    For(String, [Expression; 2], Block),
}

impl Block {
    /// Says something about what follows.
    pub(crate) fn comment(&mut self, text: impl Into<String>) {
        self.0.push(Statement::Comment(text.into()));
    }

    /// Gives a value a name, which it hands back.
    pub(crate) fn define(&mut self, name: impl Into<String>, value: impl Into<Expression>) -> Expression {
        let (name, value) = (name.into(), value.into());
        let named = Expression::Name(name.clone(), value.kind());
        self.0.push(Statement::Let(name, value));
        named
    }

    /// Declares a variable, whose name it hands back.
    pub(crate) fn variable(&mut self, name: impl Into<String>, value: impl Into<Expression>) -> Expression {
        let (name, value) = (name.into(), value.into());
        let named = Expression::Name(name.clone(), value.kind());
        self.0.push(Statement::Var(name, value));
        named
    }

    /// Gives a variable or an element another value.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the texts of layers, which move here next, have arrays")
    )]
    pub(crate) fn assign(&mut self, to: impl Into<Expression>, value: impl Into<Expression>) {
        self.0.push(Statement::Assign(to.into(), value.into()));
    }

    /// Adds to a variable or an element.
    pub(crate) fn increase(&mut self, what: impl Into<Expression>, by: impl Into<Expression>) {
        self.0.push(Statement::Increase(what.into(), by.into()));
    }

    /// Calls a function for what it does.
    pub(crate) fn call(&mut self, call: Expression) {
        self.0.push(Statement::Call(call));
    }

    /// Runs statements if a condition holds.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the texts of layers, which move here next, guard stores")
    )]
    pub(crate) fn branch(&mut self, condition: Expression, then: Self) {
        self.0.push(Statement::If(condition, then));
    }

    /// Runs statements for every value of a counter, of which the second is behind the last.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the texts of layers, which move here next, loop over rows")
    )]
    pub(crate) fn count(&mut self, counter: impl Into<String>, [first, end]: [Expression; 2], body: Self) {
        self.0.push(Statement::For(counter.into(), [first, end], body));
    }

    /// Puts other statements behind these.
    pub(crate) fn append(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }
}

/// A function without a result: its name, its parameters with their types, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<(&'static str, &'static str)>,
    pub(crate) body: Block,
}

impl Expression {
    /// What numbers it is of.
    pub(super) fn kind(&self) -> Number {
        match self {
            Self::Name(_, kind) => *kind,
            Self::Float(_) => Number::Float,
            Self::Index(_) => Number::Index,
            Self::Negative(of) | Self::Member(of, _) => of.kind(),
            Self::Sum(sum) => sum.0.first().map_or(Number::Float, |(_, term)| term.kind()),
            Self::Binary(_, operands) | Self::Element(operands) => operands[0].kind(),
            Self::Call(callee, _) => callee.of,
        }
    }
}
