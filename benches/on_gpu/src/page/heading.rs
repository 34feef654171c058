//! The top of the page: device, driver, date, commit, command, and how each section ended.

use crate::rows::SectionRow;
use crate::section::Section;
use bench::about;
use bench::table::Table;
use clap::ValueEnum;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What only the caller knows.
pub(crate) struct Head {
    /// The command that was called.
    pub(crate) command: String,
    /// The commit of the programs.
    pub(crate) commit: String,
}

/// The top of the page.
pub(super) fn text(dir: &Path, head: &Head, sections: &[SectionRow]) -> String {
    let (device, driver) = device(dir).unwrap_or_default();
    let title = if device.is_empty() { "an unknown device" } else { &device };
    let mut about = Table::new(["device", "driver", "date", "commit", "command"]);
    about.row([&device, &driver, &about::today(), &head.commit, &format!("`{}`", head.command)]);
    let mut ended = Table::new(["section", "result", "seconds"]);
    for row in sections {
        ended.row([row.section.clone(), row.result.clone(), row.seconds.to_string()]);
    }
    format!("# Tilewise on {title}\n\n{about}\n{ended}")
}

/// Device and driver, as the first row of the first section has them, or else as the example `info` does.
fn device(dir: &Path) -> Option<(String, String)> {
    let first_row = |section: &Section| {
        let text = fs::read_to_string(dir.join(section.file())).ok()?;
        names(&serde_json::from_str(text.lines().next()?).ok()?)
    };
    // Peers name their device too, but not its driver.
    let measured = Section::value_variants().iter().find_map(first_row);
    measured.or_else(|| {
        let text = fs::read_to_string(dir.join("info.json")).ok()?;
        let info: Value = serde_json::from_str(&text).ok()?;
        names(info.get("devices")?.get(0)?)
    })
}

fn names(row: &Value) -> Option<(String, String)> {
    let name = |field| row.get(field)?.as_str().map(str::to_owned);
    Some((name("device")?, name("driver")?))
}
