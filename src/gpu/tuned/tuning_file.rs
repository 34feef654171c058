//! The lines of a file of tuning: for each tuned problem, the candidates that were tried.

use super::tried::{Tried, TriedVerdict, Tuned};
use crate::caps::MeasuredRates;

/// The word that a line about a problem begins with.
const PROBLEM: &str = "problem";
/// The word that a line about a measured rate begins with.
const RATE: &str = "rate";
/// The separator of the fields of a line.
const TAB: char = '\t';

/// The lines of tuned problems: a line for each problem, with its key, date and description, followed by a line for each
/// candidate, with verdict, predicted and measured seconds, spread and signature.
#[must_use]
pub fn tuning_lines(all: &[Tuned]) -> Vec<String> {
    let plain = |text: &str| text.replace(char::is_control, " ");
    let mut lines = Vec::new();
    for Tuned { problem, date, tried, key } in all {
        lines.push(format!("{PROBLEM}{TAB}{key}{TAB}{date}{TAB}{}", plain(problem)));
        for Tried { signature, predicted, measured, spread, verdict } in tried {
            let measured = measured.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:e}"));
            let signature = plain(signature);
            lines.push(format!("{verdict}{TAB}{predicted:e}{TAB}{measured}{TAB}{spread:e}{TAB}{signature}"));
        }
    }
    lines
}

/// The lines of measured rates: names and values.
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) fn rate_lines(rates: &MeasuredRates) -> Vec<String> {
    let mut rates = *rates;
    let line =
        |(name, rate): (&str, &mut Option<f64>)| rate.map(|rate| format!("{RATE}{TAB}{name}{TAB}{rate:e}"));
    rates.named().into_iter().filter_map(line).collect()
}

/// The measured rates in the lines of a file. Unknown names are ignored.
pub(in crate::gpu) fn parse_rates(lines: &[String]) -> MeasuredRates {
    let mut rates = MeasuredRates::default();
    for line in lines {
        if let [RATE, name, value] = line.split(TAB).collect::<Vec<_>>()[..] {
            let mut named = rates.named().into_iter();
            if let Some((_, rate)) = named.find(|(known, _)| *known == name) {
                *rate = seconds(value);
            }
        }
    }
    rates
}

/// The tuned problems, from the lines of a file. None if a line has another form.
#[must_use]
pub fn parse_tuning(lines: &[String]) -> Option<Vec<Tuned>> {
    let mut all: Vec<Tuned> = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split(TAB).collect();
        if fields.iter().any(|field| field.contains(char::is_control)) {
            return None; // no such line is written
        }
        match fields[..] {
            [PROBLEM, key, date, problem] => all.push(Tuned {
                problem: problem.to_owned(),
                date: date.parse().ok()?,
                tried: Vec::new(),
                key: key.to_owned(),
            }),
            [verdict, predicted, measured, spread, signature] => {
                let (verdict, _) = TriedVerdict::ALL.into_iter().find(|(_, word)| *word == verdict)?;
                let measured = if measured == "-" { None } else { Some(seconds(measured)?) };
                let (predicted, spread) = (seconds(predicted)?, seconds(spread)?);
                let signature = signature.to_owned();
                all.last_mut()?.tried.push(Tried { signature, predicted, measured, spread, verdict });
            }
            [RATE, _, value] => _ = seconds(value)?,
            _ => return None,
        }
    }
    Some(all)
}

/// A finite number that is not negative.
fn seconds(text: &str) -> Option<f64> {
    text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
}

#[cfg(test)]
pub(in crate::gpu) mod tests {
    use super::*;

    /// Two candidates, of which the second won.
    pub(in crate::gpu) fn tuned(key: &str, date: u64) -> Tuned {
        let tried = |signature: &str, measured, verdict| Tried {
            signature: signature.to_owned(),
            predicted: 1.25e-5,
            measured,
            spread: 0.03,
            verdict,
        };
        Tuned {
            problem: "matmul 64x64x64 f32".to_owned(),
            date,
            tried: vec![
                tried("gemm/naive 64 elements #00", None, TriedVerdict::Untried),
                tried("gemm/tiled 32x32x16 #01", Some(1.0 / 3.0), TriedVerdict::Won),
            ],
            key: key.to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let all = [tuned("ab", 1_795_000_000), tuned("cd", 0)];
        let lines = tuning_lines(&all);
        assert_eq!(lines.len(), 6);
        assert_eq!(parse_tuning(&lines).as_deref(), Some(&all[..]));
        assert_eq!(parse_tuning(&[]), Some(Vec::new()));
    }

    #[test]
    fn measured_rates_are_read_again() {
        let rates =
            MeasuredRates { f32_flops: Some(5.8e10), launch_seconds: Some(4e-6), ..MeasuredRates::default() };
        let lines = [rate_lines(&rates), tuning_lines(&[tuned("ab", 1)])].concat();
        assert_eq!(parse_rates(&lines), rates);
        assert_eq!(parse_tuning(&lines), Some(vec![tuned("ab", 1)]));
        assert_eq!(parse_rates(&["rate\tspeed\t1".into()]), MeasuredRates::default());
        assert_eq!(parse_tuning(&["rate\tf32_flops\t-1".into()]), None);
    }

    #[test]
    fn a_text_never_ends_its_line_or_field() {
        let mut one = tuned("ab", 1);
        one.problem = "a\tb\nproblem\tc".into();
        one.tried[1].signature = "won\t1\n2".into();
        let read = parse_tuning(&tuning_lines(&[one])).expect("it has the form of a file");
        assert_eq!(read[0].problem, "a b problem c");
        assert_eq!(read[0].tried[1].signature, "won 1 2");
    }

    #[test]
    fn lines_of_another_form_are_refused() {
        let problem = "problem\tab\t1\tmatmul";
        for lines in [
            vec!["won\t1\t1\t0\ta"],                       // of no problem
            vec![problem, "won\t1\t1\t0"],                 // a field is missing
            vec![problem, "best\t1\t1\t0\ta"],             // no verdict
            vec![problem, "won\t-1\t1\t0\ta"],             // negative
            vec![problem, "won\t1\tNaN\t0\ta"],            // no number
            vec![problem, "won\t1\t1\tinf\ta"],            // infinite
            vec![problem, "won\t\t1\t0\ta"],               // empty
            vec!["problem\tab\tyesterday\tmatmul"],        // no date
            vec!["problem\tab\t1\tmatmul\tmore\tfields!"], // too many fields
            vec![""],
        ] {
            let lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
            assert_eq!(parse_tuning(&lines), None, "{lines:?}");
        }
    }
}
