//! The features of a device that a module's capabilities need.

use crate::caps::{Caps, CoopScope};

/// A capability of SPIR-V, the feature that it needs, and whether a device has it.
type Feature = (u32, &'static str, fn(&Caps) -> bool);

/// Every capability that a module of this crate may declare.
const FEATURES: [Feature; 19] = [
    (1, "compute shaders", |_| true),
    (9, "f16 in shaders", |caps| caps.f16),
    // wgpu enables 8-bit integers if a driver has them. Drivers that list rows of them do.
    (39, "8-bit integers in shaders", |caps| caps.spirv),
    (61, "subgroups", |caps| caps.subgroups.is_some()),
    (62, "votes of subgroups", |caps| caps.subgroups.is_some()),
    (4212, "floating-point numbers of 8 bits in shaders", |caps| caps.extensions.float8),
    (4213, "floating-point numbers of 8 bits in cooperative matrices", |caps| caps.extensions.float8),
    // Comes with f16 in shaders.
    (4433, "16-bit storage", |caps| caps.f16),
    (4448, "bytes in storage buffers", |caps| caps.extensions.storage8),
    (5116, "bf16 in shaders", |caps| caps.extensions.bfloat16),
    (5118, "bf16 in cooperative matrices", |caps| caps.extensions.bfloat16),
    // This one is in `VK_EXT_cooperative_matrix_maintenance1` only, the other two in both extensions.
    (5429, "conversions of cooperative matrices", |caps| caps.extensions.maintenance1),
    (5430, "reductions of cooperative matrices", has_functions),
    (5431, "conversions of cooperative matrices", |caps| caps.extensions.flexible),
    (5432, "functions of elements of cooperative matrices", has_functions),
    // A device lists rows of a workgroup if both are enabled.
    (5433, "tensor addressing of cooperative matrices", has_workgroup_rows),
    (5439, "tensor addressing", has_workgroup_rows),
    // Devices with cooperative matrices have both: naga's kernels need them too.
    (5345, "Vulkan's memory model", |caps| !caps.rows.is_empty()),
    (6022, "cooperative matrices", |caps| !caps.rows.is_empty()),
];

/// Whether functions can change elements of matrices, by either extension.
fn has_functions(caps: &Caps) -> bool {
    caps.extensions.flexible || caps.extensions.maintenance1
}

/// Whether a workgroup can hold matrices; their kernels use tensor layouts.
fn has_workgroup_rows(caps: &Caps) -> bool {
    caps.extensions.flexible && caps.rows.iter().any(|row| row.scope == CoopScope::Workgroup)
}

/// The newest version of SPIR-V that Vulkan 1.1 accepts. An application may have opened its device with Vulkan 1.1.
const OF_VULKAN_1_1: u32 = 0x0001_0300;

/// Whether a device accepts modules of this version of SPIR-V. Devices with matrices of flexible size have Vulkan 1.3.
pub(crate) fn takes_version(version: u32, caps: &Caps) -> bool {
    version <= OF_VULKAN_1_1 || caps.extensions.flexible
}

/// The feature that a module with this capability needs and the device lacks. An unknown capability counts as missing
/// on every device.
pub(crate) fn missing_feature(capability: u32, caps: &Caps) -> Option<String> {
    match FEATURES.iter().find(|(known, ..)| *known == capability) {
        Some((_, _, has)) if has(caps) => None,
        Some((_, name, _)) => Some((*name).to_owned()),
        None => Some(format!("the capability {capability} of SPIR-V")),
    }
}
