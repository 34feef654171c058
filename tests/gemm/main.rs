//! Matrix products: every kernel and tile, in every form, against their definition.

mod accuracy;
mod coop;
mod forms;
mod gemv;
mod integers;
mod linear;
mod panels;
mod precision;
#[path = "../support/mod.rs"]
mod support;
mod tiles;

use tilewise::gemm::GemmKernel;
use tilewise::gpu::DeviceType;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::GemmTypes;
use tilewise::{Caps, DType};

/// The kernels that a device runs on products of f32 of every shape; `coop.rs` sweeps the one on cooperative matrices, `gemv.rs`
/// that for thin products, `integers.rs` those of i8.
fn scalar(caps: &Caps) -> impl Iterator<Item = GemmKernel> {
    let any = support::wgsl::plain([64; 3], GemmTypes::new(DType::F32, DType::F32));
    let runs = move |kernel: &GemmKernel| kernel.tiles().iter().any(|tile| tile.fits(&any, caps).is_ok());
    GemmKernel::ALL.into_iter().filter(runs)
}

#[test]
fn naive_and_tiled_run_everywhere_and_broadcast_on_software_devices() {
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let scalar: Vec<GemmKernel> = scalar(&caps).collect();
        let want = match caps.device_type {
            DeviceType::Software => vec![GemmKernel::Naive, GemmKernel::Broadcast, GemmKernel::Tiled],
            _ => vec![GemmKernel::Naive, GemmKernel::Tiled],
        };
        assert_eq!(scalar, want, "{name}");
    }
}
