//! A trial without a GPU: small sizes on a software driver, and a look at the page that comes of them.
//!
//! Programs may run well and the page lack what they measured, so every table has to have certain rows.

use crate::error::{Error, Result};
use crate::section::Section;
use clap::ValueEnum;

/// What a trial runs: everything but the sweeps, which are CI's tests.
pub(crate) fn sections() -> &'static [Section] {
    Section::value_variants().split_at(Section::value_variants().len() - 2).0
}

/// Rows that the page of sizes 16,32 and batch 4 has under the heading of each section. In a row, `#` is a cell that
/// begins with a number and `*` is any cell but an empty one.
const ROWS: &[(Section, &str)] = &[
    (Section::Gemm, "| 32 x 32 x 32 | f16 -> f32 | tt | * | # |"),
    (Section::Tiles, "| f16 -> f16, nt | 16 x 16 x 16 | 32 x 32 x 32 |"),
    (Section::Tiles, "| broadcast * | # |"),
    (Section::Peaks, "| 32 x 32 x 32 | f16 | auto | # | # |"),
    (Section::Host, "| product | 1 | # | # | # |"),
    (Section::Variants, "| rows of A, B row-major | 4 x 32 x 32 | f32 -> f32 | # | a copy | # | # | # |"),
    (Section::Variants, "| some rows | 64 x 32 x 32 | f16 -> f32 | # | a copy | # | # | # |"),
    (Section::Variants, "| bias and gelu | 32 x 32 x 32 | f32 -> f32 | # | the bare product | # | # | # |"),
    (Section::Variants, "| split | 32 x 32 x 32 | f32 -> f32 | # | strict | # | # | # |"),
    (Section::Variants, "| i8 | 32 x 32 x 32 | i8 -> i32 | # | f32 | # | # | # |"),
    (Section::Variants, "| product | 32 x 32 x 32 | f16 -> f32 | # | checked by the driver | # | # | # |"),
    (Section::Variants, "| sum | 32 x 32 x 1 | f32 -> f32 | # | checked by the driver | # | # | # |"),
    (Section::Variants, "| split-k | 64 x 64 x 65536 | f32 -> f32 | # | one split | # | # | # |"),
    (
        Section::Attention,
        "| whole | 32 x 32 x 64 | f32 -> f32 | # | its products and its softmax | # | # | - |",
    ),
    (Section::Conv, "| depthwise 3x3 | 256 x 128 x 9 | f32 -> f32 | # | * | # | # | # |"),
    (Section::Norms, "| Layer Forward | 64 x 64 x 1 | f32 -> f32 | # | * | # | # | - |"),
    (Section::Rows, "| Sum | 4 x 1024 x 1 | f32 -> f32 | # | * | # | # | - |"),
    (Section::Ops, "| add | 32 x 32 x 1 | f32 -> f32 | # | * | # | # | - |"),
    (Section::Windows, "| mul, * | 128 x 4096 x 1 | f32 -> f32 | # | * | # | # | - |"),
    (Section::Staging, "| a product | write, to_vec | # | # | # |"),
    (Section::Embed, "| tokens per second | # |"),
    (Section::Frames, "| replayed: frames per second | # |"),
    (Section::Sketch, "| sign, from the left | 32 x 32 x 32 | f32 -> f32 | # | stored | # | # | # |"),
    (Section::Sketch, "| sjlt 4, along the outer axis | 8 x 8 x 32 | f32 -> f32 | # | a copy | # | # | # |"),
    (Section::Factor, "| rsvd | 64 x 32 | # | * | # | # | # | # | # |"),
    (Section::SketchedLayers, "| forward | 4 x 32 x 32 | f32 -> f32 | # | dense | # | # | # |"),
    (Section::Clifford, "| Cl(3,0,0) | 4 x 32 x 24 | f32 -> f32 | # | its lower bound | # | # | # |"),
    (
        Section::CliffordLayers,
        "| Cl(3,0,0), backward | 4 x 32 x 8 | f32 -> f32 | # | its lower bound | # | # | # |",
    ),
    (
        Section::Connected,
        "| Cl(3,0,0), gelu gate | 4 x 32 x * | f32 -> f32 | # | matrix products | # | # | # |",
    ),
];

/// Rows of the tables of ratios.
const RATIOS: &[&str] = &[
    "| 32 x 32 x 32 | f32 -> f32 | nt | * | # |",
    "| some rows | 16 x 32 x 32 | f16 -> f32 | # |",
    "| fast | 32 x 32 x 32 | f32 -> f32 | # |",
];

/// Fails unless the page has a row of every table of the sections that ran.
pub(crate) fn check(page: &str, sections: &[Section]) -> Result<()> {
    let mut missing = Vec::new();
    for (section, row) in ROWS.iter().filter(|(section, _)| sections.contains(section)) {
        if !part(page, section.title()).lines().any(|line| matches(line, row)) {
            missing.push(format!("{}: {row}", section.title()));
        }
    }
    if sections.contains(&Section::Tiles) && sections.contains(&Section::Variants) {
        let ratios = part(page, "Ratios");
        let lacking = RATIOS.iter().filter(|row| !ratios.lines().any(|line| matches(line, row)));
        missing.extend(lacking.map(|row| format!("Ratios: {row}")));
    }
    for (section, word) in [(Section::Benchmark, "32"), (Section::Tune, "gain: ")] {
        if sections.contains(&section) && !part(page, section.title()).contains(word) {
            missing.push(format!("{}: {word}", section.title()));
        }
    }
    if sections.contains(&Section::Info) && !part(page, Section::Info.title()).lines().any(names_a_peak) {
        missing.push(format!("{}: f32 peak", Section::Info.title()));
    }
    // A peer that is not installed says so.
    for section in [Section::Peers, Section::Flash].iter().filter(|section| sections.contains(section)) {
        let part = part(page, section.title());
        let measured = part.lines().any(|line| matches(line, "| 32 x 32 x 32 | nn | # |"));
        if !part.contains("Skipped: ") && !measured && !part.contains("| Cl(3,0,0) |") {
            missing.push(format!("{}: Skipped", section.title()));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(Error::Trial(missing.join("\n"))) }
}

/// What is under a heading of the page.
fn part<'a>(page: &'a str, title: &str) -> &'a str {
    let heading = format!("\n## {title}\n");
    let Some(at) = page.find(&heading) else { return "" };
    let rest = &page[at + heading.len()..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

/// Whether a line begins with the cells of a row.
fn matches(line: &str, row: &str) -> bool {
    let cells = |line| str::split(line, " | ");
    let inner = |line: &str| line.trim_end_matches('|').trim_end().to_owned();
    let (line, row) = (inner(line), inner(row));
    let mut line = cells(&line);
    cells(&row).all(|wanted| line.next().is_some_and(|cell| cell_matches(cell, wanted)))
}

fn cell_matches(cell: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => cell.starts_with(beginning) && cell.len() > beginning.len(),
        None if wanted == "#" => {
            let first = cell.split(' ').next().unwrap_or_default();
            first.trim_matches('*').trim_end_matches('%').parse::<f64>().is_ok_and(f64::is_finite)
        }
        None => cell == wanted,
    }
}

/// Whether a line of the example `info` has a peak of f32.
fn names_a_peak(line: &str) -> bool {
    line.strip_prefix("  f32 peak ")
        .is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_match_by_their_first_cells() {
        let row = "| 32 x 32 x 32 | f16 -> f32 | tt | * | # |";
        assert!(matches("| 32 x 32 x 32 | f16 -> f32 | tt | tiled | 0.01 (0.01 to 0.02) | 3 |", row));
        assert!(matches("| 32 x 32 x 32 | f16 -> f32 | tt | tiled | **0.01** chosen |", row));
        assert!(!matches("| 32 x 32 x 32 | f16 -> f32 | tt |  | 0.01 |", row));
        assert!(!matches("| 32 x 32 x 32 | f16 -> f32 | tt | tiled | - |", row));
        assert!(!matches("| 32 x 32 x 32 | f16 -> f32 | tt | tiled |", row));
        assert!(matches("| tiled 64x64x8/8x8 | 0.1 |", "| tiled * | # |"));
        assert!(names_a_peak("  f32 peak         46 GFLOP/s") && !names_a_peak("  f32 peak         ?"));
    }

    #[test]
    fn a_row_counts_only_under_its_heading() {
        let page =
            "# Page\n\n## Tiles\n\n| product | 1 | 2 | 3 | 4 |\n\n## Host\n\n| product | 1 | - | 3 | 4 |\n";
        let lacking = check(page, &[Section::Host]).expect_err("the host has no number").to_string();
        assert!(lacking.ends_with("\nHost: | product | 1 | # | # | # |"), "{lacking}");
        check(&page.replace("| - |", "| 2 |"), &[Section::Host]).expect("now it has");
    }
}
