//! Embeddings, which are left as they are, and weights that are stored (in, out).

use super::model::{Model, falling};
use support::failure::says;
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::sketch::{Budget, Compress, Selection, SkLinear, WeightOrder};
use tilewise::{Activation, Element, Fill, Gpu, Result};

/// A weight whose singular values fall.
fn add(gpu: &Gpu, writer: SafetensorsWriter, name: &str, shape: [usize; 2]) -> Result<SafetensorsWriter> {
    let values: Vec<f32> = falling(shape, 0.8, 5).into_iter().map(Element::from_f64).collect();
    writer.tensor(name, &gpu.tensor(&values, shape)?)
}

/// A model as transformers saves GPT-2, with a square (in, out) weight, and one without a bias.
fn gpt2(gpu: &Gpu, name: &str) -> Model {
    let model = Model::new::<f32>(gpu, name);
    let writer = [
        ("wte.weight", [200, 64]),
        ("wpe.weight", [50, 64]),
        ("h.0.mlp.c_fc.weight", [64, 256]),
        ("h.0.attn.c_proj.weight", [64, 64]),
        ("lm_head.weight", [200, 64]),
    ]
    .into_iter()
    .fold(SafetensorsWriter::new(), |writer, (name, shape)| add(gpu, writer, name, shape).unwrap());
    let bias = |len: usize| gpu.random::<f32>([len], Fill::Uniform, 3).unwrap();
    let writer = writer.tensor("h.0.mlp.c_fc.bias", &bias(256)).unwrap();
    writer.tensor("h.0.attn.c_proj.bias", &bias(64)).unwrap().write(&model.input).unwrap();
    model
}

#[test]
fn embeddings_stay_as_they_are_unless_they_are_named() {
    let Some(gpu) = support::gpu() else { return };
    let model = gpt2(&gpu, "embeddings");
    let names = |compress: Compress| -> (Vec<String>, Vec<String>) {
        let report = compress.budget(Budget::Params(0.9)).run(&gpu, &model.output).unwrap();
        let shown = report.to_string();
        assert!(
            report.embeddings.iter().all(|name| shown.contains(&format!("{name}: an embedding"))),
            "{shown}"
        );
        (report.layers.into_iter().map(|layer| layer.name).collect(), report.embeddings)
    };
    let linear = ["h.0.attn.c_proj.weight", "h.0.mlp.c_fc.weight", "lm_head.weight"];
    let tables = ["wpe.weight", "wte.weight"];
    let all = [Selection::pattern("*.weight"), Selection::shape(1, 1)];
    for compress in
        [model.compress(), model.compress().select(all[0].clone()), model.compress().select(all[1].clone())]
    {
        let (layers, embeddings) = names(compress);
        assert_eq!(
            (&layers[..], &embeddings[..]),
            (&linear.map(String::from)[..], &tables.map(String::from)[..])
        );
    }
    let file = Safetensors::read(&model.output).unwrap();
    let before = Safetensors::read(&model.input).unwrap();
    assert!(tables.iter().all(|name| file.bytes(name).unwrap() == before.bytes(name).unwrap()));
    let named = model.compress().select(Selection::pattern("*.weight")).select(Selection::name("wte.weight"));
    let (layers, embeddings) = names(named);
    assert_eq!((layers.len(), &embeddings[..]), (4, &["wpe.weight".to_owned()][..]));
    assert_eq!(names(model.compress().select(Selection::name("wte.weight"))).0, ["wte.weight"]);
    // None but embeddings is a mistake, and what they are is said.
    for select in [Selection::pattern("w?e.*"), Selection::shape(150, 1)] {
        let only_tables = select == Selection::pattern("w?e.*");
        let result = model.compress().select(select).budget(Budget::Params(0.9)).run(&gpu, &model.output);
        if only_tables {
            let error = result.unwrap_err().to_string();
            assert!(
                error.contains("embeddings only, such as `wpe.weight`") && error.contains("Selection::name"),
                "{error}"
            );
        }
    }
    let tables_only = model.folder.join("tables.safetensors");
    add(&gpu, SafetensorsWriter::new(), "wte.weight", [90, 80]).unwrap().write(&tables_only).unwrap();
    says(Compress::new(&tables_only).run(&gpu, &model.output), &["no embedding"]);
}

#[test]
fn weights_in_the_other_order_become_the_same_layers() {
    let Some(gpu) = support::gpu() else { return };
    let model = gpt2(&gpu, "order");
    let select = || model.compress().select(Selection::pattern("h.*.weight")).budget(Budget::Params(0.7));
    // The bias tells the order of the one, and an option that of the square one.
    let report = select().in_out("h.*.c_proj.weight").run(&gpu, &model.output).unwrap();
    assert_eq!(report.layers.iter().map(|layer| layer.shape).collect::<Vec<_>>(), [[64, 64], [256, 64]]);
    assert!(
        report.layers.iter().all(|layer| layer.order == WeightOrder::InOut && layer.rank > 0),
        "{report}"
    );
    let (dense, file) = (Safetensors::read(&model.input).unwrap(), Safetensors::read(&model.output).unwrap());
    for layer in &report.layers {
        let prefix = layer.name.strip_suffix("weight").unwrap();
        let loaded = SkLinear::<f32>::load(&file, &gpu, prefix, Activation::GeluTanh).unwrap();
        assert_eq!([loaded.outputs(), loaded.inputs()], layer.shape);
        let (made, stored) =
            (loaded.to_weight().unwrap().t().to_vec().unwrap(), dense.values(&layer.name).unwrap());
        let square = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>().sqrt();
        let off = square(&mut made.iter().zip(&stored).map(|(made, stored)| f64::from(*made) - stored));
        let error = off / square(&mut stored.iter().copied());
        assert!((error - layer.rel_error).abs() <= 1e-4, "{error}: {layer:?}");
        let x = gpu.random::<f32>([3, loaded.inputs()], Fill::Uniform, 1).unwrap();
        assert_eq!(loaded.forward(&x).unwrap().shape(), [3, layer.shape[0]]);
    }
    // Without the option the square one is taken as PyTorch stores linear layers.
    let report = select().run(&gpu, &model.output).unwrap();
    assert_eq!(
        report.layers.iter().map(|layer| layer.order).collect::<Vec<_>>(),
        [WeightOrder::OutIn, WeightOrder::InOut]
    );
    says(select().in_out("g.*").run(&gpu, &model.output), &["`in_out` of `g.*` matches no matrix"]);
}
