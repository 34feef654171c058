//! Tables, in Markdown or with aligned columns.

use std::fmt;

/// A table; nothing is printed of one without rows.
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table for a terminal. Words begin at the left of their columns; numbers, in all other columns, end at the right.
    pub fn aligned(&self, words: &[&str]) -> String {
        let lines = || std::iter::once(&self.columns).chain(&self.rows);
        let width = |at: usize| lines().map(|line| line[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let cell = |((cell, column), &width): ((&String, &String), &usize)| {
            if words.contains(&column.as_str()) {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        };
        let text = |line: &Vec<String>| {
            let cells: Vec<String> = line.iter().zip(&self.columns).zip(&widths).map(cell).collect();
            cells.join("  ").trim_end().to_owned() + "\n"
        };
        lines().map(text).collect()
    }
}

/// In Markdown.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        line(f, &self.columns)?;
        writeln!(f, "|{}", "---|".repeat(self.columns.len()))?;
        self.rows.iter().try_for_each(|cells| line(f, cells))
    }
}

fn line(f: &mut fmt::Formatter<'_>, cells: &[String]) -> fmt::Result {
    write!(f, "|")?;
    for cell in cells {
        write!(f, " {} |", cell.replace('|', "\\|").replace('\n', " "))?;
    }
    writeln!(f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_rule_and_escapes_bars() {
        let mut table = Table::new(["a", "b"]);
        assert_eq!(table.to_string(), "");
        table.row(["1", "x|y"]);
        assert_eq!(table.to_string(), "| a | b |\n|---|---|\n| 1 | x\\|y |\n");
    }

    #[test]
    fn words_begin_at_the_left_and_numbers_end_at_the_right() {
        let mut table = Table::new(["op", "ms", "check"]);
        table.row(["gemm", "12.5", "ok"]);
        table.row(["a", "1", "WRONG"]);
        assert_eq!(table.aligned(&["op", "check"]), "op      ms  check\ngemm  12.5  ok\na        1  WRONG\n");
    }
}
