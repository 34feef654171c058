//! Errors of calls of wgpu.

use crate::Error;

/// An error of wgpu as an error of this crate. NOTE: ours can be sent to other threads. In the browser those of wgpu cannot, so
/// there only the text is kept.
pub(super) fn device_error(error: wgpu::Error) -> Error {
    #[cfg(target_arch = "wasm32")]
    let error = error.to_string();
    Error::device(error)
}

/// Runs `work`, and returns an error of `device` that it causes. In the browser, where errors come after the call, the device's
/// own handler gets them instead.
pub(crate) fn in_error_scope<R>(device: &wgpu::Device, work: impl FnOnce() -> R) -> Result<R, wgpu::Error> {
    match result_and_error(device, work) {
        (result, None) => Ok(result),
        (_, Some(error)) => Err(error),
    }
}

/// As [`in_error_scope`], but returns the result even if there is an error.
pub(crate) fn result_and_error<R>(
    device: &wgpu::Device,
    work: impl FnOnce() -> R,
) -> (R, Option<wgpu::Error>) {
    #[cfg(not(target_arch = "wasm32"))]
    {
        use futures::FutureExt;
        use wgpu::ErrorFilter as Filter;
        let internal = device.push_error_scope(Filter::Internal);
        let memory = device.push_error_scope(Filter::OutOfMemory);
        let validation = device.push_error_scope(Filter::Validation);
        let result = work();
        // NOTE: all three are popped before any is looked at; an `or_else` would leave two behind.
        let errors =
            [validation.pop().now_or_never(), memory.pop().now_or_never(), internal.pop().now_or_never()];
        (result, errors.into_iter().flatten().flatten().next())
    }
    #[cfg(target_arch = "wasm32")]
    {
        let _ = device;
        (work(), None)
    }
}
