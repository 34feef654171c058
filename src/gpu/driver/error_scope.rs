//! Calls of wgpu in error scopes, which return wgpu's errors as values.

use crate::Error;

/// Converts wgpu's error into one of this crate. NOTE: our errors can be sent to other threads. In the browser wgpu's
/// cannot, so only the text is stored there.
pub(in crate::gpu) fn device_error(error: wgpu::Error) -> Error {
    #[cfg(target_arch = "wasm32")]
    let error = error.to_string();
    Error::device(error)
}

/// Runs `work`, and returns the error of `device` that it causes, if any. In the browser, where errors arrive after the
/// call, the device's own handler receives them instead.
pub(crate) fn in_error_scope<R>(device: &wgpu::Device, work: impl FnOnce() -> R) -> Result<R, wgpu::Error> {
    match result_and_error(device, work) {
        (result, None) => Ok(result),
        (_, Some(error)) => Err(error),
    }
}

/// As [`in_error_scope`], for work that allocates nothing on the device, such as recording commands: only its validation
/// can fail. It costs a third.
pub(in crate::gpu) fn in_validation_scope<R>(
    device: &wgpu::Device,
    work: impl FnOnce() -> R,
) -> Result<R, wgpu::Error> {
    #[cfg(not(target_arch = "wasm32"))]
    {
        use futures_util::FutureExt;
        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = work();
        match validation.pop().now_or_never().flatten() {
            None => Ok(result),
            Some(error) => Err(error),
        }
    }
    #[cfg(target_arch = "wasm32")]
    in_error_scope(device, work)
}

/// A buffer whose creation is an error of the device, and has no other effect.
pub(crate) const INVALID_BUFFER: wgpu::BufferDescriptor<'static> = wgpu::BufferDescriptor {
    label: Some("tilewise: an invalid buffer"),
    size: 4,
    usage: wgpu::BufferUsages::empty(),
    mapped_at_creation: false,
};

/// As [`in_error_scope`], but returns the result even if there is an error.
pub(crate) fn result_and_error<R>(
    device: &wgpu::Device,
    work: impl FnOnce() -> R,
) -> (R, Option<wgpu::Error>) {
    #[cfg(not(target_arch = "wasm32"))]
    {
        let scopes = pushed(device);
        let result = work();
        (result, first_error(scopes))
    }
    #[cfg(target_arch = "wasm32")]
    {
        let _ = device;
        (work(), None)
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn pushed(device: &wgpu::Device) -> [wgpu::ErrorScopeGuard; 3] {
    use wgpu::ErrorFilter as Filter;
    [Filter::Internal, Filter::OutOfMemory, Filter::Validation].map(|filter| device.push_error_scope(filter))
}

#[cfg(not(target_arch = "wasm32"))]
fn first_error([internal, memory, validation]: [wgpu::ErrorScopeGuard; 3]) -> Option<wgpu::Error> {
    use futures_util::FutureExt;
    // NOTE: pop all three scopes before looking at the results; an `or_else` would leave two scopes behind.
    let errors =
        [validation.pop().now_or_never(), memory.pop().now_or_never(), internal.pop().now_or_never()];
    errors.into_iter().flatten().flatten().next()
}
