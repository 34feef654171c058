//! Numbers and errors as they are printed.

/// A number with three significant digits, and whole from 1000 on: `0.0123`, `1.2`, `12300`, `1.2e-05`.
pub(crate) fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let scientific = format!("{number:.2e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match exponent {
        3.. => format!("{number:.0}"),
        -4..=2 => {
            let decimals = usize::try_from(2 - exponent).unwrap_or(0);
            trimmed(&format!("{number:.decimals$}"))
        }
        _ => format!("{}e-{:02}", trimmed(digits), -exponent),
    }
}

/// [`short`], or a dash if there is no number.
pub(crate) fn short_or_dash(number: Option<f64>) -> String {
    number.map_or("-".into(), short)
}

/// Without zeros at the end of its decimals.
fn trimmed(number: &str) -> String {
    if !number.contains('.') {
        return number.into();
    }
    number.trim_end_matches('0').trim_end_matches('.').into()
}

/// The beginning of an error on one line; the whole of it is in the JSON.
pub(crate) fn brief(error: &str) -> String {
    const LENGTH: usize = 200;
    let compiling = " does not compile: ";
    let text = match error.rfind(compiling) {
        Some(at) => format!("it{compiling}{}", &error[at + compiling.len()..]),
        None => error.into(),
    };
    let printable = |c: char| if matches!(c, ' '..='~') { c } else { ' ' };
    let text: String = without_labels(&text).chars().map(printable).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() > LENGTH { format!("{} ...", &text[..LENGTH]) } else { text }
}

/// Without wgpu's labels of shader modules, which say what is known.
fn without_labels(text: &str) -> String {
    const LABEL: &str = "In Device::create_shader_module, label = '";
    let mut parts = text.split(LABEL);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('\'').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (1.0, "1"),
            (1.205, "1.21"),
            (22.04, "22"),
            (999.4, "999"),
            (999.6, "1000"),
            (12_345.6, "12346"),
            (0.000_1, "0.0001"),
            (0.000_012_34, "1.23e-05"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn errors_are_cut_to_one_line() {
        let error =
            "gemm_coop does not compile: In Device::create_shader_module, label = 'x'\n  no f16\u{e9}";
        assert_eq!(brief(error), "it does not compile: no f16");
        assert_eq!(brief(&"a ".repeat(300)).len(), 204);
    }
}
