//! Random devices: fixtures with changed limits, features and rows.

use arbitrary::{Result, Unstructured};
use tilewise::Caps;
use tilewise::gpu::DeviceType;
use tilewise::planning::fixtures;

/// The limits that Vulkan guarantees: storage bindings, invocations and bytes of shared memory.
const LEAST: [u32; 3] = [4, 128, 16 << 10];

pub(crate) fn caps(u: &mut Unstructured<'_>) -> Result<Caps> {
    let (_, fixture) = u.choose(&fixtures::ALL)?;
    let mut caps = fixture();
    let [bindings, invocations, shared] = LEAST;
    let limits = &mut caps.limits;
    limits.storage_bindings = bindings.max(u.int_in_range(4..=12)?);
    limits.workgroup_invocations = invocations.max(*u.choose(&[64, 128, 256, 512, 1024])?);
    limits.workgroup_bytes = shared.max(*u.choose(&[4 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10])?);
    limits.grid = *u.choose(&[256, 4096, 65_535, 65_535, 1 << 20])?;
    limits.immediate_bytes = *u.choose(&[0, 32, 64, 128, 256])?;
    limits.binding_bytes = *u.choose(&[4 << 10, 1 << 20, 128 << 20, (1 << 31) - 16])?;
    limits.buffer_bytes = limits.binding_bytes.max(*u.choose(&[1 << 20, 256 << 20, 1 << 32])?);
    if u.ratio(1, 4)? {
        caps.f16 = !caps.f16;
    }
    if u.ratio(1, 4)? {
        caps.int64 = !caps.int64;
    }
    if u.ratio(1, 4)? {
        caps.subgroups = None;
    }
    if u.ratio(1, 4)? {
        caps.rows.clear();
    }
    let types = [DeviceType::Discrete, DeviceType::Integrated, DeviceType::Software, DeviceType::Unknown];
    if u.ratio(1, 2)? {
        caps = caps.planned_for(*u.choose(&types)?);
    }
    if u.ratio(1, 4)? {
        caps.machine.cores = *u.choose(&[1, 4, 148, 1024])?;
    }
    Ok(caps)
}
