//! Runs all cases, prints what each found, and stores it as soon as it is there.

use crate::Options;
use crate::adapter;
use crate::case::{Case, Size};
use crate::error::{Error, Result};
use crate::process;
use crate::rows::{About, CaseRow, FailedRow};
use crate::versions::versions;
use bench::lines::Lines;
use bench::rows::Outcome;
use bench::statistics::Spread;
use bench::{about, is_software};
use clap::ValueEnum;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Sizes unless `--sizes` names some.
const ON_SOFTWARE: [Size; 7] = [
    Size::cube(64),
    Size::cube(128),
    Size::cube(256),
    Size::cube(512),
    Size::cube(1024),
    Size { m: 64, n: 1024, k: 4096 },
    Size { m: 64, n: 4096, k: 1024 },
];
const ON_GPU: [Size; 3] = [Size::cube(1024), Size::cube(4096), Size::cube(8192)];

/// Measures all cases. An error at the end names those that failed.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut file = options.json.as_deref().map(Lines::append_to).transpose()?;
    if std::env::var("WGPU_VALIDATION").is_ok_and(|value| value != "0") {
        eprintln!("peers: WGPU_VALIDATION is set: the times include Vulkan's validation");
    }
    let sizes = sizes(options)?;
    let about = About {
        date: about::today(),
        commit: about::commit(Path::new(".")).unwrap_or_default(),
        command: command(options),
        versions: versions(),
    };
    let limit = Duration::from_secs(options.limit);
    println!("ratio: the peer's time over Tilewise's; above 1 Tilewise is faster");
    let mut failed = Vec::new();
    for case in cases(options, &sizes) {
        match process::measure(case, options.rounds, limit)? {
            Ok(row) => {
                let row = CaseRow { about: about.clone(), ..row };
                print!("{row}");
                file.as_mut().map_or(Ok(()), |file| file.append(&row))?;
                if row.sides.first().is_none_or(|ours| ours.outcome.timed().is_none()) {
                    failed.push(case.to_string());
                }
            }
            Err(error) => {
                println!("{case}: {error}");
                let strategy = case.strategy.map(|strategy| strategy.to_string());
                let row = FailedRow { size: case.size, dtype: case.dtype, strategy, error };
                file.as_mut().map_or(Ok(()), |file| file.append(&row))?;
                failed.push(case.to_string());
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Error::Cases(failed.join(", "))) }
}

/// The sizes that the options name, or else those for the device, which is opened in any case: without a device there is
/// nothing to run.
fn sizes(options: &Options) -> Result<Vec<Size>> {
    let gpu = adapter::open()?;
    if !options.sizes.is_empty() {
        return Ok(options.sizes.clone());
    }
    Ok(if is_software(&gpu) { ON_SOFTWARE.to_vec() } else { ON_GPU.to_vec() })
}

fn cases(options: &Options, sizes: &[Size]) -> Vec<Case> {
    let mut cases = Vec::new();
    for &dtype in &options.dtypes {
        for &size in sizes {
            let strategies = options.strategy.strategies();
            cases.extend(strategies.into_iter().map(|strategy| Case { size, dtype, strategy }));
        }
    }
    cases
}

/// The command with these options. It names no file: where the results are says nothing of what was measured.
fn command(options: &Options) -> String {
    let Options { sizes, dtypes, strategy, rounds, limit, json: _ } = options;
    let mut command = String::from("peers");
    if !sizes.is_empty() {
        command += &format!(" --sizes {}", listed(sizes));
    }
    let strategy = strategy.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    command + &format!(" --dtypes {} --strategy {strategy} --rounds {rounds} --limit {limit}", listed(dtypes))
}

fn listed(all: &[impl ToString]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl fmt::Display for CaseRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}: {}", self.dtype, self.size, self.plan)?;
        for (at, side) in self.sides.iter().enumerate() {
            let timed = match &side.outcome {
                Outcome::Failed { error: why } | Outcome::LeftOut { left_out: why } => {
                    writeln!(f, "    {}: {why}", side.title())?;
                    continue;
                }
                Outcome::Timed(timed) => timed,
            };
            let peak = self.peak_flops * 1e-9;
            let share = 100.0 * timed.gflops / peak;
            write!(
                f,
                "    {}: {:.1} GFLOP/s = {share:.0}% of the f32 peak {peak:.1}",
                side.title(),
                timed.gflops
            )?;
            if let Some(ratio) = Spread::of(&timed.ratios).filter(|_| at > 0) {
                write!(f, ", ratio {ratio}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Type;
    use crate::rows::tests::{case, side};
    use crate::strategy::{Choice, Strategy};

    #[test]
    fn every_strategy_is_a_case_of_its_own() {
        let sizes = vec![Size::cube(64)];
        let options = Options {
            sizes: sizes.clone(),
            dtypes: vec![Type::F32, Type::F16],
            strategy: Choice::All,
            rounds: 1,
            limit: 1,
            json: None,
        };
        let all = cases(&options, &sizes);
        assert_eq!(all.len(), 2 * Choice::All.strategies().len());
        assert_eq!(all[0], Case { size: Size::cube(64), dtype: Type::F32, strategy: Some(Strategy::Naive) });
    }

    #[test]
    fn a_command_does_not_name_the_file_of_its_results() {
        let mut options = Options {
            sizes: vec![Size::cube(64), Size { m: 64, n: 1024, k: 4096 }],
            dtypes: vec![Type::F16],
            strategy: Choice::All,
            rounds: 5,
            limit: 60,
            json: Some("/a/b".into()),
        };
        let rest = "--dtypes f16 --strategy all --rounds 5 --limit 60";
        assert_eq!(command(&options), format!("peers --sizes 64x64x64,64x1024x4096 {rest}"));
        options.sizes.clear();
        assert_eq!(command(&options), format!("peers {rest}"));
    }

    #[test]
    fn a_case_prints_its_sides() {
        let row =
            case("llvmpipe", vec![side("Tilewise", "auto", 0.01, 1.0), side("CubeK", "auto", 0.008, 0.8)]);
        let text = "f32 512x512x512: gemm_tiled\n    Tilewise auto: 26.8 GFLOP/s = 54% of the f32 peak 50.0\n    \
                    CubeK auto: 33.6 GFLOP/s = 67% of the f32 peak 50.0, ratio 0.80 (0.80 to 0.80)\n";
        assert_eq!(row.to_string(), text);
    }
}
