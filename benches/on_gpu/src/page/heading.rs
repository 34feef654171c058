//! The top of the page: device, driver, date, commit, command, and how each section ended.

use crate::markdown::Table;
use crate::rows::SectionRow;
use crate::section::Section;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

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
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    about.row([&device, &driver, &date(seconds), &head.commit, &format!("`{}`", head.command)]);
    let mut ended = Table::new(["section", "result", "seconds"]);
    for row in sections {
        ended.row([row.section.clone(), row.result.clone(), row.seconds.to_string()]);
    }
    format!("# Tilewise on {title}\n\n{about}\n{ended}")
}

/// Device and driver, as the first row of the first section has them, or else as the example `info` does.
fn device(dir: &Path) -> Option<(String, String)> {
    let first_row = |section: Section| {
        let text = fs::read_to_string(dir.join(section.file())).ok()?;
        names(&serde_json::from_str(text.lines().next()?).ok()?)
    };
    // Peers name their device too, but not its driver.
    let measured = Section::ALL.into_iter().find_map(first_row);
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

/// The date, in UTC, of a number of seconds since the beginning of 1970.
fn date(seconds: u64) -> String {
    // Days from 1 March 0000, in years that end with February (Hinnant, *chrono-compatible low-level date algorithms*).
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_764_028_799), "2025-11-24");
        assert_eq!(date(1_764_028_800), "2025-11-25");
    }
}
