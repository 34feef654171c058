//! Files of tuning that are planted, damaged or foreign: they are not used, or choose another legal plan at worst.

use super::{executed, file_in, opened, problem};
use std::fs;
use std::path::{Path, PathBuf};
use support::warnings_with;
use tilewise::gpu::Tuning;
use tilewise::planning::cache::seal_text;

/// A folder with a file of tuning, and the file. None without a device.
fn tuned(name: &str) -> Option<(PathBuf, PathBuf)> {
    let folder = support::folder(name);
    let gpu = opened(&folder, Tuning::Remembered)?;
    gpu.tune(&problem(&gpu)).unwrap();
    let file = file_in(&folder);
    Some((folder, file))
}

/// The signature of the plan that a new device takes.
fn taken(folder: &Path) -> String {
    executed(&opened(folder, Tuning::Remembered).unwrap()).0.signature()
}

fn predicted(folder: &Path) -> String {
    executed(&opened(folder, Tuning::Off).unwrap()).0.signature()
}

#[test]
fn a_file_that_is_damaged_or_of_another_driver_is_not_used() {
    let Some((folder, file)) = tuned("tuning-damaged") else { return };
    let whole = fs::read_to_string(&file).unwrap();
    let of_another = whole.replacen("version ", "version 9.", 1);
    let (body, _) = of_another.rsplit_once("sha256 ").unwrap();
    let planted = [
        ("cut short", whole[..whole.len() / 2].to_owned()),
        ("a number changed", whole.replacen("won\t", "won\t1", 1)),
        ("no text", "\u{fffd}".repeat(9)),
        ("empty", String::new()),
        ("of another version", seal_text(body, &[])),
        ("of another form", seal_text(&whole[..whole.find("\nproblem\t").unwrap() + 1], &["x".into()])),
    ];
    for (what, text) in planted {
        let warned = || warnings_with(&file.display().to_string()).len();
        let before = warned();
        fs::write(&file, &text).unwrap();
        assert_eq!(taken(&folder), predicted(&folder), "{what}");
        assert_eq!(warned(), before + 1, "{what}: one warning");
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            text,
            "{what}: nothing is written before something is tuned"
        );
    }
    let gpu = opened(&folder, Tuning::Remembered).unwrap();
    gpu.tune(&problem(&gpu)).unwrap();
    assert_eq!(opened(&folder, Tuning::Remembered).unwrap().tuned().len(), 1, "it is written anew");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_winner_that_is_no_candidate_is_ignored() {
    let Some((folder, file)) = tuned("tuning-planted") else { return };
    let whole = fs::read_to_string(&file).unwrap();
    let at = whole.find("\nproblem\t").unwrap() + 1;
    let (lines, _) = whole[at..].rsplit_once("sha256 ").unwrap();
    let planted: Vec<String> = lines
        .lines()
        .map(|line| match line.strip_prefix("won\t") {
            Some(rest) => {
                format!("won\t{}\tgemm/naive 1 elements #000000000000", rest.rsplit_once('\t').unwrap().0)
            }
            None => line.to_owned(),
        })
        .collect();
    fs::write(&file, seal_text(&whole[..at], &planted)).unwrap();
    assert_eq!(taken(&folder), predicted(&folder));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
#[cfg(unix)]
fn a_file_that_others_may_write_to_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let Some((folder, file)) = tuned("tuning-shared") else { return };
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let gpu = opened(&folder, Tuning::Remembered).unwrap();
    assert!(gpu.tuned().is_empty());
    assert_eq!(warnings_with(&file.display().to_string()).len(), 1);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_device_that_is_opened_without_tuning_has_no_file() {
    let folder = support::folder("tuning-off");
    let Some(gpu) = opened(&folder, Tuning::Off) else { return };
    gpu.tune(&problem(&gpu)).unwrap();
    let files = fs::read_dir(&folder).map(|files| files.flatten().map(|file| file.file_name()).collect());
    let files: Vec<std::ffi::OsString> = files.unwrap_or_default();
    assert!(files.iter().all(|name| !name.to_string_lossy().starts_with("tuning")), "{files:?}");
    let _ = fs::remove_dir_all(folder);
}
