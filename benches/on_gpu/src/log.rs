//! The log of a section and its line in the list of sections.

use crate::error::Result;
use crate::rows::{self, SectionRow};
use crate::section::Section;
use bench::file::FileError;
use bench::lines;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Lines of a failed section's log that are shown at once.
const SHOWN: usize = 20;

/// The log of a section that is running: what its programs print on stderr.
pub(crate) struct Log {
    dir: PathBuf,
    section: Section,
    started: Instant,
    file: File,
}

impl Log {
    /// Begins the log of a section, whose time starts now.
    pub(crate) fn begin(dir: &Path, section: Section) -> Result<Self> {
        let path = dir.join(".log");
        let file = File::create(&path).map_err(FileError::of("write", &path))?;
        Ok(Self { dir: dir.into(), section, started: Instant::now(), file })
    }

    /// When the section started.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Adds a line.
    pub(crate) fn say(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.file, "{text}").map_err(FileError::of("write", &self.dir.join(".log")))?)
    }

    /// The file, for a program's stderr.
    pub(crate) fn file(&self) -> Result<File> {
        Ok(self.file.try_clone().map_err(FileError::of("share", &self.dir.join(".log")))?)
    }

    /// Ends the log: appends it to `log.txt`, shows the end of a failed section's, and replaces the section's line in
    /// `sections.jsonl`. Returns the seconds that the section took.
    pub(crate) fn end(mut self, result: &Result<()>, verdict: &str) -> Result<u64> {
        if let Err(error) = result {
            self.say(&format!("on_gpu: {error}"))?;
        }
        let path = self.dir.join(".log");
        let text = std::fs::read(&path).map_err(FileError::of("read", &path))?;
        let text = String::from_utf8_lossy(&text);
        let all = self.dir.join("log.txt");
        let mut to =
            OpenOptions::new().create(true).append(true).open(&all).map_err(FileError::of("write", &all))?;
        write!(to, "##### {}\n{text}", self.section).map_err(FileError::of("write", &all))?;
        if verdict == "failed" {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(SHOWN)..].iter().for_each(|line| eprintln!("{line}"));
        }
        std::fs::remove_file(&path).map_err(FileError::of("remove", &path))?;

        let seconds = self.started.elapsed().as_secs();
        let name = self.section.to_string();
        let mut ended = rows::read::<SectionRow>(&self.dir, "sections.jsonl")?.rows;
        ended.retain(|row| row.section != name);
        ended.push(SectionRow { section: name, result: verdict.into(), seconds });
        lines::write(&self.dir.join("sections.jsonl"), &ended)?;
        Ok(seconds)
    }
}
