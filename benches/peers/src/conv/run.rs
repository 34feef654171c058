//! Runs all convolutions, prints what each found, and stores it as soon as it is there.

use super::rows::{ConvRow, FailedRow};
use super::{Options, process, shape};
use crate::adapter;
use crate::error::{Error, Result};
use crate::rows::About;
use crate::versions::versions;
use bench::about;
use bench::lines::Lines;
use bench::rows::Outcome;
use bench::statistics::Spread;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Measures all cases. An error at the end names those that failed.
pub(crate) fn run(options: &Options) -> Result<()> {
    adapter::open()?; // without a device there is nothing to run
    let mut file = options.json.as_deref().map(Lines::append_to).transpose()?;
    let about = About {
        date: about::today(),
        commit: about::commit(Path::new(".")).unwrap_or_default(),
        command: command(options),
        versions: versions(),
    };
    println!("ratio: the peer's time over Tilewise's; above 1 Tilewise is faster");
    let shapes = if options.shapes.is_empty() { shape::all() } else { options.shapes.clone() };
    let mut failed = Vec::new();
    for &dtype in &options.dtypes {
        for shape in &shapes {
            match process::measure(shape, dtype, options.rounds, Duration::from_secs(options.limit))? {
                Ok(row) => {
                    let row = ConvRow { about: about.clone(), ..row };
                    print!("{row}");
                    file.as_mut().map_or(Ok(()), |file| file.append(&row))?;
                    if row.sides.first().is_none_or(|ours| ours.outcome.timed().is_none()) {
                        failed.push(format!("{dtype} {shape}"));
                    }
                }
                Err(error) => {
                    println!("{dtype} {shape}: {error}");
                    let row = FailedRow { convolution: shape.clone(), dtype, error };
                    file.as_mut().map_or(Ok(()), |file| file.append(&row))?;
                    failed.push(format!("{dtype} {shape}"));
                }
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Error::Cases(failed.join(", "))) }
}

/// The command with these options. It names no file: where the results are says nothing of what was measured.
fn command(options: &Options) -> String {
    let Options { shapes, dtypes, rounds, limit, json: _ } = options;
    let mut command = String::from("peers conv");
    if !shapes.is_empty() {
        command += &format!(" --shapes {}", listed(shapes));
    }
    command + &format!(" --dtypes {} --rounds {rounds} --limit {limit}", listed(dtypes))
}

fn listed(all: &[impl ToString]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl fmt::Display for ConvRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}: {}", self.dtype, self.convolution, self.plan)?;
        for (at, side) in self.sides.iter().enumerate() {
            let timed = match &side.outcome {
                Outcome::Failed { error: why } | Outcome::LeftOut { left_out: why } => {
                    writeln!(f, "    {}: {why}", side.title())?;
                    continue;
                }
                Outcome::Timed(timed) => timed,
            };
            let milliseconds = timed.seconds * 1e3;
            write!(f, "    {}: {milliseconds:.2} ms, {:.1} GFLOP/s", side.title(), timed.gflops)?;
            if let Some(ratio) = Spread::of(&timed.ratios).filter(|_| at > 0) {
                write!(f, ", ratio {ratio}")?;
            }
            writeln!(f, "; {}", timed.checked.check)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::row;
    use super::*;
    use crate::case::Type;
    use crate::rows::tests::side;

    #[test]
    fn a_command_does_not_name_the_file_of_its_results() {
        let mut options = Options {
            shapes: shape::all()[..2].to_vec(),
            dtypes: vec![Type::F16],
            rounds: 5,
            limit: 60,
            json: Some("/a/b".into()),
        };
        let rest = "--dtypes f16 --rounds 5 --limit 60";
        let shapes = "--shapes resnet-7x7-s2-3-64,resnet-3x3-64-64";
        assert_eq!(command(&options), format!("peers conv {shapes} {rest}"));
        options.shapes.clear();
        assert_eq!(command(&options), format!("peers conv {rest}"));
    }

    #[test]
    fn a_row_prints_its_sides() {
        let sides = vec![side("Tilewise", "auto", 0.01, 1.0), side("CubeK", "direct", 0.02, 2.0)];
        let text = row("llvmpipe", "resnet-1x1-64-256", Type::F32, sides).to_string();
        assert!(
            text.starts_with("f32 resnet-1x1-64-256: gemm/tiled\n    Tilewise auto: 10.00 ms, "),
            "{text}"
        );
        assert!(
            text.contains("CubeK direct: 20.00 ms") && text.contains(", ratio 2.00 (2.00 to 2.00)"),
            "{text}"
        );
    }
}
