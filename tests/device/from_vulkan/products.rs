//! Everything computes on an adopted Vulkan device as on an opened one: the same capabilities, the same bits.

use crate::work::{Work, multivectors, product, random};
use support::vulkan::{Application, Ask};
use tilewise::gemm::GemmKernel;
use tilewise::sketch::{Sketch, SketchKind};
use tilewise::{Gemm, f16, matmul, ops};

const WORK: [(&str, Work); 7] = [
    ("naive f32", |gpu| product::<f32>(gpu, GemmKernel::Naive)),
    ("tiled f32", |gpu| product::<f32>(gpu, GemmKernel::Tiled)),
    ("tiled f16", |gpu| product::<f16>(gpu, GemmKernel::Tiled)),
    ("gemv", |gpu| matmul(&random::<f32>(gpu, [1, 67], 1), &random(gpu, [67, 35], 2))?.to_vec()),
    ("softmax", |gpu| ops::softmax(&random::<f32>(gpu, [7, 65], 1), 1)?.to_vec()),
    ("geometric product", multivectors),
    ("sketch", |gpu| {
        let sketch = Sketch::new(SketchKind::CountSketch, [11, 35], 3)?;
        sketch.left(&random::<f32>(gpu, [35, 9], 1))?.to_vec()
    }),
];

#[test]
fn a_device_with_all_that_helps_has_the_capabilities_and_the_bits_of_an_opened_one() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let Some(opened) = support::gpu() else { return };
    let gpu = application.adopt();
    let caps = support::untimed(&support::without_extensions(opened.caps()));
    assert_eq!(support::untimed(gpu.caps()), caps);
    for (name, work) in WORK {
        let [own, adopted] = [&*opened, &gpu].map(|gpu| work(gpu).unwrap_or_else(|e| panic!("{name}: {e}")));
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&own), bits(&adopted), "{name}");
    }
}

#[test]
fn cooperative_matrices_compute_on_it_where_the_driver_has_them() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let gpu = application.adopt();
    if !gpu.caps().has_tensor_cores() {
        println!("skipped: no cooperative matrices");
        return;
    }
    let (a, b) = (random::<f16>(&gpu, [64, 64], 1), random::<f16>(&gpu, [64, 64], 2));
    let c = Gemm::new(&a, &b).kernel(GemmKernel::Coop).run().unwrap().to_vec().unwrap();
    let reference = tilewise::reference::gemm(&a.to_vec().unwrap(), &b.to_vec().unwrap(), [64, 64, 64]);
    let found = reference.compare(&c);
    assert!(found.ok(), "{found:?}");
}
