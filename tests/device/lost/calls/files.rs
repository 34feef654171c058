//! Files to tensors and back.

use super::Written;
use pollster::block_on;
use tilewise::clifford::layer::{CliffordLayer, ProductKind};
use tilewise::io::{SafetensorsWriter, write_npy, write_npy_async};
use tilewise::sketch::{Budget, Compress, Selection, SkLinear, expand};
use tilewise::{Activation, f16};

pub(super) const CALLS: &[Written] = &[
    ("clifford::layer::CliffordLayer::save", |it| {
        it.space.layer.save(SafetensorsWriter::new(), "of.").map(drop)
    }),
    ("clifford::layer::CliffordLayer::save_async", |it| {
        block_on(it.space.layer.save_async(SafetensorsWriter::new(), "of.")).map(drop)
    }),
    ("clifford::layer::CliffordLayerBuilder::load", |it| {
        let builder = CliffordLayer::<f32>::builder(it.space.product, ProductKind::Steerable);
        builder.load::<f32>(&it.file, &it.gpu, "clifford.").map(drop)
    }),
    ("io::Npy::tensor", |it| it.npy.tensor::<f32>(&it.gpu).map(drop)),
    ("io::Npy::tensor_as", |it| it.npy.tensor_as::<f16>(&it.gpu).map(drop)),
    ("io::Safetensors::tensor", |it| it.file.tensor::<f32>(&it.gpu, "square").map(drop)),
    ("io::Safetensors::tensor_as", |it| it.file.tensor_as::<f16>(&it.gpu, "square").map(drop)),
    ("io::SafetensorsWriter::tensor", |it| SafetensorsWriter::new().tensor("a", &it.a).map(drop)),
    ("io::SafetensorsWriter::tensor_async", |it| {
        block_on(SafetensorsWriter::new().tensor_async("a", &it.a)).map(drop)
    }),
    ("io::write_npy", |it| write_npy(it.folder.join("lost.npy"), &it.a)),
    ("io::write_npy_async", |it| block_on(write_npy_async(it.folder.join("lost.npy"), &it.a))),
    ("sketch::Compress::run", |it| {
        let compress = Compress::new(it.folder.join("model.safetensors")).select(Selection::name("square"));
        compress.budget(Budget::Params(0.5)).run(&it.gpu, it.folder.join("lost.safetensors")).map(drop)
    }),
    ("sketch::expand", |it| {
        let [input, output] =
            ["compressed", "lost"].map(|name| it.folder.join(format!("{name}.safetensors")));
        expand(&it.gpu, input, output).map(drop)
    }),
    ("sketch::SkLinear::load", |it| {
        SkLinear::<f32>::load(&it.file, &it.gpu, "sketched.", Activation::None).map(drop)
    }),
    ("sketch::SkLinear::save", |it| it.sketches.layer.save(SafetensorsWriter::new(), "of.").map(drop)),
    ("sketch::SkLinear::save_async", |it| {
        block_on(it.sketches.layer.save_async(SafetensorsWriter::new(), "of.")).map(drop)
    }),
];
