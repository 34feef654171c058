//! The validation layer, where it is asked for, is there and is heard: else its silence in the other tests would say
//! nothing. In a process of its own, because what is said here is said to all tests of a process.

use support::process;

/// A matrix of 16 x 16, which lavapipe does not list. wgpu lets it through; the layer does not.
const UNLISTED: &str = "
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> a: array<f16>;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(8)
fn main() {
    var x: coop_mat16x16<f16, A> = coopLoadT<coop_mat16x16<f16, A>>(&a[0], 16u);
    var y: coop_mat16x16<f16, B> = coopLoadT<coop_mat16x16<f16, B>>(&a[0], 16u);
    var z: coop_mat16x16<f32, C> = coop_mat16x16<f32, C>();
    z = coopMultiplyAdd(x, y, z);
    let v = z;
    coopStoreT(v, &c[0], 16u);
}
";

#[test]
fn the_validation_layer_is_heard() {
    if !std::env::var("WGPU_VALIDATION").is_ok_and(|on| on != "0") {
        println!("skipped: WGPU_VALIDATION is not set");
        return;
    }
    if !process::is_alone(concat!(module_path!(), "::the_validation_layer_is_heard")) {
        return;
    }
    // A device without matrices of flexible size, among which are those of 16.
    let Some(gpu) = support::adopted(|_| ()) else { return };
    let lists_16 = gpu.caps().rows.iter().any(|row| row.m == 16);
    if gpu.caps().backend != "vulkan" || gpu.caps().rows.is_empty() || lists_16 {
        println!("skipped: nothing here that wgpu lets through and the layer does not");
        return;
    }
    let _ = support::app::pipeline(gpu.device(), UNLISTED);
    let said = support::take_complaints();
    assert!(said.iter().any(|message| message.contains("VUID")), "the layer was not heard: {said:?}");
}
