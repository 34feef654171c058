//! Statements, and blocks of them.

use super::expression::{Expression, NumberKind, Sign};

/// A list of statements. Each method appends one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Block(pub(super) Vec<Statement>);

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// A comment on a line of its own.
    Comment(String),
    /// `let name = value;`.
    Let(String, Expression),
    /// `var name = value;`.
    Var(String, Expression),
    /// `var name: type;`, which WGSL initialises to zero.
    Zero(String, &'static str),
    /// `target = value;`.
    Assign(Expression, Expression),
    /// `target += value;` or `target -= value;`.
    Change(Expression, Sign, Expression),
    /// A call as a statement.
    Call(Expression),
    /// `if condition { .. }`.
    If(Expression, Block),
    /// `return value;`.
    Return(Expression),
    /// A statement with a comment at the end of its line.
    Remarked(Box<Self>, String),
}

impl Block {
    /// A comment on a line of its own.
    pub(crate) fn comment(&mut self, text: impl Into<String>) {
        self.0.push(Statement::Comment(text.into()));
    }

    /// `let name = value;`. Returns the name as an expression.
    pub(crate) fn define(&mut self, name: impl Into<String>, value: impl Into<Expression>) -> Expression {
        let (name, value) = (name.into(), value.into());
        let named = Expression::Name(name.clone(), value.kind());
        self.0.push(Statement::Let(name, value));
        named
    }

    /// `var name = value;`. Returns the name as an expression.
    pub(crate) fn variable(&mut self, name: impl Into<String>, value: impl Into<Expression>) -> Expression {
        let (name, value) = (name.into(), value.into());
        let named = Expression::Name(name.clone(), value.kind());
        self.0.push(Statement::Var(name, value));
        named
    }

    /// `var name: of_type;`, which WGSL initialises to zero. Returns the name as an expression.
    pub(crate) fn zero(&mut self, name: impl Into<String>, of_type: &'static str) -> Expression {
        let name = name.into();
        self.0.push(Statement::Zero(name.clone(), of_type));
        super::expression::name(name)
    }

    /// `to = value;`.
    pub(crate) fn assign(&mut self, to: impl Into<Expression>, value: impl Into<Expression>) {
        self.0.push(Statement::Assign(to.into(), value.into()));
    }

    /// `what += by;`.
    pub(crate) fn increase(&mut self, what: impl Into<Expression>, by: impl Into<Expression>) {
        self.0.push(Statement::Change(what.into(), Sign::Plus, by.into()));
    }

    /// `what -= by;`.
    pub(crate) fn decrease(&mut self, what: impl Into<Expression>, by: impl Into<Expression>) {
        self.0.push(Statement::Change(what.into(), Sign::Minus, by.into()));
    }

    /// Calls a function and discards its result.
    pub(crate) fn call(&mut self, call: Expression) {
        self.0.push(Statement::Call(call));
    }

    /// `if condition { then }`.
    pub(crate) fn branch(&mut self, condition: Expression, then: Self) {
        self.0.push(Statement::If(condition, then));
    }

    /// `return value;`.
    pub(crate) fn returns(&mut self, value: impl Into<Expression>) {
        self.0.push(Statement::Return(value.into()));
    }

    /// Adds a comment at the end of the last statement's line.
    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        if let Some(last) = self.0.pop() {
            self.0.push(Statement::Remarked(Box::new(last), text.into()));
        }
    }

    /// Appends the statements of another block.
    pub(crate) fn append(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }
}

impl Expression {
    /// The kind of the expression's numbers.
    pub(super) fn kind(&self) -> NumberKind {
        match self {
            Self::Name(_, kind) => *kind,
            Self::Float(_) => NumberKind::Float,
            Self::Index(_) => NumberKind::Index,
            Self::Negative(of) | Self::Member(of, _) | Self::Dereference(of) => of.kind(),
            Self::Sum(sum) => sum.0.first().map_or(NumberKind::Float, |(_, term)| term.kind()),
            Self::Binary(_, operands) | Self::Element(operands) => operands[0].kind(),
            Self::Call(callee, _) => callee.result,
        }
    }
}
