//! The page: a heading, the ratios to cuBLAS, and a part for every section that left results.

mod factor;
mod flash;
mod gemm;
mod heading;
mod host;
mod network;
mod notes;
mod peaks;
mod peers;
mod ratios;
mod staging;
mod sweep;
mod tiles;
mod variants;

#[cfg(test)]
pub(crate) use {factor::FactorRow, host::HostRow, peaks::PeakRow};

use crate::error::Result;
use crate::rows;
use crate::section::Section;
use bench::file::FileError;
use bench::lines::Rows;
use clap::ValueEnum;
use serde::de::DeserializeOwned;
use std::path::Path;

pub(crate) use heading::Head;

/// The page of a folder of results.
pub(crate) struct Page {
    /// All of it, in Markdown.
    pub(crate) text: String,
    /// The tables of ratios alone; empty if nothing was measured that they show.
    pub(crate) ratios: String,
    /// Lines of results that could not be read.
    pub(crate) malformed: Vec<String>,
}

impl Page {
    /// Shows all sections whose results are in `dir`, whichever call ran them.
    pub(crate) fn of(dir: &Path, head: &Head) -> Result<Self> {
        let sections = rows::read(dir, "sections.jsonl")?;
        let mut page = Self {
            text: heading::text(dir, head, &sections.rows),
            ratios: String::new(),
            malformed: Vec::new(),
        };
        page.report(&sections);
        page.ratios = ratios(dir)?;
        if !page.ratios.is_empty() {
            page.text += &format!("\n## Ratios\n\n{}", page.ratios);
        }
        for &section in Section::value_variants() {
            page.section(dir, section)?;
        }
        page.printed(dir, Section::Info)?;
        Ok(page)
    }

    fn section(&mut self, dir: &Path, section: Section) -> Result<()> {
        match section {
            // The devices come last: they are the longest part.
            Section::Info => Ok(()),
            Section::Sweep | Section::Checked => self.part(dir, section, sweep::text),
            Section::Gemm => self.part(dir, section, gemm::text),
            Section::Tiles => self.part(dir, section, tiles::text),
            Section::Peaks => self.part(dir, section, peaks::text),
            Section::Host => self.part(dir, section, host::text),
            Section::Factor => self.part(dir, section, factor::text),
            Section::Staging => self.part(dir, section, staging::text),
            Section::Embed | Section::Frames => self.part(dir, section, network::text),
            Section::Benchmark | Section::Tune => self.printed(dir, section),
            Section::Attention
            | Section::Conv
            | Section::Norms
            | Section::Rows
            | Section::Ops
            | Section::Windows
            | Section::Variants
            | Section::Sketch
            | Section::SketchedLayers
            | Section::Clifford
            | Section::CliffordLayers
            | Section::Connected => self.part(dir, section, variants::text),
            Section::Flash => self.part(dir, section, flash::text),
            Section::Peers => self.part(dir, section, peers::text),
        }
    }

    /// A section's part, if it left results.
    fn part<T: DeserializeOwned>(
        &mut self,
        dir: &Path,
        section: Section,
        text: impl Fn(&[T]) -> String,
    ) -> Result<()> {
        let rows: Rows<T> = rows::read(dir, &section.file())?;
        if rows.rows.is_empty() && rows.skipped.is_none() && rows.malformed.is_empty() {
            return Ok(());
        }
        self.text += &format!("\n## {}\n\n", section.title());
        if let Some(why) = &rows.skipped {
            self.text += &format!("Skipped: {why}.\n");
        }
        if !rows.rows.is_empty() {
            self.text += &text(&rows.rows);
        }
        self.report(&rows);
        Ok(())
    }

    /// Lists the lines that could not be read.
    fn report<T>(&mut self, rows: &Rows<T>) {
        let reports: Vec<String> = rows.malformed.iter().map(ToString::to_string).collect();
        if !reports.is_empty() {
            self.text += &format!("\nMalformed rows, which are not shown:\n\n- {}\n", reports.join("\n- "));
        }
        self.malformed.extend(reports);
    }

    /// What a section's program printed for people.
    fn printed(&mut self, dir: &Path, section: Section) -> Result<()> {
        let path = dir.join(section.file());
        if path.is_file() {
            let text = std::fs::read_to_string(&path).map_err(FileError::of("read", &path))?;
            if !text.is_empty() {
                self.text += &format!("\n## {}\n\n```text\n{}\n```\n", section.title(), text.trim_end());
            }
        }
        Ok(())
    }
}

/// The ratios to cuBLAS, if tiles or variants were measured.
fn ratios(dir: &Path) -> Result<String> {
    let tiles = rows::read(dir, &Section::Tiles.file())?;
    let variants = rows::read(dir, &Section::Variants.file())?;
    if tiles.rows.is_empty() && variants.rows.is_empty() {
        return Ok(String::new());
    }
    Ok(ratios::text(&tiles.rows, &variants.rows, &rows::read(dir, &Section::Peers.file())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_page_shows_each_file_and_what_it_cannot_read() {
        let dir = std::env::temp_dir().join(format!("on-gpu-page-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a folder");
        let file = |name: &str, text: &str| fs::write(dir.join(name), text).expect("it is written");
        file("sections.jsonl", "{\"section\":\"sweep\",\"result\":\"failed\",\"seconds\":12}\n");
        file("sweep.jsonl", "{\"test\":\"gemm\",\"ok\":false,\"passed\":7,\"seconds\":3}\n{\"test\":1}\n");
        file("peers.jsonl", "{\"skipped\":\"there is no python3\"}\n");
        file("info.txt", "0: a GPU\n");
        file("info.json", r#"{"devices":[{"device":"a GPU","driver":"its driver"}]}"#);
        file("tiles.jsonl", "");
        let head = Head { command: "on_gpu DIR".into(), commit: "1234567".into() };
        let page = Page::of(&dir, &head).expect("all files are read");
        fs::remove_dir_all(&dir).expect("it was there");
        assert!(page.text.starts_with("# Tilewise on a GPU\n\n| device |"), "{}", page.text);
        for part in [
            "| a GPU | its driver |",
            "| sweep | failed | 12 |",
            "## Tests, full sweep\n\n| test | passed | seconds | ok |\n|---|---|---|---|\n| gemm | 7 | 3 | false |\n",
            "- sweep.jsonl, line 2: invalid type: integer `1`, expected a string\n",
            "## cuBLAS\n\nSkipped: there is no python3.\n",
            "## Devices\n\n```text\n0: a GPU\n```\n",
        ] {
            assert!(page.text.contains(part), "no `{part}` in\n{}", page.text);
        }
        assert_eq!(page.malformed.len(), 1);
        assert!(page.ratios.is_empty() && !page.text.contains("## Tiles"));
    }
}
