//! The ratios of measured cases as Markdown tables, one for each device.

use crate::case::{Size, Type};
use crate::conv;
use crate::error::{Error, Result};
use crate::rows::{About, CaseRow, FailedRow, Line, Timed};
use bench::lines;
use bench::rows::{Outcome, PeerRow};
use bench::statistics::{Spread, median};
use bench::table::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

/// Reads the files and prints the tables. Lines that are no results are named in the error.
pub(crate) fn print(files: &[PathBuf]) -> Result<()> {
    let mut results = Results::default();
    let mut malformed = Vec::new();
    for path in files {
        let lines = lines::read(path, &path.display().to_string())?;
        lines.rows.into_iter().for_each(|line| results.add(line));
        results.left_out.extend(lines.skipped);
        malformed.extend(lines.malformed.iter().map(ToString::to_string));
    }
    if results.devices.is_empty() && results.convolutions.is_empty() {
        malformed.push("no line is a measured case: `peers --json FILE` writes them".into());
    }
    print!("{results}");
    if malformed.is_empty() { Ok(()) } else { Err(Error::Malformed(malformed.join("\n"))) }
}

/// All lines of all files.
#[derive(Default)]
struct Results {
    devices: BTreeMap<Device, Vec<CaseRow>>,
    failed: Vec<FailedRow>,
    torch: Vec<PeerRow>,
    convolutions: conv::Results,
    left_out: Vec<String>,
}

/// What has a table of its own: device, driver, and how CubeK compiles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Device {
    device: String,
    driver: String,
    compiler: String,
}

impl Results {
    fn add(&mut self, line: Line) {
        match line {
            Line::Case(row) => {
                let CaseRow { device, driver, compiler, .. } = (*row).clone();
                self.devices.entry(Device { device, driver, compiler }).or_default().push(*row);
            }
            Line::Failed(row) => self.failed.push(row),
            Line::Conv(row) => self.convolutions.add(*row),
            Line::ConvFailed(row) => self.convolutions.add_failed(row),
            Line::Torch(row) => match row.outcome {
                Outcome::LeftOut { left_out: why } | Outcome::Failed { error: why } => {
                    self.left_out.push(why)
                }
                Outcome::Timed(_) => self.torch.push(row),
            },
        }
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (device, rows) in &self.devices {
            writeln!(f, "# Matrix products on {}\n", device.device)?;
            writeln!(f, "{}\n{}", heading(device, rows), ratios(rows, &self.torch))?;
            writeln!(f, "{NOTES}\n")?;
            failures(rows).iter().try_for_each(|why| writeln!(f, "- {why}"))?;
        }
        for FailedRow { size, dtype, strategy, error } in &self.failed {
            let strategy = strategy.as_ref().map_or_else(String::new, |strategy| format!(" with {strategy}"));
            writeln!(f, "- {dtype} {size}{strategy} has no result: {error}")?;
        }
        write!(f, "{}", self.convolutions)?;
        self.left_out.iter().try_for_each(|why| writeln!(f, "- left out: {why}"))
    }
}

/// How to read a table.
const NOTES: &str = "\
A ratio is the peer's time over Tilewise's in a round, in which all sides are timed in turn: above 1 Tilewise is faster. It is \
the median over the rounds of all runs, with the quartiles in brackets. Times are the host's, from the first launch of a batch \
of products until all are done. Next to each rate is its share of the f32 peak of the same process, a loop of multiply-adds on the \
device; the crate `gemm` runs on the CPU itself. cuBLAS is timed by another program, on the device's clock: its ratio is over \
Tilewise's time on that clock.";

/// How the rows were measured: a line for each build on each day, with all its commands.
fn heading(device: &Device, rows: &[CaseRow]) -> Table {
    let mut builds: BTreeMap<[String; 3], BTreeSet<String>> = BTreeMap::new();
    for CaseRow { about: About { date, commit, versions, command }, .. } in rows {
        let versions: Vec<String> =
            versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let build = [date.clone(), commit.clone(), versions.join(", ")];
        builds.entry(build).or_default().insert(format!("`{command}`"));
    }
    let mut table = Table::new(["driver", "CubeK compiles for", "date", "commit", "versions", "commands"]);
    for ([date, commit, versions], commands) in builds {
        let commands: Vec<String> = commands.into_iter().collect();
        let of_device = [device.driver.clone(), device.compiler.clone()];
        table.row(of_device.into_iter().chain([date, commit, versions, commands.join(", ")]));
    }
    table
}

/// Why a side has no result, once for each reason, with the cases.
fn failures(rows: &[CaseRow]) -> Vec<String> {
    let mut cases: BTreeMap<(String, &str), BTreeSet<String>> = BTreeMap::new();
    for row in rows {
        for side in &row.sides {
            if let Outcome::Failed { error } = &side.outcome {
                let case = format!("{} {}", row.dtype, row.size);
                cases.entry((side.title(), error.as_str())).or_default().insert(case);
            }
        }
    }
    let line = |((title, error), cases): ((String, &str), BTreeSet<String>)| {
        let cases: Vec<String> = cases.into_iter().collect();
        format!("{title} has no result for {}: {error}", cases.join(", "))
    };
    cases.into_iter().map(line).collect()
}

/// One row for each type and size, with two columns for each peer that has a result.
fn ratios(rows: &[CaseRow], torch: &[PeerRow]) -> Table {
    let mut cases: BTreeMap<(Type, u128, Size), Vec<&CaseRow>> = BTreeMap::new();
    for row in rows {
        let volume = row.size.array().iter().map(|&extent| extent as u128).product();
        cases.entry((row.dtype, volume, row.size)).or_default().push(row);
    }
    let cells: Vec<(Type, Size, Ours, Vec<Peer>)> = cases
        .into_iter()
        .map(|((dtype, _, size), rows)| (dtype, size, Ours::of(&rows), peers(&rows, torch)))
        .collect();
    let mut titles: Vec<String> = Vec::new();
    for peer in cells.iter().flat_map(|(.., peers)| peers) {
        if peer.gflops.is_some() && !titles.contains(&peer.title) {
            titles.push(peer.title.clone());
        }
    }
    // What is there for scale comes last.
    titles.sort_by_key(|title| title.starts_with("gemm "));
    let mut columns: Vec<String> =
        ["type", "m x n x k", "f32 peak GFLOP/s", "Tilewise GFLOP/s", "least ratio to CubeK"]
            .map(Into::into)
            .into();
    columns.extend(titles.iter().flat_map(|title| [format!("{title} GFLOP/s"), "ratio".into()]));
    let mut table = Table::new(columns);
    for (dtype, size, ours, peers) in cells {
        let of_cubek = peers.iter().filter(|peer| peer.title.starts_with("CubeK "));
        let least = of_cubek.filter_map(|peer| peer.ratio).min_by(|a, b| a.median.total_cmp(&b.median));
        let mut cells = vec![
            dtype.to_string(),
            size.to_string(),
            ours.peak.map_or_else(none, |peak| format!("{peak:.0}")),
            rate(ours.gflops, ours.peak),
            times(least),
        ];
        for title in &titles {
            let peer = peers.iter().find(|peer| peer.title == *title);
            cells.push(rate(peer.and_then(|peer| peer.gflops), ours.peak));
            cells.push(times(peer.and_then(|peer| peer.ratio)));
        }
        table.row(cells);
    }
    table
}

/// The library in one case, and the f32 peak, in GFLOP/s; of several runs the median counts.
struct Ours {
    gflops: Option<f64>,
    peak: Option<f64>,
}

impl Ours {
    fn of(rows: &[&CaseRow]) -> Self {
        let ours = rows.iter().filter_map(|row| Some(row.sides.first()?.outcome.timed()?.gflops));
        Self {
            gflops: median(&ours.collect::<Vec<_>>()),
            peak: median(&rows.iter().map(|row| row.peak_flops * 1e-9).collect::<Vec<_>>()),
        }
    }
}

/// A peer in one case; of several runs the median rate counts, and the ratios of all their rounds.
struct Peer {
    title: String,
    gflops: Option<f64>,
    ratio: Option<Spread>,
}

/// All peers of a case: those of its rows, and cuBLAS if it was measured on the same device.
fn peers(rows: &[&CaseRow], torch: &[PeerRow]) -> Vec<Peer> {
    let mut sides: BTreeMap<String, Vec<&Timed>> = BTreeMap::new();
    for side in rows.iter().flat_map(|row| row.sides.iter().skip(1)) {
        sides.entry(side.title()).or_default().extend(side.outcome.timed());
    }
    let of_side = |(title, timed): (String, Vec<&Timed>)| Peer {
        title,
        gflops: median(&timed.iter().map(|timed| timed.gflops).collect::<Vec<_>>()),
        ratio: Spread::of(&timed.iter().flat_map(|timed| timed.ratios.iter().copied()).collect::<Vec<_>>()),
    };
    let mut peers: Vec<Peer> = sides.into_iter().map(of_side).collect();
    let ours = median(&rows.iter().filter_map(|row| row.device_seconds).collect::<Vec<_>>());
    let same = torch.iter().filter(|torch| rows.iter().any(|row| is_same(row, torch)));
    peers.extend(same.filter_map(|torch| {
        let seconds = torch.outcome.timed()?.gpu_seconds_median;
        let is_tf32 = torch.product.dtype == "tf32";
        Some(Peer {
            title: if is_tf32 { format!("{} TF32", torch.peer) } else { torch.peer.clone() },
            gflops: Some(torch.product.operations() / seconds * 1e-9),
            ratio: ours.and_then(|ours| Spread::of(&[seconds / ours])),
        })
    }));
    peers
}

/// Whether cuBLAS computed the same product on the same device. Its TF32 takes and returns f32.
fn is_same(row: &CaseRow, PeerRow { device, product, layout, .. }: &PeerRow) -> bool {
    let dtype = if product.dtype == "tf32" { "f32" } else { &product.dtype };
    (row.size.array(), &row.device, &row.layout) == ([product.m, product.n, product.k], device, layout)
        && [row.dtype.to_string(), row.out_dtype.to_string()] == [dtype, &product.out_dtype]
}

/// A rate, and its share of the peak.
fn rate(gflops: Option<f64>, peak: Option<f64>) -> String {
    let Some((gflops, peak)) = gflops.zip(peak) else { return none() };
    let decimals = if gflops < 100.0 { 1 } else { 0 };
    format!("{gflops:.decimals$} ({:.0}%)", 100.0 * gflops / peak)
}

fn times(ratio: Option<Spread>) -> String {
    ratio.map_or_else(none, |ratio| ratio.to_string())
}

fn none() -> String {
    "-".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::SideRow;
    use crate::rows::tests::{case, side};
    use bench::file::FileError;
    use serde_json::json;
    use std::fs;

    fn page(lines: impl IntoIterator<Item = Line>) -> String {
        let mut results = Results::default();
        lines.into_iter().for_each(|line| results.add(line));
        results.to_string()
    }

    fn line(device: &str, sides: Vec<SideRow>) -> Line {
        Line::Case(Box::new(case(device, sides)))
    }

    #[test]
    fn commands_of_one_build_share_a_line() {
        let run = |command: &str| {
            let mut row = case("llvmpipe", vec![]);
            row.about.command = command.into();
            Line::Case(Box::new(row))
        };
        let page = page([run("peers --sizes 64"), run("peers --sizes 128"), run("peers --sizes 64")]);
        let line = "| abc | gemm 0.19.0 | `peers --sizes 128`, `peers --sizes 64` |";
        assert_eq!(page.matches(line).count(), 1, "{page}");
        assert_eq!(page.matches("| Mesa 26 |").count(), 1, "{page}");
    }

    fn torch(device: &str, dtype: &str) -> Line {
        let line = json!({
            "peer": "cuBLAS", "device": device, "m": 512, "n": 512, "k": 512, "dtype": dtype, "out_dtype": "f32", "layout": "nn",
            "tflops": 0.0134, "gpu_seconds_median": 0.02, "gpu_seconds_min": 0.02, "gpu_seconds_max": 0.02,
        });
        serde_json::from_value(line).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_table_has_rates_shares_and_ratios() {
        let sides = vec![
            side("Tilewise", "auto", 0.01, 1.0),
            side("CubeK", "auto", 0.008, 0.8),
            side("CubeK", "naive", 0.08, 8.0),
            side("gemm", "f32, 2 threads", 0.001, 0.1),
        ];
        let page = page([line("llvmpipe", sides)]);
        assert!(page.starts_with("# Matrix products on llvmpipe\n\n| driver |"), "{page}");
        assert!(
            page.contains("| Mesa 26 | wgpu<wgsl> | 2026-11-26 | abc | gemm 0.19.0 | `peers` |"),
            "{page}"
        );
        let row = "| f32 | 512x512x512 | 50 | 26.8 (54%) | 0.80 (0.80 to 0.80) | 33.6 (67%) | 0.80 (0.80 to 0.80) | \
                   3.4 (7%) | 8.00 (8.00 to 8.00) | 268 (537%) | 0.10 (0.10 to 0.10) |";
        assert!(page.contains(row), "{page}");
    }

    #[test]
    fn the_median_of_several_runs_counts_and_strategies_share_a_row() {
        let run = |strategy, seconds, ratio| {
            line(
                "llvmpipe",
                vec![side("Tilewise", "auto", seconds, 1.0), side("CubeK", strategy, 0.01, ratio)],
            )
        };
        let page = page([
            run("naive", 0.01, 1.0),
            run("naive", 0.02, 0.5),
            run("naive", 0.04, 0.25),
            run("unit", 0.02, 0.6),
        ]);
        assert!(
            page.contains(
                "| f32 | 512x512x512 | 50 | 13.4 (27%) | 0.50 (0.38 to 0.75) | 26.8 (54%) | 0.50 (0.38 to 0.75) | 26.8 (54%) | \
                 0.60 (0.60 to 0.60) |"
            ),
            "{page}"
        );
    }

    #[test]
    fn a_side_that_failed_is_named_with_its_reason() {
        let failed = Outcome::Failed { error: "no tensor cores".into() };
        let failed = SideRow { name: "CubeK".into(), kernel: "naive".into(), outcome: failed };
        let page = page([line("llvmpipe", vec![side("Tilewise", "auto", 0.01, 1.0), failed])]);
        assert!(page.contains("| f32 | 512x512x512 | 50 | 26.8 (54%) | - |\n"), "{page}");
        assert!(
            page.ends_with("\n- CubeK naive has no result for f32 512x512x512: no tensor cores\n"),
            "{page}"
        );
    }

    #[test]
    fn cublas_counts_on_the_same_device_only() {
        let ours = || line("H200", vec![side("Tilewise", "auto", 0.01, 1.0)]);
        let same = page([ours(), torch("H200", "f32"), torch("H200", "tf32"), torch("H200", "bf16")]);
        assert!(same.contains("| cuBLAS GFLOP/s | ratio | cuBLAS TF32 GFLOP/s | ratio |\n"), "{same}");
        assert!(
            same.contains(
                "(54%) | - | 13.4 (27%) | 2.00 (2.00 to 2.00) | 13.4 (27%) | 2.00 (2.00 to 2.00) |\n"
            ),
            "{same}"
        );
        assert!(!page([ours(), torch("A100", "f32")]).contains("| cuBLAS"));
    }

    #[test]
    fn devices_have_tables_of_their_own_and_failures_are_listed() {
        let failed = FailedRow {
            size: Size::cube(64),
            dtype: Type::F16,
            strategy: Some("naive".into()),
            error: "late".into(),
        };
        let Line::Torch(row) = torch("one", "f32") else { panic!("it is one") };
        let late =
            Line::Torch(PeerRow { outcome: Outcome::LeftOut { left_out: "the time was up".into() }, ..row });
        let page = page([line("one", vec![]), line("two", vec![]), Line::Failed(failed), late]);
        assert_eq!(page.matches("# Matrix products on ").count(), 2);
        assert!(
            page.ends_with("- f16 64x64x64 with naive has no result: late\n- left out: the time was up\n"),
            "{page}"
        );
    }

    #[test]
    fn committed_results_are_read() -> Result<()> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
        let folders = fs::read_dir(&root).map_err(FileError::of("read", &root))?.flatten();
        let files: Vec<PathBuf> =
            folders.map(|folder| folder.path().join("cases.jsonl")).filter(|file| file.exists()).collect();
        assert!(!files.is_empty());
        print(&files)
    }

    #[test]
    fn files_that_are_no_results_are_named() -> Result<()> {
        let path = std::env::temp_dir().join(format!("tilewise-peers-garbage-{}.jsonl", std::process::id()));
        fs::write(&path, "{}\n\n[1, 2]\n").map_err(FileError::of("write", &path))?;
        let error =
            print(std::slice::from_ref(&path)).err().map(|error| error.to_string()).unwrap_or_default();
        fs::remove_file(&path).map_err(FileError::of("remove", &path))?;
        assert!(
            [1, 2, 3].map(|line| error.contains(&format!(", line {line}: "))) == [true, false, true],
            "{error}"
        );
        assert!(error.ends_with("no line is a measured case: `peers --json FILE` writes them"), "{error}");
        assert!(print(&[path]).err().is_some_and(|error| error.to_string().starts_with("cannot read ")));
        Ok(())
    }
}
