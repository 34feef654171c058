//! Runs that end before their end, and what the next makes of it.

use super::model::{Model, assert_true};
use std::fs;
use std::path::Path;
use support::failure::says;
use support::progress::{Told, cancelled_at, recorded};
use tilewise::io::Safetensors;
use tilewise::sketch::{Budget, Compressed};
use tilewise::{Error, Gpu, Result, bf16, f16};

#[test]
fn a_run_that_was_stopped_anywhere_goes_on_to_the_same_bytes() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f16>(&gpu, "stopped");
    let (report, all) = recorded(|| model.compress().run(&gpu, &model.output));
    report.unwrap();
    let all = steps(&all);
    let expected = [
        (0, "factoring a.down.weight"),
        (1, "factored a.down.weight"),
        (1, "factoring a.up.weight"),
        (2, "factored a.up.weight"),
        (3, "stored a.down.weight"),
        (4, "stored a.up.weight"),
        (4, "writing the file"),
        (5, "done"),
    ];
    assert_eq!(all.iter().map(|(done, what)| (*done, &what[..])).collect::<Vec<_>>(), expected);
    let whole = fs::read(&model.output).unwrap();

    for (at, step) in all.iter().enumerate() {
        fs::remove_file(&model.output).unwrap();
        let last = step.clone();
        let stopped = stopped(&gpu, &model, move |told| (told.done, &told.what) == (last.0, &last.1));
        let error = stopped.unwrap_err().to_string();
        assert_eq!(error, "Compress::run: cancelled by the callback of `with_progress`");
        assert!(!model.output.exists(), "{step:?}");
        let kept = all[..=at].iter().filter(|(_, what)| what.starts_with("factored")).count();
        if kept == 0 {
            assert_eq!(model.files(), ["in.safetensors"], "nothing is left of nothing");
        } else {
            assert_eq!(model.kept().len(), kept);
        }
        let (report, again) = recorded(|| model.compress().run(&gpu, &model.output));
        assert_eq!(report.unwrap().reused, kept);
        let count =
            |what: &str| steps(&again).into_iter().filter(|(_, found)| found.starts_with(what)).count();
        assert_eq!([count("reused"), count("factored")], [kept, 2 - kept]);
        assert_eq!(fs::read(&model.output).unwrap(), whole, "stopped at {step:?}");
        assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);
    }
}

/// The steps of a compression among its reports, each once.
fn steps(all: &[Told]) -> Vec<(u64, String)> {
    let of_run = all.iter().filter(|told| told.call == "Compress::run");
    let mut steps: Vec<_> = of_run.map(|told| (told.done, told.what.clone())).collect();
    steps.dedup();
    steps
}

/// Compresses until a report of this kind.
fn stopped(gpu: &Gpu, model: &Model, is_it: impl Fn(&Told) -> bool + 'static) -> Result<Compressed> {
    let is_it = move |told: &Told| told.call == "Compress::run" && is_it(told);
    cancelled_at(|| model.compress().run(gpu, &model.output), is_it).0
}

/// The last report before the output is written.
fn is_stored(told: &Told) -> bool {
    told.what.starts_with("stored")
}

#[test]
fn factors_that_are_damaged_or_of_another_weight_are_made_again() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "damaged");
    model.compress().run(&gpu, &model.output).unwrap();
    let whole = fs::read(&model.output).unwrap();
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 5] = [
        ("cut short", |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        }),
        ("a bit", |path| {
            let mut bytes = fs::read(path).unwrap();
            let last = bytes.len() - 5;
            bytes[last] ^= 1;
            fs::write(path, bytes).unwrap();
        }),
        ("empty", |path| fs::write(path, []).unwrap()),
        ("no header", |path| fs::write(path, [255; 100]).unwrap()),
        ("another model", |path| {
            fs::copy(support::weights(), path).unwrap();
        }),
    ];
    for (name, damage) in damages {
        assert!(matches!(stopped(&gpu, &model, is_stored), Err(Error::Cancelled { .. })));
        assert_eq!(fs::read(&model.output).unwrap(), whole, "the old output is what it was");
        let kept = model.kept();
        assert_eq!(kept.len(), 2);
        damage(&kept[1]);
        // What a process leaves that was killed while it wrote, and what is none of ours.
        fs::write(model.partial().join(".tilewise-0123.draft"), b"half").unwrap();
        let report = model.compress().run(&gpu, &model.output).unwrap();
        assert_eq!((report.reused, fs::read(&model.output).unwrap()), (1, whole.clone()), "{name}");
        assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);
    }
    // The same names, another weight: nothing of the old one is taken.
    stopped(&gpu, &model, is_stored).unwrap_err();
    let mut bytes = fs::read(&model.input).unwrap();
    let changed = Safetensors::read(&model.input).unwrap();
    let weight = changed.bytes("a.up.weight").unwrap();
    let at = bytes.windows(weight.len()).position(|window| window == weight).unwrap();
    bytes[at] ^= 1;
    fs::write(&model.input, bytes).unwrap();
    fs::write(model.partial().join("mine.txt"), b"mine").unwrap();
    let report = model.compress().budget(Budget::Error(0.1)).run(&gpu, &model.output).unwrap();
    assert_eq!(report.reused, 1, "and another budget is no reason to begin again");
    assert_true(&report, &model.input, &model.output);
    assert_eq!(model.kept(), [model.partial().join("mine.txt")], "what is not ours stays");
}

#[test]
fn an_output_that_fails_at_the_end_is_taken_up_again() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<bf16>(&gpu, "end");
    // A folder takes the name while the layers are made.
    let output = model.output.clone();
    let late = stopped(&gpu, &model, move |told| {
        if told.what == "stored a.up.weight" {
            fs::create_dir(&output).unwrap();
        }
        false
    });
    says(late, &["out.safetensors: cannot be written", "folder"]);
    assert_eq!(model.kept().len(), 2, "the layers, and no draft: {:?}", model.kept());
    fs::remove_dir(&model.output).unwrap();
    assert_eq!(model.compress().run(&gpu, &model.output).unwrap().reused, 2);
    assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);

    // Another takes the folder of factors away, or has something else there.
    let partial = model.partial();
    let gone = stopped(&gpu, &model, move |told| {
        if told.what == "factored a.up.weight" {
            fs::remove_dir_all(&partial).unwrap();
        }
        false
    });
    says(gone, &["out.safetensors.partial"]);
    fs::write(model.partial(), b"mine").unwrap();
    says(model.compress().run(&gpu, &model.output), &["out.safetensors: cannot be written", ".partial"]);
    assert_eq!(fs::read(model.partial()).unwrap(), b"mine");
    assert!(Safetensors::read(&model.output).is_ok(), "the output of the run before is there");
}
