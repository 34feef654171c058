//! Texts with a header and a digest: cache files that a person can read.

use super::cache_file::digest_of_text;

/// The text of a file: `header`, the lines, and a digest of both.
#[must_use]
pub fn seal_text(header: &str, lines: &[String]) -> String {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let text = [header, &body].concat();
    format!("{text}sha256 {}\n", digest_of_text(&text))
}

/// The lines of a file with this header.
///
/// # Errors
/// The reason why the file is not used.
pub fn unseal_text(contents: &[u8], header: &str) -> Result<Vec<String>, String> {
    let text = str::from_utf8(contents).map_err(|_| "it is not a text")?;
    let (body, _) = text.rsplit_once("sha256 ").ok_or("it is damaged")?;
    let lines: Vec<String> = match body.strip_prefix(header) {
        Some(rows) => rows.lines().map(ToOwned::to_owned).collect(),
        None => return Err("it is of another driver, adapter or version, or damaged".into()),
    };
    if seal_text(header, &lines) == text { Ok(lines) } else { Err("it is damaged".into()) }
}

#[cfg(test)]
mod tests {
    use super::{seal_text, unseal_text};

    #[test]
    fn a_file_that_is_not_whole_or_not_ours_is_not_used() {
        let lines = ["one: wrong results".to_owned()];
        let whole = seal_text("header\n", &lines);
        for (text, why) in [
            (whole.replace("wrong results", "good results"), "damaged"),
            (whole.replace("one", "two"), "damaged"),
            (whole[..whole.len() - 2].into(), "damaged"),
            (format!("{whole}\n"), "damaged"),
            (String::new(), "damaged"),
            ("sha256 sha256 ".into(), "damaged"),
            (seal_text("another\n", &lines), "another driver"),
            (seal_text("", &lines), "another driver"),
        ] {
            let error = unseal_text(text.as_bytes(), "header\n").expect_err("it is not to be relied on");
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
