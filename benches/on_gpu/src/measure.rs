//! What each section runs.
//!
//! Sizes are those of a GPU. A run with sizes of its own, such as a trial, gives them to every section.

use crate::error::{Error, Result};
use crate::log::Log;
use crate::rows::TestRow;
use crate::run::{self, Program};
use crate::section::Section;
use crate::settings::Settings;
use bench::file::FileError;
use bench::lines::{self, SkippedRow};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Sizes of the cubes of sections `gemm` and `peers`.
const SIZES: &[usize] = &[256, 512, 1024, 2048, 4096, 8192];
/// Those of section `peaks`: the bench leaves the largest to kernels on matrices.
const PEAK_SIZES: &[usize] = &[256, 512, 1024, 2048, 4096, 8192, 16384];
/// Sizes where every size would not end in time: every tile is measured at each, and variants are compared with tiles.
const FEW_SIZES: &[usize] = &[1024, 4096, 8192];
const SKETCH_SIZES: &[usize] = &[4096];
const FACTOR_SIZES: &[usize] = &[1000];
const LAYER_SIZES: &[usize] = &[256, 512, 1024, 2048, 4096, 8192, 16384];
const CLIFFORD_SIZES: &[usize] = &[64, 512];
const ATTENTION_SIZES: &[usize] = &[1024, 4096];
const OPS_SIZES: &[usize] = &[8192];
/// Edges of square matrices with as many elements as sections `norms` and `rows` take.
const NORM_SIZES: &[usize] = &[8192];
const ROW_SIZES: &[usize] = &[8192];
/// The fewest elements of `norms` and `rows`, as a logarithm: fewer have no row of each length.
const MIN_LOG: u32 = 12;
/// Size up to which section `gemm` runs the naive kernel too.
const MAX_NAIVE: usize = 1024;
/// Largest size of section `tune`: its trials are checked, which takes long beyond.
const MAX_TUNED: usize = 2048;
/// The test that reads the library's sources where they were when it was built.
const SOURCES_TEST: &str = "only_the_machine_is_told_which_devices_are_software";
/// The file of what section `benchmark` has measured, in the folder of results.
const SAVED: &str = "benchmark.json";
/// What showing the table of a benchmark that was stopped may take of the section's time.
const SHOWING: Duration = Duration::from_secs(5);
/// Time that flash-clifford may take.
const FLASH_LIMIT: Duration = Duration::from_secs(120);

/// Runs a section for `limit` at most and leaves its results in `dir`.
pub(crate) fn run(
    settings: &Settings,
    dir: &Path,
    section: Section,
    limit: Duration,
    log: &mut Log,
) -> Result<()> {
    let mut run = Run { settings, dir, section, limit, log };
    match section {
        Section::Info => run.info(),
        Section::Sweep => run.sweep("0"),
        Section::Checked => run.sweep("1"),
        Section::Gemm => run.gemm(),
        Section::Tiles => {
            let seconds = run.last_start().as_secs().to_string();
            run.bench("tiles", FEW_SIZES, &[("TILEWISE_SECONDS", &seconds)])
        }
        Section::Peaks => {
            let seconds = run.last_start().as_secs().to_string();
            run.bench("gemm", PEAK_SIZES, &[("TILEWISE_TABLE", "json"), ("TILEWISE_SECONDS", &seconds)])
        }
        Section::Host => run.bench("host", SIZES, &[("TILEWISE_TABLE", "json")]),
        Section::Staging => run.bench("staging", SIZES, &[]),
        Section::Variants => run.bench("variants", FEW_SIZES, &[]),
        Section::Attention => run.attention(),
        Section::Conv => run.conv(),
        Section::Ops => run.bench("ops", OPS_SIZES, &[]),
        Section::Windows => run.windows(),
        Section::Norms => run.logs("norms", NORM_SIZES, "Layer,Group"),
        Section::Rows => run.logs("rows", ROW_SIZES, "Sum,Softmax"),
        Section::Sketch => run.bench("sketch", SKETCH_SIZES, &[]),
        Section::Factor => run.bench("factor", FACTOR_SIZES, &[]),
        Section::SketchedLayers => run.bench("sketched_layer", LAYER_SIZES, &[]),
        Section::Clifford => run.bench("clifford", CLIFFORD_SIZES, &[]),
        Section::CliffordLayers => run.bench("clifford_layers", CLIFFORD_SIZES, &[]),
        Section::Connected => run.bench("connected", CLIFFORD_SIZES, &[]),
        Section::Benchmark => run.benchmark(),
        Section::Tune => run.tune(),
        Section::Embed => run.embed(),
        Section::Frames => run.frames(),
        Section::Flash => {
            let sizes = joined(run.sizes(CLIFFORD_SIZES));
            run.python("benches/peers/flash_clifford.py", &[&sizes], FLASH_LIMIT)
        }
        Section::Peers => {
            let (seconds, sizes) = (run.last_start().as_secs().to_string(), joined(run.sizes(SIZES)));
            let arguments = ["--seconds", &seconds, &sizes];
            run.python("benches/peers/torch_gemm.py", &arguments, Duration::MAX)
        }
    }
}

/// A section that is running.
struct Run<'a> {
    settings: &'a Settings,
    dir: &'a Path,
    section: Section,
    limit: Duration,
    log: &'a mut Log,
}

impl Run<'_> {
    /// When a section that stops by itself starts nothing new.
    fn last_start(&self) -> Duration {
        self.limit * 9 / 10
    }

    fn sizes<'a>(&'a self, default: &'a [usize]) -> &'a [usize] {
        self.settings.sizes.as_deref().unwrap_or(default)
    }

    /// Whether the run has sizes of its own, and so is to do less.
    fn is_small(&self) -> bool {
        self.settings.sizes.is_some()
    }

    /// A new file of results.
    fn create(&self, name: &str) -> Result<File> {
        let path = self.dir.join(name);
        Ok(File::create(&path).map_err(FileError::of("write", &path))?)
    }

    fn start(&mut self, program: Program, out: File) -> Result<()> {
        program.run(out, self.log, self.limit)
    }

    fn info(&mut self) -> Result<()> {
        for (file, arguments) in [("info.txt", &[][..]), ("info.json", &["--json"])] {
            let out = self.create(file)?;
            let program = Program::packed(self.settings, "examples/info")?.args(arguments);
            self.start(program, out)?;
        }
        Ok(())
    }

    /// A bench, whose lines are the section's results.
    fn bench(&mut self, name: &str, sizes: &[usize], variables: &[(&str, &str)]) -> Result<()> {
        // First, so that no results of an earlier run are shown if this one fails.
        let out = self.create(&self.section.file())?;
        let program = Program::packed(self.settings, &format!("benches/{name}"))?;
        let mut program = program.env("GPU_REQUIRED", "1").env("TILEWISE_SIZES", &joined(self.sizes(sizes)));
        if let Some(batches) = &self.settings.batches {
            program = program.env("TILEWISE_BATCHES", &joined(batches));
        }
        for (name, value) in variables {
            program = program.env(name, value);
        }
        self.start(program, out)
    }

    /// A bench whose sizes are logarithms of numbers of elements: those of square matrices. A small run takes the largest
    /// alone, and `some` of the cases.
    fn logs(&mut self, name: &str, sizes: &[usize], some: &str) -> Result<()> {
        let log = |size: &usize| (2 * size.max(&1).ilog2()).max(MIN_LOG).to_string();
        let logs: Vec<String> = self.sizes(sizes).iter().map(log).collect();
        match logs.last() {
            Some(last) if self.is_small() => {
                self.bench(name, sizes, &[("TILEWISE_SIZES", last), ("TILEWISE_ONLY", some)])
            }
            _ => self.bench(name, sizes, &[("TILEWISE_SIZES", &logs.join(","))]),
        }
    }

    /// A small run takes the largest length alone: each head dim and type has kernels of its own.
    fn attention(&mut self) -> Result<()> {
        match self.settings.sizes.as_deref().and_then(<[usize]>::last).map(ToString::to_string) {
            Some(last) => self.bench("attention", ATTENTION_SIZES, &[("TILEWISE_SIZES", &last)]),
            None => self.bench("attention", ATTENTION_SIZES, &[]),
        }
    }

    /// Images of 56 x 56; a small run takes smaller ones, and some of the cases.
    fn conv(&mut self) -> Result<()> {
        let small = [("TILEWISE_SIZES", "8"), ("TILEWISE_ONLY", "1x1,depthwise,fused")];
        self.bench("conv", &[56], if self.is_small() { &small } else { &[] })
    }

    /// A tensor of 1 GiB; a small run takes one of 2 MiB.
    fn windows(&mut self) -> Result<()> {
        let mebibytes = if self.is_small() { "2" } else { "1024" };
        self.bench("windows", &[], &[("TILEWISE_SIZES", mebibytes)])
    }

    /// An example that prints its results itself.
    fn example(&mut self, name: &str, file: &str, arguments: &[&str]) -> Result<()> {
        let out = self.create(file)?;
        let program = Program::packed(self.settings, &format!("examples/{name}"))?.args(arguments);
        let program = program.within(self.dir).env("TILEWISE_ROOT", &self.settings.root.to_string_lossy());
        // What is remembered of the device is remembered here, and nothing of earlier runs.
        let cache = self.dir.join(".cache").to_string_lossy().into_owned();
        self.start(program.env("TILEWISE_CACHE", &cache), out)
    }

    /// Saved after every round, so that a run that is stopped has its table, too.
    fn benchmark(&mut self) -> Result<()> {
        let saved = self.dir.join(SAVED);
        if saved.is_file() {
            std::fs::remove_file(&saved).map_err(FileError::of("remove", &saved))?;
        }
        let size = self.sizes(&[]).last().map(ToString::to_string);
        let mut arguments = vec!["--quick", "--save", SAVED];
        if let Some(size) = &size {
            arguments.extend(["--ops", "gemm", "--rounds", "3", "--sizes", size]);
        }
        let file = self.section.file();
        let showing = SHOWING.min(self.limit / 2);
        self.limit -= showing;
        let run = self.example("benchmark", &file, &arguments);
        if matches!(run, Err(Error::TimeIsUp { .. })) && saved.is_file() {
            let out = self.create(&file)?;
            let shown = Program::packed(self.settings, "examples/benchmark")?.args(["--from", SAVED]);
            shown.within(self.dir).run(out, self.log, showing)?;
        }
        run
    }

    /// Both products of f32 and f16 and attention, after the device's rates.
    fn tune(&mut self) -> Result<()> {
        let sizes: Vec<usize> =
            self.sizes(FEW_SIZES).iter().copied().filter(|&size| size <= MAX_TUNED).collect();
        let sizes = joined(&sizes);
        let types = if self.is_small() { "f32" } else { "f32,f16" };
        let ops = if self.is_small() { "gemm" } else { "gemm,attention" };
        let file = self.section.file();
        self.example("tune", &file, &["--machine", "--ops", ops, "--sizes", &sizes, "--dtypes", types])
    }

    fn embed(&mut self) -> Result<()> {
        let file = self.section.file();
        if self.is_small() {
            return self.example("embed", &file, &["--json", "A cat sleeps.", "The market fell."]);
        }
        self.example("embed", &file, &["--json", "--speed"])
    }

    fn frames(&mut self) -> Result<()> {
        let file = self.section.file();
        let small: &[&str] = if self.is_small() { &["--size", "64x36", "--frames", "8"] } else { &[] };
        self.example("frames", &file, &[&["--json"], small].concat())
    }

    /// A script of a peer; where there is no Python, one line says so.
    fn python(&mut self, script: &str, arguments: &[&str], limit: Duration) -> Result<()> {
        let path = self.dir.join(self.section.file());
        if !run::has_python() {
            return Ok(lines::write(&path, &[SkippedRow { skipped: "there is no python3".into() }])?);
        }
        let out = self.create(&self.section.file())?;
        let limit = limit.min(self.limit);
        Program::python(self.settings, script).args(arguments).run(out, self.log, limit)
    }

    /// Every product by the plan's choice; the smaller ones by the plainest kernel too.
    fn gemm(&mut self) -> Result<()> {
        let out = self.create(&self.section.file())?;
        let mut result = Ok(());
        for size in self.sizes(SIZES).to_vec() {
            for dtype in ["f32", "f16"] {
                let mut options: Vec<[&str; 2]> =
                    ["nn", "nt", "tn", "tt"].map(|layout| ["--layout", layout]).to_vec();
                if size <= MAX_NAIVE {
                    options.push(["--kernel", "naive"]);
                }
                for option in options {
                    result = result.and(self.product(size, dtype, option, &out));
                }
            }
        }
        result
    }

    fn product(&mut self, size: usize, dtype: &str, option: [&str; 2], out: &File) -> Result<()> {
        let size = &size.to_string();
        let program = Program::packed(self.settings, "examples/gemm")?
            .args(["--m", size, "--n", size, "--k", size, "--dtype", dtype, "--repeat", "10", "--json"])
            .args(option);
        let out = out.try_clone().map_err(FileError::of("share", &self.dir.join(self.section.file())))?;
        self.start(program, out)
    }

    /// Every test that was packed, with the full sweep.
    fn sweep(&mut self, checked: &str) -> Result<()> {
        let folder = self.settings.programs.join("tests");
        let entries = std::fs::read_dir(&folder).map_err(FileError::of("read", &folder))?;
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        let path = self.dir.join(self.section.file());
        let (mut ended, mut result) = (Vec::new(), Ok(()));
        for name in names {
            let (row, test) = self.test(&name, checked)?;
            ended.push(row);
            result = result.and(test);
            lines::write(&path, &ended)?;
        }
        result
    }

    /// Runs the tests of one program: what came of them, and whether they passed.
    fn test(&mut self, name: &str, checked: &str) -> Result<(TestRow, Result<()>)> {
        let started = Instant::now();
        let program = Program::packed(self.settings, &format!("tests/{name}"))?
            .args(["--nocapture", "--skip", SOURCES_TEST])
            .env("TILEWISE_ROOT", &self.settings.root.to_string_lossy())
            .env("GPU_REQUIRED", "1")
            .env("TILEWISE_SWEEP", "full")
            .env("TILEWISE_CHECKED", checked);
        let path = self.dir.join(".test");
        let out = self.create(".test")?;
        let result = self.start(program, out);
        let printed = std::fs::read(&path).map_err(FileError::of("read", &path))?;
        std::fs::remove_file(&path).map_err(FileError::of("remove", &path))?;
        self.log.file()?.write_all(&printed).map_err(FileError::of("write", &self.dir.join(".log")))?;
        let row = TestRow {
            test: name.into(),
            ok: result.is_ok(),
            passed: passed(&String::from_utf8_lossy(&printed)),
            seconds: started.elapsed().as_secs(),
        };
        Ok((row, result))
    }
}

/// How many tests passed, by what the test program printed.
fn passed(printed: &str) -> u64 {
    let results = printed.lines().filter_map(|line| line.strip_prefix("test result: "));
    results.filter_map(|result| result.split_once(" passed")?.0.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// `256,4096`.
fn joined(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_counted() {
        let printed = "running 2 tests\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; finished in 0.1s\n";
        assert_eq!(passed(printed), 2);
        assert_eq!(passed("it crashed"), 0);
    }

    #[test]
    fn sizes_are_joined_as_benches_read_them() {
        assert_eq!(joined(&[256, 4096]), "256,4096");
    }
}
