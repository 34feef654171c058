//! The validation layer checks synchronisation, and is heard: commands that lack a barrier are reported, those of shaders
//! included. Else its silence in the other tests would say nothing. wgpu puts barriers wherever safe code needs them, so
//! these commands are recorded past it. In a process of its own, because what is said here is said to all tests of a
//! process.
#![expect(unsafe_code, reason = "safe code records no command without its barriers")]

use support::process;
use tilewise::{Gpu, wgpu};
use wgpu::hal::{CommandEncoder, api::Vulkan};

const BYTES: u64 = 256;

/// Writes every element of the buffer.
const WRITES: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) { x[at] = at; }
";

#[test]
fn commands_without_a_barrier_are_reported() {
    if !std::env::var("WGPU_VALIDATION").is_ok_and(|on| on != "0") {
        println!("skipped: WGPU_VALIDATION is not set");
        return;
    }
    if !process::is_alone(concat!(module_path!(), "::commands_without_a_barrier_are_reported")) {
        return;
    }
    let Some(gpu) = support::gpu() else { return };
    if gpu.caps().backend != "vulkan" || gpu.caps().adapter.contains("SwiftShader") {
        println!("skipped: the validation layer is only fetched with lavapipe");
        return;
    }
    let buffer =
        support::app::buffer(gpu.device(), BYTES, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST);
    gpu.queue().submit([written_by_a_shader(&gpu, &buffer)]);
    gpu.wait().unwrap();
    assert_eq!(support::take_complaints(), [""; 0], "wgpu's own commands have their barriers");
    gpu.queue().submit([filled(&gpu, &buffer, 2)]);
    assert_hazard("a fill after a fill");
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    gpu.queue().submit([written_by_a_shader(&gpu, &buffer), filled(&gpu, &buffer, 1)]);
    assert_hazard("a fill after a shader's write");
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

fn assert_hazard(what: &str) {
    let said = support::take_complaints();
    let is_reported = said.iter().any(|message| message.contains("SYNC-HAZARD-WRITE-AFTER-WRITE"));
    assert!(is_reported, "{what} was not reported: {said:?}");
}

/// A pass of wgpu's, with its barriers.
fn written_by_a_shader(gpu: &Gpu, buffer: &wgpu::Buffer) -> wgpu::CommandBuffer {
    support::app::launched(gpu.device(), WRITES, [buffer.as_entire_binding()], 1)
}

/// Fills the whole buffer this many times, without a barrier before any of them.
fn filled(gpu: &Gpu, buffer: &wgpu::Buffer, times: usize) -> wgpu::CommandBuffer {
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    // SAFETY: the buffer outlives the wait for the submission, and nobody reads what it holds: in which order it is
    // written makes no difference. The encoder is used in no other way.
    unsafe {
        let buffer = buffer.as_hal::<Vulkan>().expect("a device of Vulkan");
        encoder.as_hal_mut::<Vulkan, _, _>(|encoder| {
            let encoder = encoder.expect("a device of Vulkan");
            (0..times).for_each(|_| encoder.clear_buffer(&buffer, 0..BYTES));
        });
    }
    encoder.finish()
}
