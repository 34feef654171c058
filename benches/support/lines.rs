//! Results as JSON lines: each line is one row of a known type, or is reported with its file and line.

use super::file::{FileError, replace};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// All rows of a file.
#[derive(Debug)]
pub struct Rows<T> {
    pub rows: Vec<T>,
    /// Why nothing was measured, if the program said so.
    pub skipped: Option<String>,
    /// Lines that are no such row.
    pub malformed: Vec<Malformed>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), skipped: None, malformed: Vec::new() }
    }
}

/// Why a program measured nothing.
#[derive(Serialize, Deserialize)]
pub struct SkippedRow {
    pub skipped: String,
}

/// A line that could not be read.
#[derive(Debug)]
pub struct Malformed {
    file: String,
    line: usize,
    why: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.file, self.line, self.why)
    }
}

/// The rows of a text of JSON lines; `file` is its name in reports.
pub fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Rows<T> {
    let mut all = Rows::default();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        match row(text) {
            Ok(Line::Measured(row)) => all.rows.push(row),
            Ok(Line::Skipped(why)) => all.skipped = Some(why),
            Err(error) => {
                // Each line is a text of its own for the parser: `at line 1 column 7`.
                let why = error.to_string().replace(" at line 1 column ", " at column ");
                all.malformed.push(Malformed { file: file.into(), line, why });
            }
        }
    }
    all
}

/// What a line says.
enum Line<T> {
    Measured(T),
    Skipped(String),
}

fn row<T: DeserializeOwned>(text: &str) -> serde_json::Result<Line<T>> {
    let value: Value = serde_json::from_str(text)?;
    if value.get("skipped").is_some() {
        return serde_json::from_value(value).map(|row: SkippedRow| Line::Skipped(row.skipped));
    }
    serde_json::from_value(value).map(Line::Measured)
}

/// The rows of a file, which is called `name` in reports.
pub fn read<T: DeserializeOwned>(path: &Path, name: &str) -> Result<Rows<T>, FileError> {
    let text = std::fs::read(path).map_err(FileError::of("read", path))?;
    Ok(parse(name, &String::from_utf8_lossy(&text)))
}

/// Replaces a file by these rows.
pub fn write<T: Serialize>(path: &Path, rows: &[T]) -> Result<(), FileError> {
    let text: Result<String, _> = rows.iter().map(line).collect();
    text.and_then(|text| replace(path, text.as_bytes())).map_err(FileError::of("write", path))
}

fn line(row: &impl Serialize) -> std::io::Result<String> {
    Ok(serde_json::to_string(row)? + "\n")
}

/// A file that grows line by line.
pub struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    /// Keeps the lines that the file has.
    pub fn append_to(path: &Path) -> Result<Self, FileError> {
        let file =
            File::options().create(true).append(true).open(path).map_err(FileError::of("write", path))?;
        Ok(Self { path: path.into(), file })
    }

    /// Writes a row at once, so that an interrupted run keeps it.
    pub fn append(&mut self, row: &impl Serialize) -> Result<(), FileError> {
        let written = line(row).and_then(|line| self.file.write_all(line.as_bytes()));
        written.map_err(FileError::of("write", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Row {
        test: String,
        seconds: u64,
    }

    #[test]
    fn a_malformed_row_is_reported_with_its_file_and_line() {
        let text =
            "{\"test\":\"gemm\",\"seconds\":3}\n\n{\"test\":\"ops\"}\n{\"test\":\"ops\",\"seconds\":tr\n";
        let rows = parse::<Row>("sweep.jsonl", text);
        let reports: Vec<String> = rows.malformed.iter().map(ToString::to_string).collect();
        assert_eq!(rows.rows.len(), 1);
        assert_eq!(
            reports,
            [
                "sweep.jsonl, line 3: missing field `seconds`",
                "sweep.jsonl, line 4: EOF while parsing a value at column 26"
            ]
        );
    }

    #[test]
    fn a_program_may_say_why_it_measured_nothing() {
        let rows = parse::<Row>("peers.jsonl", "{\"skipped\":\"there is no python3\"}\n");
        assert_eq!(rows.skipped.as_deref(), Some("there is no python3"));
        assert!(rows.rows.is_empty() && rows.malformed.is_empty());
    }

    #[test]
    fn rows_are_appended_or_replace_those_of_a_file() -> Result<(), FileError> {
        let path = std::env::temp_dir().join(format!("tilewise-lines-{}.jsonl", std::process::id()));
        let row = Row { test: "gemm".into(), seconds: 3 };
        for _ in 0..2 {
            Lines::append_to(&path)?.append(&row)?;
        }
        assert_eq!(read::<Row>(&path, "")?.rows.len(), 2);
        write(&path, &[row])?;
        assert_eq!(read::<Row>(&path, "")?.rows.len(), 1);
        std::fs::remove_file(&path).map_err(FileError::of("remove", &path))?;
        let refused = [Lines::append_to(&std::env::temp_dir()).err(), read::<Row>(&path, "").err()];
        let refused = refused.map(|error| error.map_or_else(String::new, |error| error.to_string()));
        assert!(
            refused[0].starts_with("cannot write ") && refused[1].starts_with("cannot read "),
            "{refused:?}"
        );
        Ok(())
    }
}
