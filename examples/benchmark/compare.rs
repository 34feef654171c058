//! A run against a saved one: which rows take longer, and which exist in one of both only.

use crate::record::{Row, Run};
use bench::statistics::FEWEST;
use serde::Serialize;
use std::fmt;
use std::path::Path;
use tilewise::{Error, Result};

/// How much slower a row is: each row has the highest level that it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// At least 5%.
    Notice,
    /// At least 10%.
    Warning,
    /// At least 25%.
    Alert,
}

impl Level {
    /// The levels, the highest first, and from which slowdown on they hold.
    const FROM: [(Self, f64); 3] = [(Self::Alert, 0.25), (Self::Warning, 0.10), (Self::Notice, 0.05)];
    /// Rounding of a ratio.
    const ROUNDING: f64 = 1e-9;

    fn of(slowdown: f64) -> Option<Self> {
        let reached = |&(_, from): &(Self, f64)| slowdown >= from - Self::ROUNDING;
        Self::FROM.into_iter().find(reached).map(|(level, _)| level)
    }
}

/// A row of both runs.
#[derive(Debug, Serialize)]
pub(crate) struct Pair {
    pub(crate) row: String,
    /// Medians.
    pub(crate) was_seconds: f64,
    pub(crate) seconds: f64,
    /// Their difference as a share of the saved one; below zero the row is faster now.
    pub(crate) slower_median: f64,
    /// The difference of the fastest quarters, which decides.
    pub(crate) slower: f64,
    /// How far both quarters may be off, as a share of the saved one: their uncertainties, added as squares. None if one of the
    /// runs has fewer than five rounds of the row.
    pub(crate) noise: Option<f64>,
    /// None if the row is not slower, or not by more than the noise, or if that is not known.
    pub(crate) level: Option<Level>,
    /// The kernels, if the plans differ.
    pub(crate) other_kernels: Option<[String; 2]>,
}

impl Pair {
    fn new(was: &Row, now: &Row) -> Self {
        let medians = [was, now].map(|row| row.spread().median);
        let [before, after] = [was, now].map(Row::fast_quarter);
        let slower = after.seconds / before.seconds - 1.0;
        let noise = before.uncertainty.zip(after.uncertainty).map(|(a, b)| a.hypot(b) / before.seconds);
        let kernels = [was, now].map(|row| format!("{} {}", row.kernel, row.tile));
        Self {
            row: now.name(),
            was_seconds: medians[0],
            seconds: medians[1],
            slower_median: medians[1] / medians[0] - 1.0,
            slower,
            noise,
            level: Level::of(slower).filter(|_| noise.is_some_and(|noise| slower > noise)),
            other_kernels: (kernels[0] != kernels[1]).then_some(kernels),
        }
    }

    /// Whether the difference, in either direction, is not larger than the noise.
    fn is_within_noise(&self) -> bool {
        self.noise.is_some_and(|noise| self.slower.abs() <= noise)
    }

    fn is_faster(&self) -> bool {
        self.noise.is_some_and(|noise| -self.slower > noise)
    }

    /// Whether the row is slower by more than the noise, and by too little for a level.
    fn is_little_slower(&self) -> bool {
        self.level.is_none() && self.noise.is_some_and(|noise| self.slower > noise)
    }

    /// Whether the noise hides a slowdown that is a warning.
    fn is_noisy(&self) -> bool {
        self.noise.is_some_and(|noise| Level::of(noise) >= Some(Level::Warning))
    }
}

/// A run against a saved one.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    pub(crate) file: String,
    pub(crate) date: String,
    pub(crate) version: String,
    /// Whether the saved run came to its end.
    pub(crate) finished: bool,
    pub(crate) pairs: Vec<Pair>,
    /// Rows of the saved run, and of this one, that the other has not.
    pub(crate) only_saved: Vec<String>,
    pub(crate) only_now: Vec<String>,
}

/// Refuses a saved run of another device or driver.
pub(crate) fn check_device(path: &Path, saved: &Run, [device, driver]: [&str; 2]) -> Result<()> {
    if [&saved.device, &saved.driver] == [device, driver] {
        return Ok(());
    }
    let why = format!(
        "was measured on {}, {}; this run is on {device}, {driver}: times of two devices or drivers are not compared",
        saved.device, saved.driver
    );
    Err(Error::Input { what: format!("--compare {}", path.display()), why })
}

/// Refuses a saved run that has none of these rows: nothing would be compared.
pub(crate) fn check_common(path: &Path, saved: &Run, names: impl IntoIterator<Item = String>) -> Result<()> {
    let names: Vec<String> = names.into_iter().collect();
    if saved.rows.iter().any(|row| names.contains(&row.name())) {
        return Ok(());
    }
    let some = |mut names: Vec<String>| {
        let count = names.len();
        names.truncate(3);
        let more = if count > 3 { format!(" and {} more", count - 3) } else { String::new() };
        if count == 0 { "no rows".into() } else { names.join(", ") + &more }
    };
    let why = format!(
        "has no row of this run, so nothing would be compared: it has {}, this run {}",
        some(saved.rows.iter().map(Row::name).collect()),
        some(names)
    );
    Err(Error::Input { what: format!("--compare {}", path.display()), why })
}

impl Comparison {
    /// Of the rows of a run with those of a saved one.
    pub(crate) fn new(path: &Path, saved: &Run, now: &Run) -> Self {
        let of = |run: &Run, name: &str| run.rows.iter().find(|row| row.name() == name).cloned();
        let pair = |row: &Row| of(saved, &row.name()).map(|was| Pair::new(&was, row));
        let only = |run: &Run, other: &Run| -> Vec<String> {
            run.rows.iter().map(Row::name).filter(|name| of(other, name).is_none()).collect()
        };
        Self {
            file: path.display().to_string(),
            date: saved.date.clone(),
            version: saved.version.clone(),
            finished: saved.finished,
            pairs: now.rows.iter().filter_map(pair).collect(),
            only_saved: only(saved, now),
            only_now: only(now, saved),
        }
    }

    /// Whether a row is slower by 10% or more.
    pub(crate) fn has_regressions(&self) -> bool {
        self.pairs.iter().any(|pair| pair.level >= Some(Level::Warning))
    }

    /// Whether any row of both runs has enough rounds to say whether it is slower.
    pub(crate) fn says_something(&self) -> bool {
        self.pairs.iter().any(|pair| pair.noise.is_some())
    }

    /// The number of rows at a level.
    fn count(&self, level: Level) -> usize {
        self.pairs.iter().filter(|pair| pair.level == Some(level)).count()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Alert => "alert",
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, date, version, .. } = self;
        writeln!(f, "compared   with {file}, {date}, version {version}")?;
        if version != env!("CARGO_PKG_VERSION") {
            writeln!(f, "           another version than this one, {}", env!("CARGO_PKG_VERSION"))?;
        }
        if !self.finished {
            writeln!(f, "           that run was interrupted")?;
        }
        let mut slower: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.level.is_some()).collect();
        slower.sort_by(|a, b| b.slower.total_cmp(&a.slower));
        for pair in slower {
            let Some(level) = pair.level else { continue };
            let [percent, median, noise] =
                [pair.slower, pair.slower_median, pair.noise.unwrap_or(0.0)].map(|share| share * 100.0);
            write!(f, "{level:<10} {} takes {percent:.1}% longer ", pair.row)?;
            write!(f, "(noise {noise:.1}%; the median takes {median:.1}% longer)")?;
            match &pair.other_kernels {
                Some([was, now]) => writeln!(f, ": {was} before, {now} now")?,
                None => writeln!(f)?,
            }
        }
        let levels = [Level::Alert, Level::Warning, Level::Notice];
        let [alerts, warnings, notices] = levels.map(|level| self.count(level));
        let within = self.pairs.iter().filter(|pair| pair.is_within_noise()).count();
        let faster = self.pairs.iter().filter(|pair| pair.is_faster()).count();
        let little = self.pairs.iter().filter(|pair| pair.is_little_slower()).count();
        writeln!(
            f,
            "rows       {} in both: {within} the same within their noise, {faster} faster, {little} slower by less than 5%; \
             {alerts} alerts, {warnings} warnings, {notices} notices",
            self.pairs.len()
        )?;
        let unknown: Vec<&str> =
            self.pairs.iter().filter(|pair| pair.noise.is_none()).map(|pair| pair.row.as_str()).collect();
        if !unknown.is_empty() {
            writeln!(
                f,
                "unknown    without a level, as one of the runs has fewer than {FEWEST} rounds: {}",
                unknown.join(", ")
            )?;
        }
        for pair in self.pairs.iter().filter(|pair| pair.is_noisy() && pair.level.is_none()) {
            let noise = pair.noise.unwrap_or(0.0) * 100.0;
            writeln!(f, "noisy      {}: a slowdown of less than {noise:.0}% would not be seen", pair.row)?;
        }
        for (which, rows) in [("the saved run", &self.only_saved), ("this run", &self.only_now)] {
            for row in rows {
                writeln!(f, "only       in {which}: {row}")?;
            }
        }
        Ok(())
    }
}
