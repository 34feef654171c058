//! Every public function that can fail has a row in `tests/support/operations`, whose example succeeds, or is listed here with
//! the reason why it needs no device.

use std::collections::BTreeSet;
use support::operations::{self, World};

/// Functions that need no device, and why. A name that ends in `::` stands for all names below it.
const WITHOUT_DEVICE: &[(&str, &str)] = &[
    ("Caps::coop", "plain data"),
    ("Gemm::plan", "a plan is made without a device"),
    ("Gemm::problem", "a problem is plain data"),
    (
        "Gpu::adopt",
        "a device of its own: `a_device_that_is_lost_already_leaves_no_verdict_behind` adopts lost ones",
    ),
    ("Gpu::adopt_async", "as `Gpu::adopt`"),
    ("Gpu::adopt_with", "as `Gpu::adopt`"),
    ("Gpu::adopt_with_async", "as `Gpu::adopt`"),
    (
        "Gpu::from_vulkan",
        "adopts a device of its own; the next four are called on a lost one in `from_vulkan::buffers`",
    ),
    ("Gpu::from_vulkan_with", "as `Gpu::from_vulkan`"),
    ("Gpu::signal_semaphore", "needs a device of Vulkan"),
    ("Gpu::vk_buffer", "needs a device of Vulkan"),
    ("Gpu::wait_for_semaphore", "needs a device of Vulkan"),
    ("Gpu::wrap_vk_buffer", "needs a device of Vulkan"),
    ("Gpu::open", "opens a device of its own"),
    ("Gpu::open_async", "opens a device of its own"),
    ("Gpu::open_with", "opens a device of its own"),
    ("Gpu::open_with_async", "opens a device of its own"),
    ("GpuOptions::", "plain data"),
    ("attention::KeyValueCache::keys", "a view"),
    ("attention::KeyValueCache::values", "a view"),
    ("Layout::", "plain data"),
    ("gemm::Linear::new", "checks shapes and keeps its operands"),
    ("ParameterMut::set", "checks the shape and keeps its operand"),
    ("Parameters::pairs", "checks names and shapes"),
    ("Tensor::as_strided", "a view"),
    ("Tensor::broadcast_to", "a view"),
    ("Tensor::permute", "a view"),
    ("Tensor::reshape", "a view, as the tensor here is contiguous; else as `Tensor::contiguous`"),
    ("Tensor::slice", "a view"),
    ("Tensor::squeeze", "a view"),
    ("Tensor::unsqueeze", "a view"),
    ("Tensor::view_mut", "checks who else owns the buffer"),
    ("attention::MultiHeadAttentionBuilder::from_tensors", "checks shapes and keeps its operands"),
    ("attention::TransformerBlockBuilder::from_tensors", "checks shapes and keeps its operands"),
    ("attention::alibi_slopes", "computes on the CPU"),
    ("clifford::Blades::", "plain data"),
    ("conv::BatchNorm2d::new", "checks shapes and keeps its operands"),
    ("conv::ChannelsFirst::plan", "a plan is made without a device"),
    ("conv::Conv2d::new", "checks shapes and keeps its operands"),
    ("conv::ConvBnAct::new", "checks shapes and keeps its operands"),
    ("conv::ConvTranspose2d::new", "checks shapes and keeps its operands"),
    ("conv::ConvGeometry::", "plain data"),
    ("conv::Convolution::plan", "a plan is made without a device"),
    ("conv::Convolution::problem", "a problem is plain data"),
    ("clifford::Multivector::", "computes on the CPU"),
    ("clifford::Multivectors::new", "checks shapes and keeps its operand"),
    ("clifford::Multivectors::plan_sandwich", "a plan is made without a device"),
    ("clifford::Multivectors::reshape", "a view"),
    ("clifford::Multivectors::slice", "a view"),
    ("clifford::MvProduct::plan", "a plan is made without a device"),
    ("clifford::Pga::coordinates", "computes on the CPU"),
    ("clifford::Pga::new", "plain data"),
    ("clifford::Pga::rotor", "computes on the CPU"),
    ("clifford::Product::", "plain data"),
    ("clifford::Signature::", "plain data"),
    ("clifford::layer::CliffordLayerBuilder::from_parts", "checks shapes and keeps its operands"),
    ("clifford::layer::Connected::new", "checks shapes and keeps its operands"),
    ("clifford::layer::Connected::plan", "a plan is made without a device"),
    ("clifford::layer::Connected::plan_backward", "a plan is made without a device"),
    ("clifford::layer::Connected::problem", "a problem is plain data"),
    ("clifford::layer::LayerProduct::plan_connected", "a plan is made without a device"),
    ("clifford::layer::LayerProduct::plan_steerable", "a plan is made without a device"),
    ("clifford::layer::LayerProduct::plan_steerable_backward", "a plan is made without a device"),
    ("clifford::layer::MvLayerNorm::new", "checks shapes and keeps its operand"),
    ("clifford::layer::MvLinear::new", "checks shapes and keeps its operand"),
    ("clifford::layer::MvLinearBuilder::build", "checks shapes and keeps its operands"),
    ("clifford::layer::MvNormalization::new", "checks shapes and keeps its operand"),
    ("clifford::layer::MvSilu::new", "checks shapes and keeps its operands"),
    ("gemm::Tile::fits", "plain data"),
    ("gpu::AdoptOptions::from_env", "plain data"),
    ("io::Npy::from_bytes", "on the CPU"),
    ("io::Npy::read", "on the CPU"),
    ("io::Npy::values", "on the CPU"),
    ("io::Safetensors::bytes", "on the CPU"),
    ("io::Safetensors::dtype", "on the CPU"),
    ("io::Safetensors::from_bytes", "on the CPU"),
    ("io::Safetensors::read", "on the CPU"),
    ("io::Safetensors::shape", "on the CPU"),
    ("io::Safetensors::values", "on the CPU"),
    ("io::SafetensorsWriter::copied", "on the CPU"),
    ("io::SafetensorsWriter::to_bytes", "on the CPU"),
    ("io::SafetensorsWriter::write", "on the CPU"),
    ("io::npy_bytes", "on the CPU"),
    ("io::read_npy_f64", "on the CPU"),
    ("io::write_npy_slice", "on the CPU"),
    ("sketch::ExplicitSketch::new", "checks the shape and keeps its operand"),
    ("sketch::SkConv2d::from_factors", "checks shapes and keeps its operands"),
    ("sketch::SkLinear::from_factors", "checks shapes and keeps its operands"),
    ("sketch::SeededSketch::plan", "a plan is made without a device"),
    ("sketch::SkLinear::plans", "plans are made without a device"),
    ("sketch::SkLinear::s1", "a view"),
    ("sketch::SkLinear::s2", "a view"),
    ("sketch::Sketch::new", "plain data"),
    ("sketch::Sketch::plan", "a plan is made without a device"),
    ("sketch::Sketch::seeded_by", "checks the shape and keeps its operand"),
];

/// Whether a line of the public API is a function that can fail.
fn fails(line: &&str) -> bool {
    line.contains("fn ") && line.rsplit_once(" -> ").is_some_and(|(_, returned)| returned.contains("Result<"))
}

/// Functions of the public API that return a `Result`, at once or by a future.
fn fallible() -> BTreeSet<&'static str> {
    let of_feature = |name: &&str| cfg!(feature = "ndarray") || !name.contains("ndarray");
    let lines = include_str!("api.txt").lines().filter(fails);
    let written = lines.map(|line| line.split(": ").next().expect("a name")).filter(of_feature);
    // The functions of the table are in no list but it.
    written.chain(operations::functions().iter().map(|row| row.name)).collect()
}

fn covers(listed: &str, name: &str) -> bool {
    listed == name || listed.ends_with("::") && name.starts_with(listed)
}

/// Functions of these lines of the public API that can fail, and have no row among these and no reason for that.
pub(crate) fn missing(lines: &[String], rows: &[String]) -> Vec<String> {
    let names =
        lines.iter().map(String::as_str).filter(fails).map(|line| line.split(": ").next().expect("a name"));
    let needs_none = |name: &str| WITHOUT_DEVICE.iter().any(|(listed, _)| covers(listed, name));
    let without = names.filter(|name| !rows.iter().any(|row| row == name) && !needs_none(name));
    without.map(|name| format!("a row in tests/support/operations is missing for {name}")).collect()
}

#[test]
fn every_function_that_can_fail_has_a_row_or_needs_no_device() {
    let fallible = fallible();
    assert!(fallible.len() > 200, "{}", fallible.len());
    let rows: Vec<&str> = operations::all().iter().map(|row| row.name).collect();
    let needs_none = |name: &str| WITHOUT_DEVICE.iter().any(|(listed, _)| covers(listed, name));
    let missing: Vec<_> = fallible.iter().filter(|name| !rows.contains(name) && !needs_none(name)).collect();
    assert!(
        missing.is_empty(),
        "a row in tests/support/operations, or a line in WITHOUT_DEVICE, is missing for {missing:?}"
    );
    let twice: Vec<_> = rows.iter().filter(|name| needs_none(name)).collect();
    assert!(twice.is_empty(), "there is a row for what is said to need no device: {twice:?}");
    let listed = rows.into_iter().chain(WITHOUT_DEVICE.iter().map(|(name, _)| *name));
    let gone: Vec<_> = listed.filter(|listed| !fallible.iter().any(|name| covers(listed, name))).collect();
    assert!(gone.is_empty(), "no public function that can fail has one of these names: {gone:?}");
}

/// What times launches, of which a device that runs nothing has no times.
const TIMED: [&str; 2] = ["Gpu::measure_machine", "Gpu::time"];

#[test]
fn the_example_of_every_row_succeeds() {
    let mut world = World::new(&support::noop()).expect("operands of every kind");
    let rows = operations::all();
    println!("{} rows", rows.len());
    let run = rows.iter().filter(|row| !TIMED.contains(&row.name));
    let failed: Vec<String> =
        run.filter_map(|row| Some(format!("{}: {}", row.name, row.call(&mut world).err()?))).collect();
    assert!(failed.is_empty(), "examples fail:\n{}", failed.join("\n"));
}
