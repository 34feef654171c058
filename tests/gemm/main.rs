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

use tilewise::DType;
use tilewise::gemm::GemmKernel;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::GemmTypes;

/// The kernels that devices run on problems of every shape; `coop.rs` sweeps the one on cooperative matrices, `gemv.rs`
/// that for thin products, `integers.rs` those of i8.
fn scalar() -> impl Iterator<Item = GemmKernel> {
    let any = support::wgsl::plain([64; 3], GemmTypes::new(DType::F32, DType::F32));
    let software = fixtures::lavapipe();
    let runs =
        move |kernel: &GemmKernel| kernel.tiles().iter().any(|tile| tile.fits(&any, &software).is_ok());
    GemmKernel::ALL.into_iter().filter(runs)
}

#[test]
fn the_naive_and_the_tiled_kernel_run_everywhere() {
    let scalar: Vec<GemmKernel> = scalar().collect();
    assert!(
        [GemmKernel::Naive, GemmKernel::Tiled].iter().all(|kernel| scalar.contains(kernel)),
        "{scalar:?}"
    );
}
