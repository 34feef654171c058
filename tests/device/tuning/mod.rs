//! Tuning: plans are tried, compared and timed; the fastest is remembered for later devices and processes.

mod attempts;
mod faults;
mod files;
mod first_use;
mod peaks;
mod rates;
mod remembered;

use std::path::{Path, PathBuf};
use support::TestGpu;
use tilewise::gpu::{CacheFolder, Tried, TriedVerdict, Tuned, Tuning};
use tilewise::planning::gemm::GemmProblem;
use tilewise::planning::{Plan, Problem};
use tilewise::{Fill, Gemm, Gpu, Tensor};

/// A device that keeps its files in `folder`.
fn opened(folder: &Path, tuning: Tuning) -> Option<TestGpu> {
    support::own(|options| (options.cache, options.tuning) = (CacheFolder::At(folder.into()), tuning))
}

/// A device that keeps no files.
pub(crate) fn without_files(tuning: Tuning) -> Option<TestGpu> {
    support::own(|options| (options.cache, options.tuning) = (CacheFolder::Off, tuning))
}

/// A device without optional features, such as timestamps and f16, that keeps no files.
fn bare(tuning: Tuning) -> Option<TestGpu> {
    support::bare_with(|options| (options.cache, options.tuning) = (CacheFolder::Off, tuning))
}

/// The only problem that was tuned.
fn only(gpu: &Gpu) -> Tuned {
    let mut tuned = gpu.tuned();
    assert_eq!(tuned.len(), 1, "{tuned:?}");
    tuned.remove(0)
}

/// The operands of a small product.
pub(crate) fn operands(gpu: &Gpu) -> [Tensor<f32>; 2] {
    [1, 2].map(|seed| gpu.random([64, 64], Fill::Uniform, seed).unwrap())
}

fn problem(gpu: &Gpu) -> GemmProblem {
    let [a, b] = operands(gpu);
    Gemm::new(&a, &b).problem().unwrap()
}

/// The plan that the small product executes, and its result.
fn executed(gpu: &Gpu) -> (Plan, Vec<f32>) {
    let [a, b] = operands(gpu);
    let (c, mut plans) = gpu.plans_of(|| Gemm::new(&a, &b).run().unwrap());
    assert_eq!(plans.len(), 1, "nothing but the product");
    (plans.remove(0), c.to_vec().unwrap())
}

/// The result of the small product by the candidate with this signature.
fn result_of(gpu: &Gpu, signature: &str) -> Vec<f32> {
    let candidates = problem(gpu).candidates(gpu.caps()).unwrap();
    let plan = candidates.into_iter().find(|plan| plan.signature() == signature).expect("a candidate");
    let [a, b] = operands(gpu);
    let mut c = gpu.zeros::<f32>([64, 64]).unwrap();
    gpu.execute(&plan, &[a.view(), b.view(), c.view_mut().unwrap()], &[]).unwrap();
    c.to_vec().unwrap()
}

/// The file of tuning in a folder.
fn file_in(folder: &Path) -> PathBuf {
    let is_tuning =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tuning-"));
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_tuning);
    let file = files.next().expect("a file of tuning");
    assert_eq!(files.next(), None, "one file for one device");
    file
}

/// Whether a candidate was measured and had right results.
fn is_measured(tried: &&Tried) -> bool {
    let is_right = [TriedVerdict::Right, TriedVerdict::Slow, TriedVerdict::Won].contains(&tried.verdict);
    is_right && tried.measured.is_some()
}

/// A candidate that the plan does not take by itself.
fn another(tuned: &Tuned) -> &Tried {
    tuned.tried[1..].iter().find(is_measured).expect("several candidates are right")
}
