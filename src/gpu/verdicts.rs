//! What the self-tests found, kept across runs in a small text file for each adapter.

use super::kept::{checksum, replace};
use super::options::Checks;
use super::{Caps, CoopRow, GpuOptions, Verdict, self_test};
use crate::kernel::SHADERS;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};

/// The verdicts of one adapter and driver, as its file holds them: a line each behind a header.
pub(super) struct Verdicts {
    file: PathBuf,
    header: String,
    lines: Vec<String>,
    /// A file that is not to be relied on has been warned of; that it cannot be replaced says no more.
    warned: bool,
}

impl Verdicts {
    /// Reads what an earlier run has found. None where nothing is to be kept.
    pub(super) fn open(caps: &Caps, adapter: &wgpu::AdapterInfo, options: &GpuOptions) -> Option<Self> {
        let folder = options.cache.path()?;
        let identity = identity(caps, adapter, options.checks);
        let file = folder.join(format!("verdicts-{:016x}.txt", checksum(identity.as_bytes())));
        let header = header(caps, &identity);
        let read = read(&file, &header);
        if let Err(why) = &read {
            log::warn!(
                "the verdicts on cooperative matrices in {} are not used: {why}; the rows are tested anew",
                file.display()
            );
        }
        Some(Self { file, header, warned: read.is_err(), lines: read.unwrap_or_default() })
    }

    /// What was found about a row; [`Verdict::Untested`] where nothing was.
    pub(super) fn of(&self, row: &CoopRow) -> Verdict {
        let known = |&verdict: &Verdict| self.lines.contains(&line(row, verdict));
        let verdicts = [Verdict::Verified, Verdict::Wrong, Verdict::Refused];
        verdicts.into_iter().find(known).unwrap_or(Verdict::Untested)
    }

    /// Adds what was found about these rows, and keeps it.
    pub(super) fn keep(mut self, rows: &[CoopRow]) {
        self.lines.extend(rows.iter().map(|row| line(row, row.verdict)));
        let text = seal(&self.header, &self.lines);
        match replace(&self.file, text.as_bytes()) {
            Err(error) if !self.warned => log::warn!(
                "cannot keep the verdicts on cooperative matrices in {}: {error}",
                self.file.display()
            ),
            _ => {}
        }
    }
}

/// What makes a file that adapter's own. Verdicts on shaders with run-time checks say nothing about those without.
fn identity(caps: &Caps, adapter: &wgpu::AdapterInfo, checks: Checks) -> String {
    let wgpu::AdapterInfo { vendor, device, driver, .. } = adapter;
    let checks = match checks {
        Checks::Trusted => "trusted",
        Checks::Checked => "checked",
    };
    format!("{}, {}, {vendor:x}:{device:x}, {driver}, {checks} shaders", caps.adapter, caps.backend)
}

/// What a file of another crate, test or driver does not begin with.
fn header(caps: &Caps, identity: &str) -> String {
    let test = SHADERS.iter().find(|(name, _)| *name == self_test::SHADER).map_or("", |(_, text)| text);
    let subgroups = caps.subgroups.map_or("none".into(), |sizes| sizes.to_string());
    format!(
        "Verdicts of Tilewise on cooperative matrices. Delete this file, and the rows are tested anew.\n\
         version {}, test {:016x}\nadapter {identity}\ndriver {}\nsubgroups {subgroups}\n",
        env!("CARGO_PKG_VERSION"),
        checksum(test.as_bytes()),
        caps.driver,
    )
}

fn line(row: &CoopRow, verdict: Verdict) -> String {
    CoopRow { verdict, ..*row }.to_string()
}

pub(crate) fn seal(header: &str, lines: &[String]) -> String {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let text = [header, &body].concat();
    format!("{text}checksum {:016x}\n", checksum(text.as_bytes()))
}

/// The lines of a file with this header, none if there is no file, or why it is not to be relied on.
fn read(file: &Path, header: &str) -> Result<Vec<String>, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => unseal(&text, header),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn unseal(text: &str, header: &str) -> Result<Vec<String>, String> {
    let (body, _) = text.rsplit_once("checksum ").ok_or("it is damaged")?;
    let lines: Vec<String> = match body.strip_prefix(header) {
        Some(rows) => rows.lines().map(ToOwned::to_owned).collect(),
        None => return Err("it is of another driver, adapter or version, or damaged".into()),
    };
    if seal(header, &lines) == text { Ok(lines) } else { Err("it is damaged".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::fixtures;

    fn verdicts(lines: &[String]) -> Verdicts {
        Verdicts { file: PathBuf::new(), header: "header\n".into(), lines: lines.to_vec(), warned: false }
    }

    #[test]
    fn what_was_kept_is_found_by_row() {
        let rows = fixtures::apple_m2().rows;
        let lines = [line(&rows[0], Verdict::Wrong), line(&rows[1], Verdict::Verified)];
        let read = unseal(&seal("header\n", &lines), "header\n").expect("it is whole");
        assert_eq!(read, lines);
        let found = rows.iter().map(|row| verdicts(&read).of(row)).collect::<Vec<_>>();
        assert_eq!(found, [Verdict::Wrong, Verdict::Verified, Verdict::Untested]);
    }

    #[test]
    fn a_file_that_is_not_whole_or_not_ours_is_not_used() {
        let lines = [line(&fixtures::h200().rows[0], Verdict::Wrong)];
        let whole = seal("header\n", &lines);
        for (text, why) in [
            (whole.replace("wrong results", "good results"), "damaged"),
            (whole.replace(&lines[0], &line(&fixtures::h200().rows[0], Verdict::Verified)), "damaged"),
            (whole[..whole.len() - 2].into(), "damaged"),
            (format!("{whole}\n"), "damaged"),
            (String::new(), "damaged"),
            ("checksum checksum ".into(), "damaged"),
            (seal("another\n", &lines), "another driver"),
            (seal("", &lines), "another driver"),
        ] {
            let error = unseal(&text, "header\n").expect_err("it is not to be relied on");
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn whatever_a_verdict_depends_on_is_in_the_header() {
        let adapter = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
        let of = |caps: &Caps, checks| header(caps, &identity(caps, &adapter, checks));
        let caps = fixtures::h200();
        let usual = of(&caps, Checks::Trusted);
        assert!(usual.contains(env!("CARGO_PKG_VERSION")) && usual.contains("NVIDIA H200"), "{usual}");
        assert_ne!(usual, of(&caps, Checks::Checked));
        assert_ne!(usual, of(&Caps { driver: "NVIDIA 1.2".into(), ..caps.clone() }, Checks::Trusted));
        assert_ne!(usual, of(&Caps { adapter: "NVIDIA H100".into(), ..caps.clone() }, Checks::Trusted));
        assert_ne!(usual, of(&Caps { subgroups: None, ..caps.clone() }, Checks::Trusted));
        assert!(identity(&caps, &adapter, Checks::Trusted).contains("trusted"));
    }
}
