//! Runs that end before their end, and what the next makes of it.

use super::model::{Model, WEIGHTS, assert_true};
use std::fs;
use std::path::Path;
use tilewise::io::Safetensors;
use tilewise::sketch::{Budget, Progress, ProgressStep};
use tilewise::{Error, bf16, f16};

#[test]
fn a_run_that_was_stopped_anywhere_goes_on_to_the_same_bytes() {
    let Some(gpu) = support::gpu() else { return };
    let stop = || Error::Input { what: "the test".into(), why: "enough".into() };
    let model = Model::new::<f16>(&gpu, "stopped");
    let mut all = Vec::new();
    let progress = |told: Progress<'_>| {
        assert_eq!(told.layers, 2);
        all.push((told.layer.to_owned(), told.number, told.step));
        Ok(())
    };
    model.compress().progress(progress).run(&gpu, &model.output).unwrap();
    let expected = [
        (1, ProgressStep::Factoring),
        (1, ProgressStep::Factored),
        (2, ProgressStep::Factoring),
        (2, ProgressStep::Factored),
    ];
    let expected = [&expected[..], &[(1, ProgressStep::Stored), (2, ProgressStep::Stored)]].concat();
    assert_eq!(all.iter().map(|(_, number, step)| (*number, *step)).collect::<Vec<_>>(), expected);
    let whole = fs::read(&model.output).unwrap();

    for (at, (_, _, step)) in all.iter().enumerate() {
        fs::remove_file(&model.output).unwrap();
        let mut steps = 0;
        let stopped = model.compress().progress(|_| {
            steps += 1;
            if steps > at { Err(stop()) } else { Ok(()) }
        });
        let error = stopped.run(&gpu, &model.output).unwrap_err().to_string();
        assert_eq!(error, "the test: enough");
        assert!(!model.output.exists(), "{step:?}");
        let kept = all[..=at].iter().filter(|(_, _, step)| *step == ProgressStep::Factored).count();
        if kept == 0 {
            assert_eq!(model.files(), ["in.safetensors"], "nothing is left of nothing");
        } else {
            assert_eq!(model.kept().len(), kept);
        }
        let mut steps = Vec::new();
        let again = model.compress().progress(|told| {
            steps.push(told.step);
            Ok(())
        });
        let report = again.run(&gpu, &model.output).unwrap();
        assert_eq!(report.reused, kept);
        assert_eq!(steps.iter().filter(|step| **step == ProgressStep::Reused).count(), kept);
        assert_eq!(steps.iter().filter(|step| **step == ProgressStep::Factored).count(), 2 - kept);
        assert_eq!(fs::read(&model.output).unwrap(), whole, "stopped at {step:?}");
        assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);
    }
}

#[test]
fn factors_that_are_damaged_or_of_another_weight_are_made_again() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "damaged");
    model.compress().run(&gpu, &model.output).unwrap();
    let whole = fs::read(&model.output).unwrap();
    let stop_at_end = |told: Progress<'_>| match told.step {
        ProgressStep::Stored => Err(Error::Input { what: "the test".into(), why: "enough".into() }),
        _ => Ok(()),
    };
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
            fs::copy(WEIGHTS, path).unwrap();
        }),
    ];
    for (name, damage) in damages {
        model.compress().progress(stop_at_end).run(&gpu, &model.output).unwrap_err();
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
    model.compress().progress(stop_at_end).run(&gpu, &model.output).unwrap_err();
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
    let late = model.compress().progress(|told| {
        if told.step == ProgressStep::Stored && told.number == 2 {
            fs::create_dir(&model.output).unwrap();
        }
        Ok(())
    });
    let error = late.run(&gpu, &model.output).unwrap_err().to_string();
    assert!(error.contains("out.safetensors: cannot be written") && error.contains("folder"), "{error}");
    assert_eq!(model.kept().len(), 2, "the layers, and no draft: {:?}", model.kept());
    fs::remove_dir(&model.output).unwrap();
    assert_eq!(model.compress().run(&gpu, &model.output).unwrap().reused, 2);
    assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);

    // Another takes the folder of factors away, or has something else there.
    let gone = model.compress().progress(|told| {
        if told.step == ProgressStep::Factored && told.number == 2 {
            fs::remove_dir_all(model.partial()).unwrap();
        }
        Ok(())
    });
    let error = gone.run(&gpu, &model.output).unwrap_err().to_string();
    assert!(error.contains("out.safetensors.partial"), "{error}");
    fs::write(model.partial(), b"mine").unwrap();
    let error = model.compress().run(&gpu, &model.output).unwrap_err().to_string();
    assert!(error.contains("out.safetensors: cannot be written") && error.contains(".partial"), "{error}");
    assert_eq!(fs::read(model.partial()).unwrap(), b"mine");
    assert!(Safetensors::read(&model.output).is_ok(), "the output of the run before is there");
}
