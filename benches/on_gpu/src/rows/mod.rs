//! Results as JSON lines: each line is one row of a known type, or is reported with its file and line.

pub(crate) mod peer;
mod product;
pub(crate) mod tile;
mod variant;

pub(crate) use peer::PeerRow;
pub(crate) use product::Product;
pub(crate) use tile::TileRow;
pub(crate) use variant::{Paired, VariantRow};

use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::path::Path;

/// All rows of a file.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    /// The rows that were measured.
    pub(crate) rows: Vec<T>,
    /// Why nothing was measured, if the program said so.
    pub(crate) skipped: Option<String>,
    /// Lines that are no such row.
    pub(crate) malformed: Vec<Malformed>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), skipped: None, malformed: Vec::new() }
    }
}

/// A line that could not be read.
#[derive(Debug)]
pub(crate) struct Malformed {
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
pub(crate) fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Rows<T> {
    let mut all = Rows::default();
    for (line, text) in (1..).zip(text.lines()) {
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

/// The rows of a file in `dir`; none if there is no such file.
pub(crate) fn read<T: DeserializeOwned>(dir: &Path, file: &str) -> Result<Rows<T>> {
    let path = dir.join(file);
    if !path.is_file() {
        return Ok(Rows::default());
    }
    let text = std::fs::read(&path).map_err(Error::file("read", &path))?;
    Ok(parse(file, &String::from_utf8_lossy(&text)))
}

/// Writes rows as JSON lines.
pub(crate) fn write<T: Serialize>(path: &Path, rows: &[T]) -> Result<()> {
    let lines: serde_json::Result<Vec<String>> = rows.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| Error::File {
        action: "write",
        path: path.display().to_string(),
        source: error.into(),
    })?;
    let text = lines.into_iter().map(|line| line + "\n").collect::<String>();
    std::fs::write(path, text).map_err(Error::file("write", path))
}

/// Why a program measured nothing.
#[derive(Serialize, Deserialize)]
pub(crate) struct SkippedRow {
    pub(crate) skipped: String,
}

/// How a section ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SectionRow {
    pub(crate) section: String,
    pub(crate) result: String,
    pub(crate) seconds: u64,
}

/// What came of the tests of one program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TestRow {
    pub(crate) test: String,
    pub(crate) ok: bool,
    pub(crate) passed: u64,
    pub(crate) seconds: u64,
}

/// A field that a row must have.
fn field<T: DeserializeOwned>(value: &Value, name: &str) -> serde_json::Result<T> {
    T::deserialize(value.get(name).unwrap_or(&Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_row_is_reported_with_its_file_and_line() {
        let text = "{\"test\":\"gemm\",\"ok\":true,\"passed\":7,\"seconds\":3}\n\
                    {\"test\":\"ops\",\"ok\":true,\"passed\":7}\n\
                    {\"test\":\"ops\",\"ok\":tr\n";
        let rows = parse::<TestRow>("sweep.jsonl", text);
        let reports: Vec<String> = rows.malformed.iter().map(ToString::to_string).collect();
        assert_eq!(rows.rows.len(), 1);
        assert_eq!(
            reports,
            [
                "sweep.jsonl, line 2: missing field `seconds`",
                "sweep.jsonl, line 3: EOF while parsing a value at column 21"
            ]
        );
    }

    #[test]
    fn a_program_may_say_why_it_measured_nothing() {
        let rows = parse::<TestRow>("peers.jsonl", "{\"skipped\":\"there is no python3\"}\n");
        assert_eq!(rows.skipped.as_deref(), Some("there is no python3"));
        assert!(rows.rows.is_empty() && rows.malformed.is_empty());
    }

    /// The results that the book quotes can still be shown.
    #[test]
    fn committed_results_are_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
        let mut files = 0;
        for folder in std::fs::read_dir(root).expect("the folder of results").flatten() {
            for file in std::fs::read_dir(folder.path()).expect("a folder of results").flatten() {
                let (path, name) = (file.path(), file.file_name().to_string_lossy().into_owned());
                if path.extension().is_none_or(|ending| ending != "jsonl") {
                    continue;
                }
                if name == "cases.jsonl" {
                    continue; // of benches/peers, whose own test reads it
                }
                files += 1;
                let text = std::fs::read_to_string(&path).expect("text");
                let malformed = match name.split_once('.').map_or(name.as_str(), |(stem, _)| stem) {
                    "peaks" => parse::<crate::page::PeakRow>(&name, &text).malformed,
                    "host" => parse::<crate::page::HostRow>(&name, &text).malformed,
                    "factor" => parse::<crate::page::FactorRow>(&name, &text).malformed,
                    _ => parse::<VariantRow>(&name, &text).malformed,
                };
                assert!(malformed.is_empty(), "{}: {}", path.display(), malformed[0]);
            }
        }
        assert!(files >= 10, "{files} files");
    }
}
