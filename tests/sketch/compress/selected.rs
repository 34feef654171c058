//! What is selected, and what is refused.

use super::model::{Model, assert_true, falling};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tilewise::io::Safetensors;
use tilewise::sketch::{Budget, Compress, Selection};
use tilewise::{Element, Error, bf16};

#[test]
fn selections_take_what_they_say() {
    let Some(gpu) = support::gpu() else { return };
    let named = |selections: &[Selection]| -> Vec<String> {
        let model = Model::changed::<f32>(&gpu, "selected", |writer| {
            let values: Vec<f32> = falling([40, 30], 0.7, 3).into_iter().map(Element::from_f64).collect();
            writer.tensor("projection", &gpu.tensor(&values, [40, 30])?)
        });
        let compress =
            selections.iter().fold(model.compress(), |compress, select| compress.select(select.clone()));
        let report = compress.budget(Budget::Params(0.9)).run(&gpu, &model.output).unwrap();
        if report.layers.iter().any(|layer| layer.name == "projection") {
            let names = Safetensors::read(&model.output).unwrap().names();
            assert!(names.contains(&"projection.U2s".to_owned()), "{names:?}");
        } else {
            assert_true(&report, &model.input, &model.output);
        }
        report.layers.into_iter().map(|layer| layer.name).collect()
    };
    assert_eq!(named(&[Selection::name("projection")]), ["projection"]);
    assert_eq!(named(&[Selection::pattern("a.*.weight")]), ["a.down.weight", "a.up.weight"]);
    assert_eq!(named(&[Selection::pattern("a.?p.*")]), ["a.up.weight"]);
    assert_eq!(named(&[Selection::shape(60, 1)]), ["a.up.weight"]);
    assert_eq!(
        named(&[Selection::shape(2, 70), Selection::name("projection")]),
        ["a.down.weight", "projection"]
    );
    // Any of them, each once; what cannot save too, as it was asked for.
    let several = [Selection::pattern("*"), Selection::name("a.up.weight"), Selection::shape(1, 1)];
    assert_eq!(named(&several), ["a.down.weight", "a.up.weight", "b.norm.weight", "projection"]);
}

#[test]
fn what_was_compressed_is_compressed_further() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "further");
    model.compress().select(Selection::name("a.up.weight")).run(&gpu, &model.output).unwrap();
    let further = model.folder.join("further.safetensors");
    Compress::new(&model.output).run(&gpu, &further).unwrap();
    let file = Safetensors::read(&further).unwrap();
    let told: Value = serde_json::from_str(file.metadata("tilewise.compressed").unwrap()).unwrap();
    assert!(told["a.up.weight"].is_object() && told["a.down.weight"].is_object(), "{told}");
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::changed::<f32>(&gpu, "refused", |writer| {
        let mut values = vec![1.0f32; 30 * 20];
        values[47] = f32::NAN;
        let nan = gpu.tensor(&values, [30, 20])?;
        values[47] = f32::NEG_INFINITY;
        let infinite = gpu.tensor(&values, [30, 20])?.cast::<bf16>()?;
        let integers = gpu.tensor(&[1i8; 30 * 20], [30, 20])?;
        let taken = gpu.zeros::<f32>([30, 20])?;
        let writer = writer.tensor("nan.weight", &nan)?.tensor("infinite.weight", &infinite)?;
        let writer = writer.tensor("taken.weight", &taken)?.tensor("taken.U1s", &taken)?;
        writer.tensor("integers.weight", &integers)
    });
    let before = fs::read(&model.input).unwrap();
    let refused = |compress: Compress, output: &Path, words: &[&str]| {
        let error = compress.run(&gpu, output).unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{error:?}");
        let said = error.to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
        assert_eq!(model.files(), ["in.safetensors"], "{said}");
    };
    let input = model.input.display().to_string();
    for (select, words) in [
        (Selection::name("a.left.weight"), &["`a.left.weight`", "a.up.weight"][..]),
        (Selection::name("integers.weight"), &["`integers.weight`", "i8", "[30, 20]"]),
        (Selection::name("b.line.weight"), &["`b.line.weight`", "[5]"]),
        (Selection::pattern("d.*"), &["d.*", "selects no matrix"]),
        (Selection::pattern("b.line.*"), &["selects no matrix"]),
        (Selection::shape(1000, 1), &["1000", "selects no matrix"]),
        (Selection::name("nan.weight"), &["`nan.weight` is NaN at [2, 7]"]),
        (Selection::pattern("inf*"), &["`infinite.weight` is -inf at [2, 7]"]),
        (Selection::name("taken.weight"), &["`taken.U1s`", "another tensor"]),
    ] {
        let words = [words, &[input.as_str()]].concat();
        refused(
            model.compress().select(Selection::name("a.up.weight")).select(select),
            &model.output,
            &words,
        );
    }
    let up = || model.compress().select(Selection::name("a.up.weight"));
    for budget in [Budget::Params(0.0), Budget::Flops(f64::NAN), Budget::Error(1.0), Budget::Params(0.01)] {
        refused(up().budget(budget), &model.output, &["budget"]);
    }
    refused(up(), &model.input, &["in.safetensors", "is the input"]);
    let twisted = model.folder.join("..").join(model.folder.file_name().unwrap()).join("in.safetensors");
    refused(up(), &twisted, &["is the input"]);
    refused(up(), &model.folder, &["cannot be written", "folder"]);
    refused(up(), &model.folder.join("none/out.safetensors"), &["none/out.safetensors", "cannot be written"]);
    refused(Compress::new(model.folder.join("none")), &model.output, &["none", "cannot be opened"]);
    assert_eq!(fs::read(&model.input).unwrap(), before);
    for (what, bytes) in [("cut", &before[..before.len() - 7]), ("text", b"no weights at all")] {
        fs::write(&model.input, bytes).unwrap();
        refused(up(), &model.output, &["in.safetensors", "not a .safetensors file"]);
        assert_eq!(fs::read(&model.input).unwrap(), bytes, "{what}");
    }
}
