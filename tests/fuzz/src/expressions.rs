//! Expressions of multivectors: every text parses, or is an error that points to a place in the text.

use crate::expression::Value;
use crate::parser::parse;
use tilewise::clifford::{Multivector, Product, Signature, Unary};
use tilewise::{Error, Result};

const SIGNATURES: [[usize; 3]; 8] =
    [[0, 0, 0], [2, 0, 0], [3, 0, 0], [3, 0, 1], [1, 3, 0], [2, 1, 1], [0, 0, 3], [4, 3, 1]];

/// The value of an expression in f64.
#[derive(Clone)]
struct Exact(Multivector);

impl Value for Exact {
    fn add(&self, y: &Self) -> Result<Self> {
        self.0.add(&y.0).map(Self)
    }
    fn negative(&self) -> Result<Self> {
        Ok(Self(self.0.scaled(-1.0)))
    }
    fn product(&self, product: Product, y: &Self) -> Result<Self> {
        self.0.product(product, &y.0).map(Self)
    }
    fn unary(&self, function: Unary) -> Result<Self> {
        Ok(Self(self.0.unary(function)))
    }
    fn inverse(&self) -> Result<Self> {
        self.0.inverse().map(Self)
    }
    fn norm(&self) -> Result<Self> {
        Ok(Self(Multivector::scalar_of(self.0.signature(), self.0.norm())))
    }
    fn grade(&self, grade: usize) -> Result<Self> {
        Ok(Self(self.0.project(&[grade])))
    }
}

/// The first byte selects the algebra.
pub(crate) fn expression(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let [p, q, r] = SIGNATURES[usize::from(first) % SIGNATURES.len()];
    let mut signature = Signature::new(p, q, r).unwrap();
    if first >= 128 {
        signature = signature.null_first();
    }
    match Multivector::parse(signature, &text) {
        Ok(value) if value.max_abs().is_finite() => {
            let written = value.to_string();
            let read = Multivector::parse(signature, &written);
            assert_eq!(read.unwrap_or_else(|e| panic!("{written}: {e}")), value, "{written}");
        }
        Ok(_) => {}
        Err(error) => assert_shows(&error, &text),
    }
    match parse(signature, &text) {
        Ok(_) if signature.dimension() > 4 => {}
        Ok(expression) => {
            let value = expression.evaluate(&|x: &Multivector| Ok(Exact(x.clone())));
            if let Ok(Exact(value)) = value {
                assert_eq!(value.signature(), signature);
            }
        }
        Err(error) => assert_shows(&error, &text),
    }
}

fn assert_shows(error: &Error, text: &str) {
    assert!(matches!(error, Error::Input { .. }), "{text}: {error}");
    assert!(error.to_string().contains('^'), "{text}: {error}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let of = |(signature, text): (u8, &str)| [&[signature], text.as_bytes()].concat();
    let texts = [
        (2, "(1 + 2e12) * e3"),
        (2, "rev(e12) + 10 * inv(0.5e1) + 100 * dual(e1) + undual(e2) + involute(2e2) + conj(3e3)"),
        (2, "norm(3e1 + 4e2) + grade(7 + 5e1 + e12, 1) + comm(e1, e13) + scalar(8e23, e23)"),
        (131, "e12 & e30 + (e1 ^ e2 | e2) . 3e1 - 1e-3*e0"),
        (1, "e1 << e12 >> ~e2 ^ -e1"),
        (7, "(1 + e1234) * (e5 + e7) ^ (e2 - 0.1e0)"),
        (4, "1 - 2.5e+12 + 1e-308 e1234"),
        (0, "((((1))))"),
    ];
    texts.into_iter().map(of).collect()
}
