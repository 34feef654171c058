//! What the application does.
#![expect(
    unsafe_code,
    reason = "an application that calls Vulkan vouches for what it says of its device and buffers"
)]

use super::application::Application;
use super::buffer::Buffer;
use super::fill::{self, Fill};
use clap::{Parser, ValueEnum};
use std::process::ExitCode;
use support::{ended, significant};
use tilewise::gemm::Operand;
use tilewise::gpu::ash::vk;
use tilewise::wgpu::BufferUsages;
use tilewise::{Element, Gpu, Real, Result, Tensor, f16, matmul, reference};

/// A Vulkan application that multiplies matrices in its own buffers.
#[derive(Parser)]
struct Args {
    /// Rows of A and C, 1 to 2048
    #[arg(long, default_value_t = 129, value_parser = size)]
    m: usize,
    /// Columns of B and C, 1 to 2048
    #[arg(long, default_value_t = 127, value_parser = size)]
    n: usize,
    /// Columns of A, rows of B, 1 to 2048
    #[arg(long, default_value_t = 131, value_parser = size)]
    k: usize,
    /// Type of A and B; C is f32
    #[arg(long, default_value = "f32")]
    dtype: Type,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Type {
    F16,
    F32,
}

fn size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok().filter(|size| (1..=2048).contains(size));
    size.ok_or_else(|| "it is not a number from 1 to 2048".into())
}

pub(crate) fn main() -> ExitCode {
    let args = Args::parse();
    ended(Application::new().and_then(|application| {
        let within = match args.dtype {
            Type::F32 => run::<f32>(&application, &args),
            Type::F16 => run::<f16>(&application, &args),
        };
        let messages = application.messages();
        for message in &messages {
            eprintln!("validation: {message}");
        }
        println!("layer      {}", application.validation(&messages));
        Ok(within? && messages.is_empty())
    }))
}

fn run<T: Real + Operand<Sum = f32>>(application: &Application, args: &Args) -> Result<bool> {
    let (m, n, k) = (args.m, args.n, args.k);
    // The application's buffers outlive the tensors on them, because they are dropped after these.
    let words = |elements: usize| (elements * T::DTYPE.size()).div_ceil(4);
    let [a_buffer, b_buffer] = [words(m * k), words(k * n)].map(|words| application.storage(words));
    let (a_buffer, b_buffer) = (a_buffer?, b_buffer?);
    let read_back = application.host_visible(m * n * 4)?;
    // SAFETY: the description is true, and the application outlives the `Gpu`. It has one thread.
    let gpu = unsafe { Gpu::from_vulkan(application.described())? };
    let caps = gpu.caps();
    println!("device     {} ({}, {})", caps.adapter, caps.driver, caps.backend);
    for name in &caps.not_enabled {
        println!("not enabled: {name}");
    }

    let fill = Fill::new(application, T::DTYPE)?;
    fill.run(&a_buffer, 1)?;
    fill.run(&b_buffer, 2)?;

    let a = tensor::<T>(&gpu, &a_buffer, [m, k])?;
    let b = tensor::<T>(&gpu, &b_buffer, [k, n])?;
    let before = gpu.stats();
    let c = matmul(&a, &b)?;
    gpu.flush()?;
    let stats = gpu.stats();
    println!("plan       {}", tilewise::Gemm::new(&a, &b).plan()?);
    println!("launches   {}", stats.launches - before.launches);
    println!("submits    {}", stats.submits - before.submits);

    let (c_buffer, bytes) = c.buffer()?;
    application.copy(gpu.vk_buffer(c_buffer)?, bytes.start, &read_back)?;
    let c_values: Vec<f32> = read_back.read(m * n);

    let [a_values, b_values] = [(m * k, 1), (k * n, 2)].map(|(len, seed)| fill::values::<T>(len, seed));
    let found = reference::gemm(&a_values, &b_values, [m, n, k]).compare(&c_values);
    println!("error      {} of its bound", significant(found.bound_ratio));
    println!("check      {}", if found.ok() { "ok" } else { "outside of its bound" });
    Ok(found.ok())
}

/// A tensor in a buffer of the application.
fn tensor<T: Element>(gpu: &Gpu, buffer: &Buffer<'_>, shape: [usize; 2]) -> Result<Tensor<T>> {
    let usages = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    // SAFETY: the buffer belongs to this device, was created with these usages, has memory and contents, and outlives the
    // tensor. Barriers at the end of `Fill::run` and at the beginning of `Application::copy` order the accesses.
    let wrapped = unsafe { gpu.wrap_vk_buffer(buffer.handle, buffer.size, usages)? };
    Tensor::from_buffer(gpu, wrapped, .., shape)
}

/// The result of a call of Vulkan.
pub(crate) fn checked<T>(what: &str, result: std::result::Result<T, vk::Result>) -> Result<T> {
    result.map_err(|error| tilewise::Error::Device(format!("{what}: {error}").into()))
}
