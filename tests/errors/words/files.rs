//! Files, in memory and on the disk.

use super::{Found, product, random, sketched, wide};
use pollster::block_on;
use tilewise::clifford::layer::{CliffordLayer, ProductKind};
use tilewise::io::{
    Npy, Safetensors, SafetensorsWriter, npy_bytes, write_npy, write_npy_async, write_npy_slice,
};
use tilewise::sketch::{Compress, SkLinear};
use tilewise::{Activation, Error, GpuOptions, f16};

#[test]
fn files_of_other_shapes_names_and_types() {
    let gpu = support::noop();
    let found = &mut Found::default();
    let apart: &[&[usize]] = &[&[3, 4], &[5]];
    found.shapes("write_npy_slice", apart, write_npy_slice("unwritten.npy", [3, 4], &[0.0f32; 5]));
    found.shapes("npy_bytes", apart, npy_bytes([3, 4], &[0.0f32; 5]));
    found.fails("Npy::from_bytes", Npy::from_bytes(b"no such file"));
    let npy = Npy::from_bytes(&npy_bytes([2], &[1.0f32, 2.0]).unwrap()).unwrap();
    found.fails("Npy::tensor", npy.tensor::<f16>(&gpu));
    let large = Npy::from_bytes(&npy_bytes([1], &[300.0f32]).unwrap()).unwrap();
    found.fails("Npy::tensor_as", large.tensor_as::<i8>(&gpu));
    found.fails("Safetensors::from_bytes", Safetensors::from_bytes(b"no such file".to_vec()));

    let a = random(&gpu, &[3, 4]);
    let writer = || SafetensorsWriter::new().tensor("S1s", &a).unwrap();
    found.fails("SafetensorsWriter::tensor", writer().tensor("S1s", &a));
    found.fails("SafetensorsWriter::tensor_async", block_on(writer().tensor_async("S1s", &a)));
    let file = Safetensors::from_bytes(writer().to_bytes().unwrap()).unwrap();
    found.fails("SafetensorsWriter::copied", writer().copied(&file, "S1s"));
    let layer = sketched(&gpu);
    found.fails("SkLinear::save", layer.save(writer(), ""));
    found.fails("SkLinear::save_async", block_on(layer.save_async(writer(), "")));
    let of_shapes = writer().tensor("S2s", &a).unwrap().metadata("seed", "1").to_bytes().unwrap();
    let of_shapes = Safetensors::from_bytes(of_shapes).unwrap();
    found.shapes("SkLinear::load", &[&[3, 4]], SkLinear::<f32>::load(&of_shapes, &gpu, "", Activation::None));
    let clifford =
        CliffordLayer::<f32>::builder(product(), ProductKind::Steerable).random::<f32>(&gpu, [2, 2]).unwrap();
    let writer = || SafetensorsWriter::new().tensor("gp_weight", &a).unwrap();
    found.fails("CliffordLayer::save", clifford.save(writer(), ""));
    found.fails("CliffordLayer::save_async", block_on(clifford.save_async(writer(), "")));
    std::mem::take(found).none();
}

/// Tensors that take no memory, and copies that have no room in a budget of 64 KiB.
#[test]
fn files_without_room() {
    let options = GpuOptions { memory_budget: Some(1 << 16), ..GpuOptions::default() };
    let gpu = support::noop_with(options, |_| ());
    let found = &mut Found::default();
    let mut full = |call: &str, result: tilewise::Result<()>| {
        found.of_kind(call, result, |error| matches!(error, Error::OutOfMemory { .. }));
    };
    let a = wide(&gpu, &[256, 256]);
    full("write_npy", write_npy("unwritten.npy", &a));
    full("write_npy_async", block_on(write_npy_async("unwritten.npy", &a)));
    full("SafetensorsWriter::tensor", SafetensorsWriter::new().tensor("a", &a).map(drop));
    full(
        "SafetensorsWriter::tensor_async",
        block_on(SafetensorsWriter::new().tensor_async("a", &a)).map(drop),
    );
    let large = support::noop().zeros::<f32>([256, 256]).unwrap();
    let npy = Npy::from_bytes(&npy_bytes([256, 256], &large.to_vec().unwrap()).unwrap()).unwrap();
    full("Npy::tensor", npy.tensor::<f32>(&gpu).map(drop));
    full("Npy::tensor_as", npy.tensor_as::<i32>(&gpu).map(drop));
    let bytes = SafetensorsWriter::new().tensor("large.weight", &large).unwrap().to_bytes().unwrap();
    let path = std::env::temp_dir().join(format!("tilewise-words-{}.safetensors", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    full("Compress::run", Compress::new(&path).run(&gpu, path.with_extension("smaller")).map(drop));
    std::fs::remove_file(&path).unwrap();
    let file = Safetensors::from_bytes(bytes).unwrap();
    full("Safetensors::tensor", file.tensor::<f32>(&gpu, "large.weight").map(drop));
    let others = support::noop();
    let saved = SkLinear::<f32>::builder(1, 63).random(&others, [256, 256]).unwrap();
    let saved = saved.save(SafetensorsWriter::new(), "").unwrap().to_bytes().unwrap();
    let saved = Safetensors::from_bytes(saved).unwrap();
    full("SkLinear::load", SkLinear::<f32>::load(&saved, &gpu, "", Activation::None).map(drop));
    std::mem::take(found).none();
}
