//! Measures Tilewise on a machine with a GPU that needs neither a compiler nor a network.
//!
//! `--pack FOLDER` builds the release programs and collects them. On the machine with the GPU this program starts them,
//! section by section, stores what they print as JSON lines, and writes all of it as one Markdown page.
//! `benches/README.md` shows the commands.

mod budget;
mod error;
mod log;
mod measure;
mod pack;
mod page;
mod printed;
mod rows;
mod run;
mod section;
mod settings;
mod trial;

use bench::about;
use bench::file::{FileError, replace};
use budget::Budget;
use clap::{ArgGroup, Parser, ValueEnum};
use error::{Error, Result};
use log::Log;
use pack::Programs;
use page::Page;
use section::Section;
use settings::Settings;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The file of the page.
const PAGE: &str = "results.md";
/// The longest time of a run, in minutes: a day.
const MOST_MINUTES: f64 = 1440.0;

/// Runs prebuilt tests, examples and benches on a machine with a GPU and writes one page of results.
///
/// DIR/results.md shows every section whose results are in DIR, whichever call ran it. If a section fails, the others
/// still run and the exit status is 1.
#[derive(Parser)]
#[command(
    name = "on_gpu",
    override_usage = "on_gpu [--minutes 9] DIR [SECTION]...\n       on_gpu --trial DIR [SECTION]...\n       on_gpu --page DIR\n       \
                      on_gpu --pack FOLDER [--without-tests]",
    after_long_help = settings::HELP,
    group = ArgGroup::new("folder").required(true).args(["pack", "dir"]),
)]
struct Args {
    /// Builds the programs here and collects them in FOLDER, this program included
    #[arg(long, value_name = "FOLDER")]
    pack: Option<PathBuf>,
    /// Packs no tests, which only the sections sweep and checked run: they take the longest to build
    #[arg(long, conflicts_with = "dir")]
    without_tests: bool,
    /// Runs nothing: writes the page of the results in DIR
    #[arg(long, requires = "dir", conflicts_with_all = ["sections", "trial"])]
    page: bool,
    /// Ends after this many minutes: each section gets its share, what it leaves goes to the next ones, and one that is
    /// stopped keeps what it has measured
    #[arg(long, value_name = "MINUTES", requires = "dir", conflicts_with = "page", value_parser = minutes)]
    minutes: Option<Duration>,
    /// Tries this program without a GPU: small sizes on lavapipe, all sections but the sweeps; then checks that every
    /// table of the page has its rows
    #[arg(long, requires = "dir")]
    trial: bool,
    /// Folder of the results
    dir: Option<PathBuf>,
    /// Sections to run; all of them by default
    #[arg(value_name = "SECTION")]
    sections: Vec<Section>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match (&args.pack, &args.dir) {
        (Some(folder), _) => {
            let programs = if args.without_tests { Programs::WithoutTests } else { Programs::All };
            settings::root().and_then(|root| pack::pack(&root, folder, programs))
        }
        (None, Some(dir)) => results(&args, dir),
        (None, None) => Err(Error::Usage("neither DIR nor --pack FOLDER is given".into())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("on_gpu: {error}");
            ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 1 })
        }
    }
}

/// Runs the sections and writes the page.
fn results(args: &Args, dir: &Path) -> Result<()> {
    let settings = if args.trial { Settings::trial()? } else { Settings::from_env()? };
    if !args.page {
        settings.check_programs()?;
    }
    std::fs::create_dir_all(dir).map_err(FileError::of("create", dir))?;
    let dir = &std::path::absolute(dir).map_err(FileError::of("find", dir))?;
    let sections = match (&args.sections[..], args.trial) {
        ([], true) => trial::sections().to_vec(),
        ([], false) => Section::value_variants().to_vec(),
        (sections, _) => sections.to_vec(),
    };
    let head = page::Head { command: about::command("on_gpu"), commit: settings.commit() };
    let budget = Budget::begin(settings.limit, args.minutes);
    let failed = if args.page { Vec::new() } else { run_all(&settings, &budget, dir, &sections, &head)? };

    let page = write_page(dir, &head)?;
    print!("{}", page.ratios);
    eprintln!("on_gpu: see {}", dir.join(PAGE).display());
    if args.trial {
        trial::check(&page.text, &sections)?;
    }
    match (failed.is_empty(), page.malformed.is_empty()) {
        (true, true) => Ok(()),
        (false, _) => Err(Error::Sections(failed.join(", "))),
        (true, false) => Err(Error::Malformed(page.malformed.join("\n"))),
    }
}

/// Runs the sections one after the other; returns the names of those that failed. The page is written after each of them,
/// so that a run that is interrupted leaves the page of what it has measured.
fn run_all(
    settings: &Settings,
    budget: &Budget,
    dir: &Path,
    sections: &[Section],
    head: &page::Head,
) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for (at, &section) in sections.iter().enumerate() {
        let mut log = Log::begin(dir, section)?;
        let result = measure::run(settings, dir, section, budget.of_first(&sections[at..]), &mut log);
        let verdict = match &result {
            Ok(()) => "ok",
            Err(Error::TimeIsUp { .. }) if budget.is_limited() => "cut",
            Err(_) => "failed",
        };
        let seconds = log.end(&result, verdict)?;
        eprintln!("on_gpu: {section}: {verdict} after {seconds} s");
        if verdict == "failed" {
            failed.push(section.to_string());
        }
        write_page(dir, head)?;
    }
    Ok(failed)
}

/// Writes the page of all results in the folder.
fn write_page(dir: &Path, head: &page::Head) -> Result<Page> {
    let page = Page::of(dir, head)?;
    let file = dir.join(PAGE);
    replace(&file, page.text.as_bytes()).map_err(FileError::of("write", &file))?;
    Ok(page)
}

/// Minutes, whole or not.
fn minutes(text: &str) -> std::result::Result<Duration, String> {
    let minutes: f64 = text.parse().map_err(|_| "not a number of minutes such as 9")?;
    if minutes > 0.0 && minutes <= MOST_MINUTES {
        return Ok(Duration::from_secs_f64(60.0 * minutes));
    }
    Err(format!("not more than 0 and at most {MOST_MINUTES} minutes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_more_than_none_and_at_most_a_day() {
        assert_eq!(minutes("9"), Ok(Duration::from_secs(540)));
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        for refused in ["0", "-1", "nan", "inf", "1441", "nine", ""] {
            assert!(minutes(refused).is_err(), "{refused}");
        }
    }
}
