//! Compares what the chapters quote and claim with the code.

use super::CHAPTERS;
use std::collections::BTreeSet;
use std::path::Path;
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{CoopScalar, DeviceType};
use tilewise::planning::Problem;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::{GemmProblem, GemmTypes};
use tilewise::planning::kernel::{INCLUDES, KERNELS};
use tilewise::{Caps, DType, Layout};

/// The code blocks of a chapter: the text after the opening fence, and the lines between the fences.
fn blocks(chapter: &str) -> Vec<(String, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, Vec<&str>)> = None;
    for line in chapter.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some((info.trim().to_owned(), Vec::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, lines))) => lines.push(line.trim()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a code block is never closed");
    blocks
}

fn shader(path: &str) -> &'static str {
    let name = path.strip_prefix("shaders/").and_then(|name| name.strip_suffix(".wgsl")).unwrap_or_default();
    let found = KERNELS.iter().chain(INCLUDES).find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no shader is called {path}")).1
}

#[test]
fn the_summary_lists_every_chapter_and_every_chapter_is_tested() {
    let summary = include_str!("src/SUMMARY.md");
    let listed: BTreeSet<String> = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(file, _)| format!("src/{file}"))
        .collect();
    let tested: BTreeSet<String> =
        CHAPTERS.iter().map(|(file, _)| (*file).to_owned()).filter(|file| file.starts_with("src/")).collect();
    assert_eq!(listed, tested, "SUMMARY.md on the left, lib.rs on the right");
}

#[test]
fn quoted_shader_lines_are_in_the_named_file() {
    let mut quotes = 0;
    for (chapter, text) in CHAPTERS {
        for (info, quote) in blocks(text) {
            let Some(path) = info.strip_prefix("wgsl ") else { continue };
            let lines: Vec<&str> = shader(path).lines().map(str::trim).collect();
            let found = lines.windows(quote.len()).any(|window| window == quote);
            assert!(found, "{chapter} quotes lines that are not in {path}:\n{}", quote.join("\n"));
            quotes += 1;
        }
    }
    assert!(quotes > 10, "{quotes} quotes were found");
}

/// Blocks of other files' Rust have the language `rs`, so that they are no doc tests: those files have tests of their own.
#[test]
fn quoted_rust_lines_are_in_the_named_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut quotes = 0;
    for (chapter, text) in CHAPTERS {
        for (info, quote) in blocks(text) {
            let Some(path) = info.strip_prefix("rs ") else { continue };
            let file = std::fs::read_to_string(root.join(path)).unwrap_or_else(|why| panic!("{path}: {why}"));
            let lines: Vec<&str> = file.lines().map(str::trim).collect();
            let found = lines.windows(quote.len()).any(|window| window == quote);
            assert!(found, "{chapter} quotes lines that are not in {path}:\n{}", quote.join("\n"));
            quotes += 1;
        }
    }
    assert!(quotes > 4, "{quotes} quotes were found");
}

#[test]
fn imports_and_slots_in_the_chapters_exist() {
    for (chapter, text) in CHAPTERS {
        for (_, lines) in blocks(text).iter().filter(|(info, _)| info.starts_with("wgsl")) {
            for directive in ["//#import ", "//#slot "] {
                for rest in lines.iter().filter_map(|line| line.strip_prefix(directive)) {
                    let name = rest.split(' ').next().unwrap_or_default();
                    let is_it = |part: &str| part.rsplit('/').next() == Some(name);
                    assert!(INCLUDES.iter().any(|(part, _)| is_it(part)), "{chapter} imports {name}");
                }
            }
        }
    }
}

/// The kernel that a product of 4096 x 4096 matrices takes on a device.
fn chosen_kernel(caps: &Caps, ab: DType) -> String {
    let square = Layout::contiguous("path", &[4096, 4096]).unwrap();
    let problem = GemmProblem::new(&square, &square, &square, GemmTypes::new(ab, DType::F32)).unwrap();
    let plan = problem.plan(caps).unwrap();
    GemmKernel::of_step(&plan.steps()[0]).unwrap().to_string()
}

fn device(caps: &Caps) -> &str {
    let name = caps.adapter.split(" (").next().unwrap_or_default();
    if name.is_empty() { "a browser, WebGPU's defaults" } else { name }
}

fn portability_row(caps: &Caps) -> String {
    let [f32, f16] = [DType::F32, DType::F16].map(|ab| chosen_kernel(caps, ab));
    let loads = if caps.f16 { "native" } else { "packed" };
    let subgroups = caps.subgroups.map_or("none".to_owned(), |sizes| sizes.to_string());
    let spelled = || caps.rows.iter().filter(|row| row.is_spelled_in_wgsl());
    let rows: Vec<String> =
        spelled().map(|row| format!("{}x{}x{} {} -> {}", row.m, row.n, row.k, row.a, row.c)).collect();
    let rows = if rows.is_empty() { "none".into() } else { rows.join(", ") };
    let usable = match spelled().next() {
        None => "no",
        Some(_) if !caps.has_tensor_cores() => "no: subgroups of an unknown size",
        Some(_) if caps.subgroups.is_some_and(|sizes| sizes.min != sizes.max) => {
            "if the self-test passes and kernels have subgroups of the expected size"
        }
        Some(_) => "if the self-test passes",
    };
    format!("| {} | {f32} | {f16}, {loads} | {subgroups} | {rows} | {usable} |", device(caps))
}

/// What is known about a device's kernels beyond their plans. By hand: nothing here knows what was done elsewhere.
fn seen(caps: &Caps) -> &'static str {
    match caps.adapter.as_str() {
        name if name.contains("RTX 4090") || name.contains("RTX 3090") => "compiled for Ampere by Mesa's NAK",
        name if name.contains("RADV") => "compiled by Mesa's ACO",
        name if name.contains("B580") => "compiled by Mesa's ANV, by hand",
        name if name.contains("H200") => "run and measured",
        "" => "compiled by Tint, Chromium's compiler",
        _ if caps.device_type == DeviceType::Software => "run and measured",
        _ => "neither",
    }
}

fn readme_row(caps: &Caps) -> String {
    let f16 = if caps.f16 { "native" } else { "packed pairs" };
    let spelled = caps.rows.iter().find(|row| row.is_spelled_in_wgsl());
    let in_spirv = || caps.rows.iter().find(|row| row.is_used_in_spirv() && row.a == CoopScalar::F16);
    let coop = match (spelled.or_else(in_spirv), caps.has_tensor_cores()) {
        (None, _) => "none".to_owned(),
        (Some(row), true) => format!("{}x{}x{}", row.m, row.n, row.k),
        (Some(row), false) => format!("{}x{}x{}, not usable", row.m, row.n, row.k),
    };
    let kernel = chosen_kernel(caps, DType::F16);
    format!("| {} | {kernel} | {f16} | {coop} | {} |", device(caps), seen(caps))
}

fn assert_table(file: &str, row: fn(&Caps) -> String) {
    let (_, text) = CHAPTERS.iter().find(|(name, _)| *name == file).unwrap();
    let rows: Vec<String> = fixtures::ALL.iter().map(|(_, caps)| row(&caps())).collect();
    let table = rows.join("\n");
    assert!(text.contains(&table), "the table of {file} should be\n{table}");
}

#[test]
fn tables_of_kernels_agree_with_the_plans() {
    assert_table("src/portability.md", portability_row);
    assert_table("../README.md", readme_row);
}

/// The lines of a chapter outside its code blocks.
fn prose(chapter: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    chapter.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchors of a chapter's headings: `{#anchor}` if there is one, otherwise what mdBook makes of the heading's text.
fn anchors(chapter: &str) -> BTreeSet<String> {
    let headings = prose(chapter).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| match heading.split_once("{#") {
        Some((_, anchor)) => anchor.trim_end_matches('}').to_owned(),
        None => {
            let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            text.chars().filter(|&c| c.is_alphanumeric() || c == '-' || c == '_').collect()
        }
    };
    headings.map(anchor).collect()
}

#[test]
fn links_between_chapters_resolve() {
    for (file, text) in CHAPTERS.iter().filter(|(file, _)| file.starts_with("src/")) {
        let lines = prose(text).collect::<Vec<_>>().join("\n");
        let targets =
            lines.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        for target in targets.filter(|target| !target.contains("://")) {
            let (name, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = if name.is_empty() { (*file).to_owned() } else { format!("src/{name}") };
            if !linked.ends_with(".md") {
                continue;
            }
            let chapter = CHAPTERS.iter().find(|(file, _)| *file == linked);
            let (_, chapter) = chapter.unwrap_or_else(|| panic!("{file} links {target}: no such chapter"));
            let is_there = anchor.is_empty() || anchors(chapter).contains(anchor);
            assert!(is_there, "{file} links {target}: no such heading");
        }
    }
}

#[test]
fn files_named_in_the_chapters_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["src/", "shaders/", "tests/", "benches/", "examples/", "book/"];
    for (chapter, text) in CHAPTERS {
        // Every second piece between backticks is code. The files of the example `quad` are the reader's own.
        let code = prose(text).flat_map(|line| line.split('`').skip(1).step_by(2));
        let is_path =
            |code: &&str| folders.iter().any(|folder| code.starts_with(folder)) && !code.contains([' ', '*']);
        for path in code.filter(is_path).filter(|path| !path.contains("/quad.")) {
            assert!(root.join(path).exists(), "{chapter} names {path}, which does not exist");
        }
    }
}

#[test]
fn tests_named_in_the_table_of_orders_exist() {
    let (_, text) = CHAPTERS.iter().find(|(name, _)| *name == "src/ordering.md").unwrap();
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/device");
    let rows: Vec<&str> = prose(text).filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() >= 15, "{} rows were found", rows.len());
    for row in rows {
        let cell = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or_default();
        let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test holds the row {row}");
        for name in names {
            let (module, test) =
                name.rsplit_once("::").unwrap_or_else(|| panic!("{name} is no path of a test"));
            let file = device.join(module.replace("::", "/")).with_extension("rs");
            let source = std::fs::read_to_string(&file).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(source.contains(&format!("#[test]\nfn {test}()")), "there is no test {name}");
        }
    }
}

/// The last column of the tables says which modules of which test binaries hold the library to a row.
#[test]
fn modules_named_on_the_page_of_drivers_exist() {
    let (_, page) = CHAPTERS.iter().find(|(file, _)| *file == "src/drivers.md").expect("it is a chapter");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut named = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| tests |")) {
        let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        for place in last.split("; ") {
            let mut names = place.split('`').skip(1).step_by(2);
            let folder = tests.join(names.next().unwrap_or_else(|| panic!("no test holds: {row}")));
            for module in names {
                let file = folder.join(format!("{module}.rs"));
                assert!(file.exists() || folder.join(module).is_dir(), "{module} of {row}");
                named += 1;
            }
        }
    }
    assert!(named > 20, "{named} modules");
}
