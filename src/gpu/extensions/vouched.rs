//! Extensions that the owner of an application's device vouches for.

use crate::caps::{HAS_MODULES, MatrixExtensions};
use crate::{Error, Result};

/// Extensions of Vulkan that an application has enabled on a device of its own. The default: none.
///
/// A device does not report the features that it was created with, and wgpu does not know these. So the owner of the
/// device declares them with [`enabled`](Self::enabled).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VouchedExtensions {
    /// Private: only `unsafe` code may set it.
    pub(in crate::gpu) extensions: MatrixExtensions,
}

impl VouchedExtensions {
    /// The extensions, as far as kernels can use them: none without the crate's feature `spirv`.
    ///
    /// # Errors
    /// [`Error::Input`] if the device was not created with one of them, or its driver lacks the features. `op` names the call.
    pub(in crate::gpu) fn check(
        self,
        op: &'static str,
        adapter: &wgpu::Adapter,
        device: &wgpu::Device,
    ) -> Result<MatrixExtensions> {
        let Self { extensions } = self;
        if !HAS_MODULES || extensions.is_empty() {
            return Ok(MatrixExtensions::default());
        }
        let refused = |names: Vec<&str>, why| {
            Err(Error::input(format!("{op}: extensions"), format!("{} {why}", names.join(", "))))
        };
        let missing = super::not_created_with(device, extensions);
        if !missing.is_empty() {
            return refused(missing, "was not enabled when the device was created");
        }
        let found = super::matrix_features(adapter, device.features()).extensions();
        let both = extensions.named().into_iter().zip(found.named());
        let missing: Vec<_> = both.filter(|((_, is_vouched), (_, has))| *is_vouched && !has).collect();
        if missing.is_empty() {
            return Ok(extensions);
        }
        refused(
            missing.into_iter().map(|((name, _), _)| name).collect(),
            "is of no use on this device: its driver lacks features that kernels need, or the device was opened \
             without cooperative matrices",
        )
    }
}
