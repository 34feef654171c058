//! Files to tensors and back.

use super::{Row, row};
use pollster::block_on;
use tilewise::clifford::layer::{CliffordLayer, ProductKind};
use tilewise::io::{SafetensorsWriter, write_npy, write_npy_async};
use tilewise::sketch::{Budget, Compress, Selection, SkLinear, expand};
use tilewise::{Activation, f16};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("clifford::layer::CliffordLayer::save", |it| {
            it.space.layer.save(SafetensorsWriter::new(), "of.")
        }),
        row("clifford::layer::CliffordLayer::save_async", |it| {
            block_on(it.space.layer.save_async(SafetensorsWriter::new(), "of."))
        }),
        row("clifford::layer::CliffordLayerBuilder::load", |it| {
            let builder = CliffordLayer::<f32>::builder(it.space.product, ProductKind::Steerable);
            builder.load::<f32>(&it.file, &it.gpu, "clifford.")
        }),
        row("io::Npy::tensor", |it| it.npy.tensor::<f32>(&it.gpu)),
        row("io::Npy::tensor_as", |it| it.npy.tensor_as::<f16>(&it.gpu)),
        row("io::Safetensors::tensor", |it| it.file.tensor::<f32>(&it.gpu, "square")),
        row("io::Safetensors::tensor_as", |it| it.file.tensor_as::<f16>(&it.gpu, "square")),
        row("io::SafetensorsWriter::tensor", |it| SafetensorsWriter::new().tensor("a", &it.a)),
        row("io::SafetensorsWriter::tensor_async", |it| {
            block_on(SafetensorsWriter::new().tensor_async("a", &it.a))
        }),
        row("io::write_npy", |it| write_npy(it.folder.join("lost.npy"), &it.a)),
        row("io::write_npy_async", |it| block_on(write_npy_async(it.folder.join("lost.npy"), &it.a))),
        row("sketch::Compress::run", |it| {
            let compress =
                Compress::new(it.folder.join("model.safetensors")).select(Selection::name("square"));
            compress.budget(Budget::Params(0.5)).run(&it.gpu, it.folder.join("lost.safetensors"))
        }),
        row("sketch::expand", |it| {
            let [input, output] =
                ["compressed", "lost"].map(|name| it.folder.join(format!("{name}.safetensors")));
            expand(&it.gpu, input, output)
        }),
        row("sketch::SkLinear::load", |it| {
            SkLinear::<f32>::load(&it.file, &it.gpu, "sketched.", Activation::None)
        }),
        row("sketch::SkLinear::save", |it| it.sketches.layer.save(SafetensorsWriter::new(), "of.")),
        row("sketch::SkLinear::save_async", |it| {
            block_on(it.sketches.layer.save_async(SafetensorsWriter::new(), "of."))
        }),
    ]
}
