//! Compressed files whose layers are multiplied out again, for whatever loads the original.

use super::model::{Model, matrix};
use support::failure::{Kind, fails, says};
use tilewise::attention::{AttentionOptions, TransformerBlock};
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::sketch::{Budget, Compress, Compressed, Selection, expand};
use tilewise::{Element, Fill, Gpu, bf16, f16};

/// The errors of the weights that were multiplied out are those of the report.
fn assert_expanded(gpu: &Gpu, model: &Model, report: &Compressed, rounding: f64) {
    let again = model.folder.join("again.safetensors");
    let names: Vec<String> =
        report.layers.iter().filter(|layer| layer.rank > 0).map(|layer| layer.name.clone()).collect();
    assert_eq!(expand(gpu, &model.output, &again).unwrap(), names);
    let (before, after) = (Safetensors::read(&model.input).unwrap(), Safetensors::read(&again).unwrap());
    assert_eq!(after.names(), before.names());
    assert_eq!(after.metadata_keys(), before.metadata_keys());
    for name in before.names() {
        assert_eq!(after.shape(&name).unwrap(), before.shape(&name).unwrap(), "{name}");
        assert_eq!(after.dtype(&name).unwrap(), before.dtype(&name).unwrap(), "{name}");
        let Some(layer) = report.layers.iter().find(|layer| layer.name == name && layer.rank > 0) else {
            assert_eq!(after.bytes(&name).unwrap(), before.bytes(&name).unwrap(), "{name}");
            continue;
        };
        let (made, weight) = (matrix(&after, &name), matrix(&before, &name));
        let error = (&made - &weight).norm_l2() / weight.norm_l2();
        assert!((error - layer.rel_error).abs() <= rounding, "{name}: {error}, not {}", layer.rel_error);
    }
}

#[test]
fn every_type_is_multiplied_out() {
    let Some(gpu) = support::gpu() else { return };
    fn check<T: Element>(gpu: &Gpu, rounding: f64) {
        let model = Model::new::<T>(gpu, &format!("expanded-{}", T::DTYPE));
        let report = model.compress().budget(Budget::Params(0.6)).run(gpu, &model.output).unwrap();
        assert_expanded(gpu, &model, &report, rounding);
    }
    check::<f32>(&gpu, 1e-5);
    check::<f16>(&gpu, 1e-3);
    check::<bf16>(&gpu, 4e-3);
}

#[test]
fn a_block_loads_what_was_compressed() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "block");
    let builder = TransformerBlock::<f32>::builder(64, 4, 256);
    let block = builder.random(&gpu).unwrap();
    block.save(SafetensorsWriter::new(), "layers.0.").unwrap().write(&model.input).unwrap();
    let report = model.compress().budget(Budget::Params(0.5)).run(&gpu, &model.output).unwrap();
    assert!(report.layers.iter().any(|layer| layer.rank > 0), "{report}");
    assert_expanded(&gpu, &model, &report, 1e-5);
    let file = Safetensors::read(model.folder.join("again.safetensors")).unwrap();
    let loaded = builder.load(&file, &gpu, "layers.0.").unwrap();
    let x = gpu.random::<f32>([1, 5, 64], Fill::Uniform, 1).unwrap();
    assert_eq!(loaded.forward(&x, &AttentionOptions::default()).unwrap().shape(), [1, 5, 64]);
}

#[test]
fn orders_are_kept_and_mistakes_are_refused() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "expanded-order");
    let report = model
        .compress()
        .select(Selection::pattern("a.*.weight"))
        .in_out("a.down.weight")
        .budget(Budget::Params(0.6))
        .run(&gpu, &model.output)
        .unwrap();
    assert_eq!(report.layers[0].shape, [80, 48]);
    assert_expanded(&gpu, &model, &report, 1e-5);
    for (input, output, words) in [
        (&model.input, &model.output, "was not written by `Compress`"),
        (&model.output, &model.output, "is the input file"),
        (&model.folder.join("none"), &model.output, "cannot be opened"),
    ] {
        fails(expand(&gpu, input, output), Kind::Input, &[words]);
    }
    // A factor that is missing is named.
    let file = Safetensors::read(&model.output).unwrap();
    let list = file.metadata("tilewise.compressed").unwrap();
    let part = model.folder.join("part.safetensors");
    let writer = SafetensorsWriter::new().metadata("tilewise.compressed", list);
    writer.copied(&file, "a.down.S1s").unwrap().write(&part).unwrap();
    says(expand(&gpu, &part, model.folder.join("x.safetensors")), &["a.down.U1s"]);
    assert!(Compress::new(&model.output).run(&gpu, &part).is_err(), "there is nothing left to compress");
}
