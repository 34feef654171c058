//! The files of the example `benchmark`: when they are written, what an interrupted run leaves, and what is never changed.

use crate::benchmark::{name, read};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use support::example::{run, scratch, start};

/// Seconds until which a started run has measured something.
const PATIENCE: Duration = Duration::from_secs(300);

/// Cases that are measured at once, for more rounds than a test waits for.
const ENDLESS: [&str; 8] =
    ["--ops", "clifford,attention", "--sizes", "64", "--dtypes", "f32", "--rounds", "1000"];
const SHORT: [&str; 8] = ["--ops", "clifford", "--sizes", "64", "--dtypes", "f32", "--rounds", "1"];

fn partial(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.partial", path.display()))
}

/// Waits until a run has saved a row in this file, and ends it.
fn interrupt(mut child: Child, saved: &Path) {
    let begin = Instant::now();
    let has_rows = || saved.exists() && read(saved)["rows"].as_array().is_some_and(|rows| !rows.is_empty());
    while !has_rows() {
        assert!(
            begin.elapsed() < PATIENCE && child.try_wait().expect("it is a child").is_none(),
            "no row was saved"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // As Ctrl-C does, which the example handles no more than this. NOTE: a shell's background jobs ignore the signal of Ctrl-C.
    #[cfg(unix)]
    {
        let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(id.expect("a process"), rustix::process::Signal::TERM)
            .expect("it runs");
    }
    #[cfg(not(unix))]
    child.kill().expect("it runs");
    assert!(!child.wait().expect("it ends").success());
}

#[test]
fn an_interrupted_run_leaves_what_it_measured() {
    let Some(gpu) = support::gpu() else { return };
    let [save, csv] = ["killed.json", "killed.csv"].map(scratch);
    let files = ["--save", &name(&save), "--csv", &name(&csv)];
    interrupt(start("benchmark", &[&ENDLESS[..], &files].concat()), &save);
    let saved = read(&save);
    assert_eq!((&saved["finished"], &saved["device"]), (&false.into(), &gpu.caps().adapter.clone().into()));
    let row = &saved["rows"][0];
    assert!(
        row["op"] == "clifford" && row["rounds"].as_array().is_some_and(|rounds| !rounds.is_empty()),
        "{row}"
    );
    let table = fs::read_to_string(&csv).expect("it was written");
    assert!(table.lines().count() >= 2, "{table}");
    let ended = run("benchmark", &["--from", &name(&save), "--compare", &name(&save)], &[]).passed();
    assert!(
        ended.stdout.contains("clifford") && ended.stdout.contains("that run was interrupted"),
        "{ended:?}"
    );
    [save, csv].into_iter().for_each(|file| fs::remove_file(file).expect("it was written"));
}

#[test]
fn a_baseline_is_replaced_by_a_whole_run_and_not_before() {
    let Some(_) = support::gpu() else { return };
    let save = scratch("baseline.json");
    let files = ["--save", &name(&save)];
    assert_eq!(run("benchmark", &[&SHORT[..], &files].concat(), &[]).code(), Some(0));
    let baseline = fs::read(&save).expect("it was written");
    // An interrupted run leaves it alone, and what was measured is next to it.
    let and_compare = ["--save", &name(&save), "--compare", &name(&save)];
    interrupt(start("benchmark", &[&ENDLESS[..], &and_compare].concat()), &partial(&save));
    assert!(fs::read(&save).expect("it is there") == baseline, "an interrupted run changed the baseline");
    let measured = read(&partial(&save));
    assert_eq!((&measured["finished"], &measured["rows"][0]["op"]), (&false.into(), &"clifford".into()));
    let _ended =
        run("benchmark", &["--from", &name(&partial(&save)), "--compare", &name(&save)], &[]).passed();
    // So does one that measures nothing, or that is refused.
    for arguments in
        [&["--ops", "clifford", "--sizes", "8x8x7"][..], &["--ops", "gemv", "--kernels", "magic"]]
    {
        assert_ne!(run("benchmark", &[arguments, &files].concat(), &[]).code(), Some(0));
        assert!(fs::read(&save).expect("it is there") == baseline, "a refused run changed the baseline");
    }
    // A whole run replaces it.
    run("benchmark", &[&SHORT[..], &and_compare].concat(), &[]).passed().prints(["rows       1 in both"]);
    assert!(fs::read(&save).expect("it is there") != baseline && !partial(&save).exists());
    fs::remove_file(save).expect("it was written");
}

#[test]
fn files_that_cannot_be_written_are_refused_before_anything_is_measured() {
    // No device is opened: none is found.
    let none = [("VK_DRIVER_FILES", "/nonexistent")];
    let folder = support::folder("benchmark-files");
    fs::create_dir_all(&folder).expect("the folder can be written to");
    for option in ["--save", "--json", "--csv", "--svg"] {
        for (path, why) in [
            ("/nonexistent/run".to_owned(), "cannot be written"),
            (name(&folder), "cannot be written: it is no regular file"),
        ] {
            let ended = run("benchmark", &[option, &path], &none);
            assert!(ended.refusal().contains(&format!("{path}: {why}")), "{option}: {ended:?}");
        }
    }
    // A file that is read, or written twice.
    let saved = folder.join("run.json");
    fs::write(&saved, "{}").expect("the folder can be written to");
    for (options, clash) in
        [(["--json", "--save"], "--json"), (["--csv", "--svg"], "--csv"), (["--json", "--csv"], "--json")]
    {
        let path = name(&folder.join("both"));
        let ended = run("benchmark", &[options[0], &path, options[1], &path], &none);
        let refusal = ended.refusal();
        assert!(refusal.contains("is the file of --") && refusal.contains(clash), "{options:?}: {refusal}");
        assert!(!folder.join("both").exists());
    }
    assert!(fs::read_dir(&folder).expect("a folder").count() == 1, "nothing is left in the folder");
    fs::remove_dir_all(folder).expect("it is there");
}

#[test]
fn a_tuned_run_says_so_and_leaves_the_rates_of_predictions_alone() {
    let Some(_) = support::gpu() else { return };
    let folder = support::folder("benchmark-tuned");
    let variables = [("TILEWISE_CACHE", folder.to_str().expect("a path")), ("TILEWISE_TUNING", "now")];
    let json = scratch("tuned.json");
    let arguments = ["--ops", "gemm,attention", "--sizes", "32", "--dtypes", "f16", "--rounds", "1"];
    run("benchmark", &[&arguments[..], &["--json", &name(&json)]].concat(), &variables)
        .passed()
        .prints(["predicted  tuned: "]);
    let report = read(&json);
    let predictions = &report["predictions"];
    assert_eq!(
        (&predictions["tuned"]["rows"], &predictions["untuned"]),
        (&2.into(), &Value::Null),
        "{report}"
    );
    for row in report["rows"].as_array().expect("a list") {
        assert_eq!((&row["choice"], &row["ok"]), (&"tuned".into(), &true.into()), "{row}");
    }
    // What was tuned is remembered. The peaks are measured in every run and are nobody's assumptions.
    let is_tuning =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tuning-"));
    let files = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let remembered: Vec<String> =
        files.filter(is_tuning).map(|path| fs::read_to_string(path).expect("a text")).collect();
    let [remembered] = &remembered[..] else { panic!("{remembered:?}") };
    assert!(remembered.contains("matmul 32") && !remembered.contains("f32_flops"), "{remembered}");
    assert_eq!(report["rates_measured"], false, "{report}");
    fs::remove_file(json).expect("it was written");
    fs::remove_dir_all(folder).expect("it was written");
}
