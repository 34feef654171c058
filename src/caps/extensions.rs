//! Vulkan extensions of cooperative matrices that wgpu does not know.

use std::fmt;

/// Whether this build has modules of SPIR-V: with the crate's feature `spirv`, and not for a browser, whose devices take none.
pub(crate) const HAS_MODULES: bool = cfg!(all(feature = "spirv", not(target_arch = "wasm32")));

/// The set of enabled Vulkan extensions that kernels in SPIR-V can use and wgpu does not know.
///
/// [`Gpu::open`](crate::Gpu::open) enables all that the driver has, with the crate's feature `spirv`. On an application's
/// own device, only the extensions count for which its owner vouches
/// ([`VouchedExtensions`](crate::gpu::VouchedExtensions)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixExtensions {
    /// `VK_NV_cooperative_matrix2` with flexible dimensions, reductions, conversions and functions of each element, on
    /// Vulkan 1.3. Its other features are enabled if the driver has them.
    pub flexible: bool,
    /// `VK_EXT_cooperative_matrix_maintenance1` with reductions, conversions and functions of each element. Its other features
    /// are enabled if the driver has them.
    pub maintenance1: bool,
    /// `VK_KHR_shader_bfloat16`, for matrices too.
    pub bfloat16: bool,
    /// `VK_EXT_shader_float8`, for matrices too.
    pub float8: bool,
    /// Bytes in storage buffers: `storageBuffer8BitAccess` of `VK_KHR_8bit_storage` and of Vulkan 1.2.
    pub storage8: bool,
}

impl MatrixExtensions {
    /// Each extension: its name, and whether it is in the set.
    #[must_use]
    pub fn named(&self) -> [(&'static str, bool); 5] {
        [
            ("VK_NV_cooperative_matrix2", self.flexible),
            ("VK_EXT_cooperative_matrix_maintenance1", self.maintenance1),
            ("VK_KHR_shader_bfloat16", self.bfloat16),
            ("VK_EXT_shader_float8", self.float8),
            ("VK_KHR_8bit_storage", self.storage8),
        ]
    }

    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The names of those in the set, or `none`.
impl fmt::Display for MatrixExtensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.named().into_iter().filter_map(|(name, has)| has.then_some(name)).collect();
        f.pad(&if names.is_empty() { "none".into() } else { names.join(", ") })
    }
}
