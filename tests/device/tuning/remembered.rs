//! The fastest plan is remembered: by a second device, and by a second process.

use super::{another, executed, file_in, opened, problem, result_of};
use std::fs;
use std::path::Path;
use support::process;
use tilewise::gpu::{CacheFolder, Checks, TriedVerdict, Tuned, Tuning};
use tilewise::planning::cache::{parse_tuning, seal_text, tuning_lines};
use tilewise::planning::{Plan, Problem};
use tilewise::{Fill, Gemm, Gpu};

/// The header of the file and what was tuned.
fn read(file: &Path) -> (String, Vec<Tuned>) {
    let text = fs::read_to_string(file).unwrap();
    let (header, rest) = text.split_at(text.find("\nproblem\t").expect("a problem") + 1);
    let (lines, _) = rest.rsplit_once("sha256 ").unwrap();
    let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    (header.to_owned(), parse_tuning(&lines).expect("lines of tuning"))
}

/// Lets a run tune the small product, and then another candidate than the predicted one win. Returns its signature.
fn tuned_otherwise(folder: &Path) -> Option<String> {
    let gpu = opened(folder, Tuning::Remembered)?;
    gpu.tune(&problem(&gpu)).unwrap();
    Some(let_win(folder, |tuned| another(tuned).signature.clone()))
}

/// Changes the file, which has one problem, so that the candidate with this signature has won. Returns the signature.
fn let_win(folder: &Path, choose: impl FnOnce(&Tuned) -> String) -> String {
    let file = file_in(folder);
    let (header, mut all) = read(&file);
    let [tuned] = &mut all[..] else { panic!("{all:?}") };
    let signature = choose(tuned);
    for tried in &mut tuned.tried {
        let has_won = tried.signature == signature;
        tried.verdict = if has_won { TriedVerdict::Won } else { TriedVerdict::Right };
    }
    fs::write(&file, seal_text(&header, &tuning_lines(&all))).unwrap();
    signature
}

#[test]
fn a_second_device_takes_the_plan_that_was_the_fastest() {
    let folder = support::folder("tuned");
    let Some(signature) = tuned_otherwise(&folder) else { return };
    let off = opened(&folder, Tuning::Off).unwrap();
    let (by_prediction, _) = executed(&off);
    assert_ne!(by_prediction.signature(), signature, "a device opened without tuning does not look");
    for tuning in [Tuning::Remembered, Tuning::Now] {
        let gpu = opened(&folder, tuning).unwrap();
        let (plan, result) = executed(&gpu);
        assert_eq!(plan.signature(), signature, "{tuning:?}");
        assert_eq!(result, result_of(&off, &signature), "{tuning:?}: the same plan, the same bits");
        assert_eq!(gpu.stats().launches, plan.steps().len() as u64, "{tuning:?}: nothing is tuned again");
    }
    // A device of an application, and one that checks its shaders, for which nothing was measured.
    let mut usual = Checks::Trusted;
    let checked = support::own(|options| {
        usual = options.checks;
        options.cache = CacheFolder::At(folder.clone());
        options.tuning = Tuning::Remembered;
        options.checks = Checks::Checked;
    });
    // Where all devices of the run check theirs, it is one of them.
    let is_another = usual != Checks::Checked;
    let is_same =
        |gpu: &Gpu| support::untimed(gpu.caps()) == support::untimed(checked.as_ref().unwrap().caps());
    if is_another && support::gpu().is_some_and(|gpu| is_same(&gpu)) {
        assert_eq!(executed(&checked.unwrap()).0.signature(), by_prediction.signature());
    }
    assert_eq!(support::warnings_with(&folder.display().to_string()), Vec::<String>::new());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_second_process_takes_the_plan_that_was_the_fastest() {
    if let Some(folder) = process::handed() {
        let gpu = opened(Path::new(&folder), Tuning::Remembered).expect("a device");
        let tuned = gpu.tuned_for(&problem(&gpu)).expect("the first process has tuned it");
        let (plan, _) = executed(&gpu);
        assert_eq!(plan.signature(), tuned.winner().expect("a winner").signature);
        assert_ne!(plan.signature(), tuned.tried[0].signature, "the prediction would be another");
        return;
    }
    let folder = support::folder("tuned-process");
    if tuned_otherwise(&folder).is_none() {
        return;
    }
    let name = concat!(module_path!(), "::a_second_process_takes_the_plan_that_was_the_fastest");
    process::assert_passes(process::again(name, &folder));
    fs::remove_dir_all(folder).unwrap();
}

/// Two devices that tune different problems at the same time: the file has both.
#[test]
fn what_another_device_has_tuned_meanwhile_is_kept() {
    let folder = support::folder("tuned-twice");
    let Some(first) = opened(&folder, Tuning::Remembered) else { return };
    let second = opened(&folder, Tuning::Remembered).unwrap();
    first.tune(&problem(&first)).unwrap();
    second.tune(&problem(&second).alpha(2.0)).unwrap();
    let (_, all) = read(&file_in(&folder));
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(second.tuned(), all);
    first.forget_tuning();
    let third = opened(&folder, Tuning::Remembered).unwrap();
    assert!(third.tuned().is_empty());
    fs::remove_dir_all(folder).unwrap();
}

/// The winner needs more memory for its temporaries than there is: the predicted plan computes the product.
#[test]
fn a_winner_without_room_for_its_temporaries_is_not_taken() {
    let folder = support::folder("tuned-room");
    let with_budget = |budget| {
        support::own(|options| {
            (options.cache, options.tuning) = (CacheFolder::At(folder.clone()), Tuning::Remembered);
            options.memory_budget = budget;
        })
    };
    let operands = |gpu: &Gpu| {
        let of = |shape, seed| gpu.random::<f32>(shape, Fill::Uniform, seed).unwrap();
        [of([64, 6000], 1), of([6000, 64], 2)]
    };
    let taken = |gpu: &Gpu| {
        let [a, b] = operands(gpu);
        let (c, plans) = gpu.plans_of(|| Gemm::new(&a, &b).run().unwrap());
        assert!(c.to_vec().unwrap().iter().all(|c| c.is_finite()));
        (plans[0].signature(), gpu.stats().bytes_in_use)
    };
    let Some(gpu) = with_budget(None) else { return };
    let [a, b] = operands(&gpu);
    let problem = Gemm::new(&a, &b).problem().unwrap();
    drop((a, b));
    let (predicted, in_use) = taken(&gpu);
    gpu.tune(&problem).unwrap();
    let bytes = |plan: &Plan| plan.temporaries().iter().sum::<u64>();
    let candidates = problem.candidates(gpu.caps()).unwrap();
    let most = candidates.iter().map(bytes).max().unwrap();
    let largest = let_win(&folder, |tuned| {
        let is_largest = |plan: &&Plan| {
            bytes(plan) == most && tuned.tried.iter().any(|tried| tried.signature == plan.signature())
        };
        candidates.iter().find(is_largest).expect("it was tried").signature()
    });
    assert!(most > 2 * bytes(&candidates[0]) && most > 1 << 16, "{most}: {}", candidates[0]);
    assert_eq!(taken(&with_budget(None).unwrap()).0, largest);
    assert_eq!(taken(&with_budget(Some(in_use + most / 2)).unwrap()).0, predicted);
    fs::remove_dir_all(folder).unwrap();
}
