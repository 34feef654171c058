//! Expressions from text, by recursive descent.

use crate::expression::Expression;
use tilewise::Result;
use tilewise::clifford::{Multivector, Product, Signature, Unary, parse_error};

/// The grammar of expressions, for `--help`.
pub(crate) const GRAMMAR: &str = "\
Expressions, from what binds tightest to what binds loosest, those of one line from left to right:
  2.5e12 e21 1e-3  numbers and blades; an exponent has a sign, 2e12 is twice e12
  f(x)             rev inv dual undual involute conj norm grade(x, k) comm(x, y) scalar(x, y)
  ~x -x            reverse, negative
  x ^ y  x & y     outer product, regressive product: in PGA meet and join
  x | y  x . y  x << y  x >> y
                   Hestenes' inner product, fat dot, left and right contraction
  x * y            geometric product
  x + y  x - y     sum, difference
A point with a digit on either side is part of a number: 2.5 is one, 2 . 5 and e1.e2 are dots.";

/// Largest number of operands of an expression: parsing and evaluation are recursive.
const MAX_OPERANDS: usize = 500;

#[derive(Clone, Copy)]
enum Operator {
    Sum,
    Difference,
    Product(Product),
}

/// Operators from loosest to tightest.
const LEVELS: [&[(&str, Operator)]; 4] = [
    &[("+", Operator::Sum), ("-", Operator::Difference)],
    &[("*", Operator::Product(Product::Geometric))],
    &[
        ("|", Operator::Product(Product::Hestenes)),
        (".", Operator::Product(Product::FatDot)),
        ("<<", Operator::Product(Product::LeftContraction)),
        (">>", Operator::Product(Product::RightContraction)),
    ],
    &[("^", Operator::Product(Product::Outer)), ("&", Operator::Product(Product::Regressive))],
];

#[derive(Clone, Copy)]
enum Function {
    Unary(Unary),
    Product(Product),
    Inverse,
    Norm,
    Grade,
}

const FUNCTIONS: [(&str, Function); 10] = [
    ("rev", Function::Unary(Unary::Reverse)),
    ("inv", Function::Inverse),
    ("dual", Function::Unary(Unary::Dual)),
    ("undual", Function::Unary(Unary::Undual)),
    ("involute", Function::Unary(Unary::Involute)),
    ("conj", Function::Unary(Unary::Conjugate)),
    ("norm", Function::Norm),
    ("grade", Function::Grade),
    ("comm", Function::Product(Product::Commutator)),
    ("scalar", Function::Product(Product::Scalar)),
];

/// Parses an expression; an error shows the position where parsing stopped.
pub(crate) fn parse(signature: Signature, text: &str) -> Result<Expression> {
    let mut parser = Parser { signature, text, at: 0, operands: 0 };
    let expression = parser.binary(0)?;
    match parser.rest().chars().next() {
        None => Ok(expression),
        Some(')') => Err(parser.wrong("no `(` matches this")),
        Some(_) => Err(parser.wrong("an operator is expected")),
    }
}

struct Parser<'a> {
    signature: Signature,
    text: &'a str,
    at: usize,
    operands: usize,
}

impl<'a> Parser<'a> {
    /// The rest of the text, without leading spaces.
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn wrong(&self, why: impl std::fmt::Display) -> tilewise::Error {
        parse_error(self.text, self.at, why)
    }

    /// Whether a symbol is next; if so, skips it.
    fn takes(&mut self, symbol: &str) -> bool {
        let is_next = self.rest().starts_with(symbol);
        self.at += if is_next { symbol.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.takes(symbol) { Ok(()) } else { Err(self.wrong(format!("`{symbol}` is expected"))) }
    }

    /// Operands of the operators of one level, and of tighter ones.
    fn binary(&mut self, level: usize) -> Result<Expression> {
        let Some(operators) = LEVELS.get(level) else {
            return self.prefixed();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(&(_, operator)) = operators.iter().find(|(symbol, _)| self.takes(symbol)) {
            let (x, y) = (Box::new(left), Box::new(self.binary(level + 1)?));
            left = match operator {
                Operator::Sum => Expression::Sum(x, y),
                Operator::Difference => Expression::Difference(x, y),
                Operator::Product(product) => Expression::Product(product, x, y),
            };
        }
        Ok(left)
    }

    fn prefixed(&mut self) -> Result<Expression> {
        self.operands += 1;
        if self.operands > MAX_OPERANDS {
            return Err(self.wrong(format!("an expression has at most {MAX_OPERANDS} operands and prefixes")));
        }
        if self.takes("~") {
            return Ok(Expression::Unary(Unary::Reverse, Box::new(self.prefixed()?)));
        }
        if self.takes("-") {
            return Ok(Expression::Negative(Box::new(self.prefixed()?)));
        }
        self.operand()
    }

    fn operand(&mut self) -> Result<Expression> {
        let rest = self.rest();
        if let Some((value, end)) = Multivector::literal(self.signature, self.text, self.at)? {
            self.at = end;
            return Ok(Expression::Literal(value));
        }
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return self.function(&rest[..length]);
        }
        if !self.takes("(") {
            return Err(self.wrong("a number, a blade, a function or `(` is expected"));
        }
        let inner = self.binary(0)?;
        self.expect(")")?;
        Ok(inner)
    }

    fn function(&mut self, name: &str) -> Result<Expression> {
        let Some(&(_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            let names = FUNCTIONS.map(|(name, _)| name).join(" ");
            return Err(self.wrong(format!("`{name}` is not one of the functions {names}")));
        };
        self.at += name.len();
        self.expect("(")?;
        let x = Box::new(self.binary(0)?);
        let of = match function {
            Function::Unary(function) => Expression::Unary(function, x),
            Function::Inverse => Expression::Inverse(x),
            Function::Norm => Expression::Norm(x),
            Function::Grade => {
                self.expect(",")?;
                Expression::Grade(self.grade()?, x)
            }
            Function::Product(product) => {
                self.expect(",")?;
                Expression::Product(product, x, Box::new(self.binary(0)?))
            }
        };
        self.expect(")")?;
        Ok(of)
    }

    /// A grade of the algebra.
    fn grade(&mut self) -> Result<usize> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let largest = self.signature.dimension();
        match rest[..digits].parse() {
            Ok(grade) if grade <= largest => {
                self.at += digits;
                Ok(grade)
            }
            _ => Err(self.wrong(format!("a grade of {} is expected, 0 to {largest}", self.signature))),
        }
    }
}
