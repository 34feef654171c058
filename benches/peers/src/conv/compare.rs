//! The ratios of measured convolutions as Markdown tables, and the verdict on each algorithm, for each device.

use super::cubek::NAME;
use super::rows::{ConvRow, FailedRow};
use super::shape::Shape;
use crate::case::Type;
use crate::rows::{About, SideRow};
use bench::rows::Outcome;
use bench::statistics::{Spread, median};
use bench::table::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// All lines of all files.
#[derive(Default)]
pub(crate) struct Results {
    devices: BTreeMap<[String; 3], Vec<ConvRow>>,
    failed: Vec<FailedRow>,
}

impl Results {
    pub(crate) fn add(&mut self, row: ConvRow) {
        let device = [row.device.clone(), row.driver.clone(), row.compiler.clone()];
        self.devices.entry(device).or_default().push(row);
    }

    pub(crate) fn add_failed(&mut self, row: FailedRow) {
        self.failed.push(row);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (device, rows) in &self.devices {
            writeln!(f, "# Convolutions on {}\n", device[0])?;
            writeln!(f, "{}\n{}\n{NOTES}\n", heading(device, rows), ratios(rows))?;
            writeln!(f, "{}", verdicts(rows))?;
        }
        for FailedRow { convolution, dtype, error } in &self.failed {
            writeln!(f, "- {dtype} {convolution} has no result: {error}")?;
        }
        Ok(())
    }
}

/// How to read the tables.
const NOTES: &str = "\
A ratio is the peer's time over Tilewise's in a round, in which all sides are timed in turn: above 1 Tilewise is faster. It is \
the median over the rounds, with the quartiles in brackets. `fastest` is CubeK's algorithm with the least ratio of those whose \
result is right. The goal is a ratio of at least 2 in f16, 1.3 in f32 and 3 of a depthwise convolution.";

/// How the rows were measured: a line for each build on each day, with all its commands.
fn heading([_, driver, compiler]: &[String; 3], rows: &[ConvRow]) -> Table {
    let mut builds: BTreeMap<[String; 3], BTreeSet<String>> = BTreeMap::new();
    for ConvRow { about: About { date, commit, versions, command }, .. } in rows {
        let versions: Vec<String> =
            versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let build = [date.clone(), commit.clone(), versions.join(", ")];
        builds.entry(build).or_default().insert(format!("`{command}`"));
    }
    let mut table = Table::new(["driver", "CubeK compiles for", "date", "commit", "versions", "commands"]);
    for ([date, commit, versions], commands) in builds {
        let commands: Vec<String> = commands.into_iter().collect();
        table.row([driver.clone(), compiler.clone(), date, commit, versions, commands.join(", ")]);
    }
    table
}

/// A peer's side of a convolution whose result is right.
struct Right<'a> {
    side: &'a SideRow,
    gflops: f64,
    ratio: Spread,
}

/// The right sides of a peer in all runs of a convolution, the one with the least ratio first.
fn right<'a>(rows: &[&'a ConvRow], peer: &str) -> Vec<Right<'a>> {
    let mut sides: BTreeMap<&str, (&SideRow, Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for side in rows.iter().flat_map(|row| &row.sides).filter(|side| side.name == peer) {
        if let Some(timed) = side.outcome.timed() {
            let (_, gflops, ratios) =
                sides.entry(side.kernel.as_str()).or_insert_with(|| (side, Vec::new(), Vec::new()));
            gflops.push(timed.gflops);
            ratios.extend(&timed.ratios);
        }
    }
    let right = |(side, gflops, ratios): (&'a SideRow, Vec<f64>, Vec<f64>)| {
        Some(Right { side, gflops: median(&gflops)?, ratio: Spread::of(&ratios)? })
    };
    let mut all: Vec<Right<'a>> = sides.into_values().filter_map(right).collect();
    all.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
    all
}

/// The least ratio that is the goal.
fn goal(shape: &Shape, dtype: Type) -> f64 {
    match dtype {
        _ if shape.is_depthwise() => 3.0,
        Type::F32 => 1.3,
        Type::F16 => 2.0,
    }
}

/// One row for each type and convolution.
fn ratios(rows: &[ConvRow]) -> Table {
    let mut cases: BTreeMap<(Type, usize, &Shape), Vec<&ConvRow>> = BTreeMap::new();
    for row in rows {
        cases.entry((row.dtype, row.convolution.place(), &row.convolution)).or_default().push(row);
    }
    let mut table = Table::new([
        "type",
        "convolution",
        "f32 peak GFLOP/s",
        "Tilewise GFLOP/s",
        "CubeK's fastest",
        "GFLOP/s",
        "ratio",
        "goal",
        "met",
    ]);
    for ((dtype, _, shape), rows) in cases {
        let numbers = |of: &dyn Fn(&ConvRow) -> Option<f64>| {
            median(&rows.iter().filter_map(|row| of(row)).collect::<Vec<_>>())
        };
        let ours = numbers(&|row| Some(row.sides.first()?.outcome.timed()?.gflops));
        let peak = numbers(&|row| Some(row.peak_flops * 1e-9));
        let of_cubek = right(&rows, NAME);
        let fastest = of_cubek.first();
        let least = fastest.map(|right| right.ratio.median);
        let goal = goal(shape, dtype);
        let met = |least: f64| if least >= goal { "yes".to_owned() } else { format!("no: {least:.2}") };
        let mut cells = vec![dtype.to_string(), shape.to_string(), rate(peak), rate(ours)];
        cells.push(fastest.map_or_else(none, |right| right.side.kernel.clone()));
        cells.push(rate(fastest.map(|right| right.gflops)));
        cells.push(fastest.map_or_else(none, |right| right.ratio.to_string()));
        cells.extend([goal.to_string(), least.filter(|_| ours.is_some()).map_or_else(none, met)]);
        table.row(cells);
    }
    table
}

/// One row for each type and side: on which convolutions it is right, with the range of its ratios, and why not on others.
fn verdicts(rows: &[ConvRow]) -> Table {
    let mut sides: BTreeMap<(Type, &str, &str), Vec<(&Shape, &SideRow)>> = BTreeMap::new();
    for row in rows {
        for side in row.sides.iter().filter(|side| side.name != "Tilewise") {
            sides
                .entry((row.dtype, side.name.as_str(), side.kernel.as_str()))
                .or_default()
                .push((&row.convolution, side));
        }
    }
    let mut table = Table::new(["type", "algorithm", "right on", "ratios", "verdict"]);
    for ((dtype, name, kernel), of) in sides {
        let mut verdicts: BTreeMap<String, BTreeSet<(usize, &str)>> = BTreeMap::new();
        let mut medians = Vec::new();
        for (shape, side) in &of {
            let verdict = match &side.outcome {
                Outcome::Timed(timed) => {
                    medians.extend(Spread::of(&timed.ratios).map(|ratio| ratio.median));
                    let in_f16 = timed.checked.check.ends_with("f16");
                    if in_f16 { "right, sums in f16".into() } else { "right".into() }
                }
                Outcome::Failed { error: why } | Outcome::LeftOut { left_out: why } => shortened(why),
            };
            verdicts.entry(verdict).or_default().insert((shape.place(), shape.name.as_str()));
        }
        let words = verdicts.iter().map(|(verdict, shapes)| {
            let names: Vec<&str> = shapes.iter().map(|(_, name)| *name).collect();
            let where_ = if verdicts.len() == 1 { String::new() } else { format!(" ({})", names.join(", ")) };
            format!("{verdict}{where_}")
        });
        let words: Vec<String> = words.collect();
        medians.sort_by(f64::total_cmp);
        let range = medians.first().zip(medians.last());
        table.row([
            dtype.to_string(),
            format!("{name} {kernel}"),
            format!("{} of {}", medians.len(), of.len()),
            range.map_or_else(none, |(least, most)| format!("{least:.2} to {most:.2}")),
            words.join("; "),
        ]);
    }
    table
}

/// Characters of a message that a table shows.
const LONGEST: usize = 160;

/// A message on one line of a table.
fn shortened(why: &str) -> String {
    let line = why.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "/");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST).collect::<String>() + " ..."
}

fn rate(gflops: Option<f64>) -> String {
    gflops.map_or_else(
        none,
        |gflops| if gflops < 100.0 { format!("{gflops:.1}") } else { format!("{gflops:.0}") },
    )
}

fn none() -> String {
    "-".into()
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::row;
    use super::*;
    use crate::rows::tests::side;

    fn failed(kernel: &str, error: &str) -> SideRow {
        let outcome = Outcome::Failed { error: error.into() };
        SideRow { name: "CubeK".into(), kernel: kernel.into(), outcome }
    }

    fn page(sides: Vec<SideRow>, name: &str, dtype: Type) -> String {
        let mut results = Results::default();
        results.add(row("llvmpipe", name, dtype, sides));
        results.to_string()
    }

    #[test]
    fn the_fastest_right_algorithm_counts() {
        let sides = vec![
            side("Tilewise", "auto", 0.01, 1.0),
            side("CubeK", "direct", 0.02, 2.0),
            side("CubeK", "unit_2x4x8", 0.015, 1.5),
            failed("simple", "no\ntile | size"),
        ];
        let page = page(sides, "resnet-3x3-64-64", Type::F32);
        assert!(page.contains("| unit_2x4x8 | 17.9 | 1.50 (1.50 to 1.50) | 1.3 | yes |"), "{page}");
        assert!(page.contains("| f32 | CubeK simple | 0 of 1 | - | no tile / size |"), "{page}");
        assert!(page.contains("| f32 | CubeK direct | 1 of 1 | 2.00 to 2.00 | right |"), "{page}");
    }

    #[test]
    fn a_goal_that_is_missed_is_named() {
        let sides =
            |ratio| vec![side("Tilewise", "auto", 0.01, 1.0), side("CubeK", "direct", 0.01 * ratio, ratio)];
        assert!(page(sides(1.9), "unet-3x3-64-64", Type::F16).contains("| 2 | no: 1.90 |"));
        assert!(page(sides(2.1), "unet-3x3-64-64", Type::F16).contains("| 2 | yes |"));
        assert!(page(sides(2.1), "depthwise-3x3-128", Type::F16).contains("| 3 | no: 2.10 |"));
    }

    #[test]
    fn a_case_without_a_result_has_no_verdict() {
        let page = page(vec![failed("direct", &"x".repeat(200))], "unet-3x3-64-64", Type::F16);
        assert!(page.contains("| - | - | - | 2 | - |"), "{page}");
        assert!(page.contains(&format!("| {} ... |", "x".repeat(160))), "{page}");
    }
}
