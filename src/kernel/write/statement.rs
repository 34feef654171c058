//! Statements, in the order in which they run.

use super::expression::{Expression, Number, Sign};

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
    /// A variable of a type, which is zero at first.
    Zero(String, &'static str),
    /// A new value for a variable or an element.
    Assign(Expression, Expression),
    /// What is added to a variable or an element, or taken away from it.
    Change(Expression, Sign, Expression),
    /// A call whose result, if there is one, nobody uses.
    Call(Expression),
    /// What runs if a condition holds.
    If(Expression, Block),
    /// The function's result.
    Return(Expression),
    /// A statement, and what is said of it behind it.
    Remarked(Box<Self>, String),
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

    /// Declares a variable of a type, which is zero at first, and hands its name back.
    pub(crate) fn zero(&mut self, name: impl Into<String>, of_type: &'static str) -> Expression {
        let name = name.into();
        self.0.push(Statement::Zero(name.clone(), of_type));
        super::expression::name(name)
    }

    /// Gives a variable or an element another value.
    pub(crate) fn assign(&mut self, to: impl Into<Expression>, value: impl Into<Expression>) {
        self.0.push(Statement::Assign(to.into(), value.into()));
    }

    /// Adds to a variable or an element.
    pub(crate) fn increase(&mut self, what: impl Into<Expression>, by: impl Into<Expression>) {
        self.0.push(Statement::Change(what.into(), Sign::Plus, by.into()));
    }

    /// Takes away from a variable or an element.
    pub(crate) fn decrease(&mut self, what: impl Into<Expression>, by: impl Into<Expression>) {
        self.0.push(Statement::Change(what.into(), Sign::Minus, by.into()));
    }

    /// Calls a function for what it does.
    pub(crate) fn call(&mut self, call: Expression) {
        self.0.push(Statement::Call(call));
    }

    /// Runs statements if a condition holds.
    pub(crate) fn branch(&mut self, condition: Expression, then: Self) {
        self.0.push(Statement::If(condition, then));
    }

    /// Ends the function with its result.
    pub(crate) fn returns(&mut self, value: impl Into<Expression>) {
        self.0.push(Statement::Return(value.into()));
    }

    /// Says something of the last statement, behind it.
    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        if let Some(last) = self.0.pop() {
            self.0.push(Statement::Remarked(Box::new(last), text.into()));
        }
    }

    /// Puts other statements behind these.
    pub(crate) fn append(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }
}

impl Expression {
    /// What numbers it is of.
    pub(super) fn kind(&self) -> Number {
        match self {
            Self::Name(_, kind) => *kind,
            Self::Float(_) => Number::Float,
            Self::Index(_) => Number::Index,
            Self::Negative(of) | Self::Member(of, _) | Self::Pointed(of) => of.kind(),
            Self::Sum(sum) => sum.0.first().map_or(Number::Float, |(_, term)| term.kind()),
            Self::Binary(_, operands) | Self::Element(operands) => operands[0].kind(),
            Self::Call(callee, _) => callee.of,
        }
    }
}
