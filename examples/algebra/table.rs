//! The table of a product of basis blades.

use serde_json::{Value, json};
use std::fmt;
use tilewise::clifford::{Product, Signature};

/// The products of all pairs of blades, in short-lex order, by their names.
pub(crate) struct Table {
    signature: Signature,
    product: Product,
    names: Vec<String>,
    /// By row, that of the left operand.
    entries: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(signature: Signature, product: Product) -> Self {
        let blades = signature.blades();
        let entry = |a: u8, b: u8| match product.of_blades(signature, a, b) {
            Some((c, 1)) => signature.name(c),
            Some((c, _)) => format!("-{}", signature.name(c)),
            None => "0".to_owned(),
        };
        let row = |&a: &u8| blades.masks().iter().map(|&b| entry(a, b)).collect();
        Self {
            signature,
            product,
            names: blades.masks().iter().map(|&blade| signature.name(blade)).collect(),
            entries: blades.masks().iter().map(row).collect(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "signature": self.signature.to_string(),
            "product": self.product.name(),
            "blades": self.names,
            "table": self.entries,
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} product of {}: row times column", self.product, self.signature)?;
        let width = |column: usize| {
            let entries = self.entries.iter().map(|row| row[column].len());
            entries.chain([self.names[column].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        let first = self.names.iter().map(String::len).max().unwrap_or(0);
        let line = |f: &mut fmt::Formatter<'_>, name: &str, cells: &[String]| {
            write!(f, "{name:>first$} |")?;
            for (cell, width) in cells.iter().zip(&widths) {
                write!(f, " {cell:>width$}")?;
            }
            writeln!(f)
        };
        line(f, "", &self.names)?;
        let all: usize = widths.iter().map(|width| width + 1).sum();
        writeln!(f, "{}-+{}", "-".repeat(first), "-".repeat(all))?;
        self.names.iter().zip(&self.entries).try_for_each(|(name, row)| line(f, name, row))
    }
}
