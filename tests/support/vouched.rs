//! Extensions that an application vouches for, and devices without any.
#![expect(unsafe_code, reason = "only unsafe code vouches for extensions")]

use tilewise::Caps;
use tilewise::gpu::{MatrixExtensions, RowSizes, VouchedExtensions};

/// The extensions, which a test says that its device was created with.
pub fn vouched(extensions: MatrixExtensions) -> VouchedExtensions {
    // SAFETY: a device of the library's own, which has all features of what `Caps` lists; or one that lacks the extension, which is
    // an error.
    unsafe { VouchedExtensions::enabled(extensions) }
}

/// The capabilities of the same device, adopted without a word about its extensions.
pub fn without_extensions(caps: &Caps) -> Caps {
    let mut caps = caps.clone();
    (caps.extensions, caps.flexible_limits) = Default::default();
    caps.rows.retain(|row| row.sizes == RowSizes::Exact);
    caps
}
