//! Devices and tensors.

use super::Written;
use pollster::block_on;
use tilewise::ops::Pixels;
use tilewise::{Fill, Gemm, Tensor, f16, matmul, wgpu};

pub(super) const CALLS: &[Written] = &[
    ("Gpu::capture", |it| it.gpu.capture(&[it.a.view()], || matmul(&it.a, &it.b)).map(drop)),
    ("Gpu::empty", |it| it.gpu.empty::<f32>([3, 3]).map(drop)),
    ("Gpu::empty_with", |it| it.gpu.empty_with::<f32>([3, 3], wgpu::BufferUsages::VERTEX).map(drop)),
    ("Gpu::execute", |it| {
        let operands = [it.a.view(), it.b.view(), it.c.view_mut()?];
        it.gpu.execute(&it.plan, &operands, &it.scalars)
    }),
    ("Gpu::flush", |it| it.gpu.flush()),
    ("Gpu::measure_machine", |it| it.gpu.measure_machine().map(drop)),
    ("Gpu::prepare", |it| it.gpu.prepare(&it.plan)),
    ("Gpu::random", |it| it.gpu.random::<f32>([3, 3], Fill::Uniform, 1).map(drop)),
    ("Gpu::record_into", |it| {
        let mut encoder = it.gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let recorded = it.gpu.record_into(&mut encoder, || matmul(&it.a, &it.b)).map(drop);
        it.gpu.queue().submit([encoder.finish()]);
        recorded
    }),
    ("Gpu::take_commands", |it| {
        let commands = it.gpu.take_commands()?;
        it.gpu.queue().submit([commands]);
        Ok(())
    }),
    ("Gpu::tensor", |it| it.gpu.tensor(&[1.0f32; 9], [3, 3]).map(drop)),
    ("Gpu::time", |it| it.gpu.time(|| Ok(())).map(drop)),
    ("Gpu::tune", |it| it.gpu.tune(&Gemm::new(&it.a, &it.b).problem()?).map(drop)),
    ("Gpu::upload_async", |it| block_on(it.gpu.upload_async(&[1.0f32; 9], [3, 3])).map(drop)),
    ("Gpu::wait", |it| it.gpu.wait()),
    ("Gpu::warm_up", |it| it.gpu.warm_up(std::slice::from_ref(&it.plan))),
    ("Gpu::zeros", |it| it.gpu.zeros::<f32>([3, 3]).map(drop)),
    ("Replay::run", |it| it.replay.run(&[it.a.view()]).map(drop)),
    ("Replay::write", |it| it.replay.write(0, &[1.0f32; 64])),
    ("Replay::write_from", |it| it.replay.write_from(0, |to| to.fill(1.0f32))),
    ("Tensor::revert", |it| it.a.revert()),
    ("Tensor::buffer", |it| it.a.buffer().map(drop)),
    ("Tensor::cast", |it| it.a.cast::<f16>().map(drop)),
    ("Tensor::cast_saturating", |it| it.a.cast_saturating::<i8>().map(drop)),
    ("Tensor::contiguous", |it| it.a.t().contiguous().map(drop)),
    ("Tensor::from_buffer", |it| {
        Tensor::<f32>::from_buffer(&it.gpu, it.buffer.clone(), .., [8, 8]).map(drop)
    }),
    ("Tensor::fill_from_texture", |it| it.image.fill_from_texture(&it.texture, &Pixels::default())),
    ("Tensor::from_texture", |it| {
        Tensor::<f32>::from_texture(&it.gpu, &it.texture, &Pixels::default()).map(drop)
    }),
    ("Tensor::write_texture", |it| it.image.write_texture(&it.texture, &Pixels::default())),
    ("Tensor::read", |it| block_on(it.a.read()).map(drop)),
    ("Tensor::read_into", |it| it.a.read_into(&mut [0.0; 64])),
    ("Tensor::read_with", |it| block_on(it.a.read_with(|_| ()))),
    ("Tensor::to_vec", |it| it.a.to_vec().map(drop)),
    ("Tensor::write", |it| it.c.write(&[1.0; 64])),
    ("Tensor::write_from", |it| it.c.write_from(|to| to.fill(1.0))),
];

#[cfg(feature = "ndarray")]
pub(super) const NDARRAY: &[Written] = &[
    ("Gpu::from_ndarray", |it| it.gpu.from_ndarray(&ndarray::arr1(&[1.0f32, 2.0])).map(drop)),
    ("Tensor::read_ndarray", |it| block_on(it.a.read_ndarray()).map(drop)),
    ("Tensor::to_ndarray", |it| it.a.to_ndarray().map(drop)),
];
