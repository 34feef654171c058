//! Devices with cooperative matrices.

use support::TestGpu;
use support::lanes::{Lanes, Taken};
use tilewise::attention::AttentionKernel;
use tilewise::gpu::CoopScalar::{F16, F32};
use tilewise::gpu::{CoopRow, CoopScope, DeviceType, MatrixOrder, RowSizes};
use tilewise::{Caps, Gpu};

/// The device, if it has matrices of this size; says so where not.
pub(crate) fn able(size: u32) -> Option<TestGpu> {
    let gpu = support::gpu()?;
    let lacks = gpu.caps().coop(size, F16, F32);
    if let Err(lacks) = &lacks {
        println!("unable: {} has no {lacks}", gpu.caps().adapter);
    }
    lacks.is_ok().then_some(gpu)
}

/// A device with matrices of 8 x 8 that no other test has: some count launches, and all need the same kernels.
pub(crate) fn taken() -> Option<Taken<TestGpu>> {
    static LANES: Lanes<TestGpu> = Lanes::new();
    able(8)?;
    Some(LANES.take(|| support::own(|_| ()).expect("a device is there")))
}

/// The device, with matrices of 16 x 16 that it does not list, loaded along k. Lavapipe computes with them all the same; the validation
/// layer objects.
pub(crate) fn claiming() -> Option<TestGpu> {
    let gpu = support::gpu()?;
    let caps = gpu.caps();
    if caps.rows.is_empty() || caps.device_type != DeviceType::Software || support::validates() {
        return None;
    }
    let claim = CoopRow { m: 16, n: 16, k: 16, ..caps.rows[0] };
    support::own(|options| {
        options.assume.rows = vec![CoopRow { a: F16, b: F16, c: F32, ..claim }];
        options.assume.matrix_order = Some(MatrixOrder::AlongK);
    })
}

/// Whether the device has matrices of flexible size.
pub(crate) fn is_flexible(gpu: &Gpu) -> bool {
    let rows = gpu.caps().flexible_rows_of(F16, F32, CoopScope::Subgroup).count();
    if rows == 0 {
        println!("unable: {} has no matrices of flexible size", gpu.caps().adapter);
    }
    rows > 0
}

/// The capabilities of the same device without rows of multiples: modules take a row of exact sizes.
pub(crate) fn exact(gpu: &Gpu) -> Caps {
    let mut caps = gpu.caps().clone();
    caps.rows.retain(|row| row.sizes == RowSizes::Exact);
    caps
}

/// The kernels on matrices that the device has, each with what it is planned for if that is not the device itself.
pub(crate) fn kernels(gpu: &Gpu) -> impl Iterator<Item = (AttentionKernel, Option<Caps>)> + use<> {
    let nv2 = AttentionKernel::CoopNv2;
    let in_registers = is_flexible(gpu).then(|| [(nv2, None), (nv2, Some(exact(gpu)))]);
    [(AttentionKernel::Coop, None)].into_iter().chain(in_registers.into_iter().flatten())
}
