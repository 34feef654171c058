//! Compressions report their progress, and a cancelled one writes no file.

use super::model::Model;
use std::fs;
use support::progress::assert_cancellable;
use tilewise::Result;
use tilewise::sketch::expand;

/// `interrupted` cancels a compression at each of its own steps.
#[test]
fn compressed_files_can_be_cancelled() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let model = Model::new::<f32>(&gpu, "progress");
    let compressed = || -> Result<Vec<u8>> {
        let _ = fs::remove_file(&model.output);
        let done = model.compress().run(&gpu, &model.output);
        assert_eq!(model.output.exists(), done.is_ok(), "a cancelled run writes no file");
        done.map(|_| fs::read(&model.output).unwrap())
    };
    assert_cancellable(&gpu, "Compress::run", compressed);
    assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);

    let again = model.folder.join("again.safetensors");
    let expanded = || -> Result<Vec<u8>> {
        let _ = fs::remove_file(&again);
        let done = expand(&gpu, &model.output, &again);
        assert_eq!(again.exists(), done.is_ok(), "a cancelled call writes no file");
        done.map(|_| fs::read(&again).unwrap())
    };
    assert_cancellable(&gpu, "expand", expanded);
    assert_eq!(model.files(), ["again.safetensors", "in.safetensors", "out.safetensors"]);
}
