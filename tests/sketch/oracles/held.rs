//! The drivers of files that others computed check what a file holds, and all that it holds.

use super::layer::sklinear;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use support::safetensors::Safetensors;
use tilewise::io::{self, SafetensorsWriter};

/// Panther's file of a small layer with its operands, which follow from its seed.
fn whole() -> PathBuf {
    support::root().join("tests/data/panther/sklinear_unaligned_small.safetensors")
}

const SIZES: [&str; 7] = ["B", "I", "O", "T", "R", "seed", "bias"];

/// A file of these tensors of Panther's, with the sizes and the seed that its operands follow from.
fn seeded(of: &[&str], more: impl FnOnce(SafetensorsWriter) -> SafetensorsWriter) -> Safetensors {
    let whole = io::Safetensors::read(whole()).unwrap();
    let mut file = SafetensorsWriter::new();
    for name in of {
        file = file.copied(&whole, name).unwrap();
    }
    for key in SIZES {
        file = file.metadata(key, whole.metadata(key).unwrap());
    }
    let place = Place::new();
    more(file).write(&place.0).unwrap();
    Safetensors::read(&place.0)
}

/// A file of the test's own, which goes with it.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let id = format!("{}-{:?}", std::process::id(), std::thread::current().id());
        Self(std::env::temp_dir().join(format!("tilewise-held-{id}.safetensors")))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

/// What the driver says against a file.
fn refusal(gpu: &tilewise::Gpu, file: &Safetensors) -> String {
    let refused = catch_unwind(AssertUnwindSafe(|| sklinear(gpu, file, "held"))).expect_err("it is wrong");
    let text = refused.downcast_ref::<String>();
    text.cloned().or_else(|| refused.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
}

#[test]
fn a_seeded_file_of_whole_gradients_alone_is_checked() {
    let Some(gpu) = support::gpu() else { return };
    assert!(whole().exists());
    for of in [&["grad_S1s", "grad_S2s"][..], &["y", "grad_x", "grad_S1s", "grad_S2s", "grad_bias"]] {
        sklinear(&gpu, &seeded(of, |file| file), "held");
    }
}

#[test]
fn a_seeded_file_with_a_wrong_gradient_or_one_that_nothing_checks_fails() {
    let Some(gpu) = support::gpu() else { return };
    let whole = io::Safetensors::read(whole()).unwrap();
    for part in ["grad_S1s", "grad_S2s"] {
        let mut values = whole.values(part).unwrap();
        *values.last_mut().unwrap() *= -1.0;
        let shape = whole.shape(part).unwrap().to_vec();
        #[expect(clippy::cast_possible_truncation, reason = "far from what it is, to any precision")]
        let values: Vec<f32> = values.into_iter().map(|x| x as f32).collect();
        let tensor = gpu.tensor(&values, shape).unwrap();
        let wrong = seeded(&[], |file| file.tensor(part, &tensor).unwrap());
        assert!(refusal(&gpu, &wrong).contains(part), "{part}");
    }
    let zero = gpu.tensor(&[0.0f32], [1]).unwrap();
    let unknown = seeded(&["grad_S1s"], |file| file.tensor("grad_Z", &zero).unwrap());
    assert!(refusal(&gpu, &unknown).contains("nothing checks grad_Z"));
    assert!(refusal(&gpu, &seeded(&[], |file| file)).contains("holds nothing"));
}
