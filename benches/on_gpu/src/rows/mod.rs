//! The rows that programs print as JSON lines.

pub(crate) mod tile;

pub(crate) use tile::TileRow;

use crate::error::Result;
use bench::lines::{self, Rows};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The rows of a file in `dir`; none if there is no such file.
pub(crate) fn read<T: DeserializeOwned>(dir: &Path, file: &str) -> Result<Rows<T>> {
    let path = dir.join(file);
    if path.is_file() { Ok(lines::read(&path, file)?) } else { Ok(Rows::default()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;
    use bench::rows::VariantRow;

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
