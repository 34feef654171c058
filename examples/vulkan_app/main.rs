//! A Vulkan application, written with `ash`, that multiplies matrices in its own buffers.
//!
//! ```sh
//! cargo run --release --example vulkan_app
//! cargo run --release --example vulkan_app -- --m 256 --n 300 --k 1000 --dtype f16
//! WGPU_VALIDATION=1 cargo run --release --example vulkan_app
//! ```
//! The application owns its instance, device, queue and buffers. Its own compute shader fills the buffers of A and B.
//! Tilewise adopts the device, multiplies where the buffers are, and returns the buffer of the product, which the application
//! reads with a command buffer of its own. Nothing is copied in between. The product is checked against f64.
//!
//! With `WGPU_VALIDATION=1` the application enables the Khronos validation layer with its checks of synchronisation. The exit
//! status is 0 only if every entry is within its bound and the layer reported no error.

#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod application;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod buffer;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod fill;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod messages;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod program;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
use program::main as run;

fn main() -> std::process::ExitCode {
    run()
}

/// Elsewhere the library reaches devices through other APIs.
#[cfg(not(any(target_os = "linux", target_os = "windows", target_os = "android")))]
fn run() -> std::process::ExitCode {
    eprintln!("error: vulkan_app runs on Linux, Windows and Android");
    std::process::ExitCode::FAILURE
}
