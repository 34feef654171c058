//! The heap of the C library, which drivers take memory from.

/// Gives free memory of the C library's heap back to the system. Drivers compile in it, so that what is left of many kernels
/// is in pieces, which the library keeps. Does nothing where that is not known to help.
pub(crate) fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: glibc has this function since 2.0. It may be called at any time from any thread, and frees nothing that is in
        // use.
        unsafe { malloc_trim(0) };
    }
}
