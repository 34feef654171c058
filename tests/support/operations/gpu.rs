//! Devices and tensors.

use super::{Row, row};
use pollster::block_on;
use tilewise::ops::{self, Pixels};
use tilewise::{Fill, Gemm, Tensor, f16, matmul, wgpu};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("Gpu::capture", |it| it.gpu.capture(&[it.a.view()], || matmul(&it.a, &it.b))),
        row("Gpu::empty", |it| it.gpu.empty::<f32>([3, 3])),
        row("Gpu::empty_with", |it| it.gpu.empty_with::<f32>([3, 3], wgpu::BufferUsages::VERTEX)),
        row("Gpu::execute", |it| {
            let operands = [it.a.view(), it.b.view(), it.c.view_mut()?];
            it.gpu.execute(&it.plan, &operands, &it.scalars)
        }),
        row("Gpu::flush", |it| it.gpu.flush()),
        row("Gpu::measure_machine", |it| it.gpu.measure_machine()),
        row("Gpu::prepare", |it| it.gpu.prepare(&it.plan)),
        row("Gpu::random", |it| it.gpu.random::<f32>([3, 3], Fill::Uniform, 1)),
        row("Gpu::record_into", |it| {
            let mut encoder =
                it.gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let recorded = it.gpu.record_into(&mut encoder, || matmul(&it.a, &it.b));
            it.gpu.queue().submit([encoder.finish()]);
            recorded
        }),
        row("Gpu::take_commands", |it| {
            let commands = it.gpu.take_commands()?;
            it.gpu.queue().submit([commands]);
            Ok(())
        }),
        row("Gpu::tensor", |it| it.gpu.tensor(&[1.0f32; 9], [3, 3])),
        row("Gpu::time", |it| it.gpu.time(|| matmul(&it.a, &it.b))),
        row("Gpu::tune", |it| it.gpu.tune(&Gemm::new(&it.a, &it.b).problem()?)),
        row("Gpu::upload_async", |it| block_on(it.gpu.upload_async(&[1.0f32; 9], [3, 3]))),
        row("Gpu::wait", |it| it.gpu.wait()),
        row("Gpu::warm_up", |it| it.gpu.warm_up(std::slice::from_ref(&it.plan))),
        row("Gpu::zeros", |it| it.gpu.zeros::<f32>([3, 3])),
        row("Replay::run", |it| it.replay.run(&[it.a.view()]).map(drop)),
        row("Replay::write", |it| it.replay.write(0, &[1.0f32; 64])),
        row("Replay::write_from", |it| it.replay.write_from(0, |to| to.fill(1.0f32))),
        row("Tensor::assign", |it| it.c.assign(|| ops::exp(&it.a))),
        row("Tensor::revert", |it| it.a.revert()),
        row("Tensor::buffer", |it| it.a.buffer().map(drop)),
        row("Tensor::cast", |it| it.a.cast::<f16>()),
        row("Tensor::cast_saturating", |it| it.a.cast_saturating::<i8>()),
        row("Tensor::contiguous", |it| it.a.t().contiguous()),
        row("Tensor::from_buffer", |it| Tensor::<f32>::from_buffer(&it.gpu, it.buffer.clone(), .., [8, 8])),
        row("Tensor::fill_from_texture", |it| it.image.fill_from_texture(&it.texture, &Pixels::default())),
        row("Tensor::from_texture", |it| {
            Tensor::<f32>::from_texture(&it.gpu, &it.texture, &Pixels::default())
        }),
        row("Tensor::write_texture", |it| it.image.write_texture(&it.texture, &Pixels::default())),
        row("Tensor::read", |it| block_on(it.a.read())),
        row("Tensor::read_into", |it| it.a.read_into(&mut [0.0; 64])),
        row("Tensor::read_with", |it| block_on(it.a.read_with(|_| ()))),
        row("Tensor::to_vec", |it| it.a.to_vec()),
        row("Tensor::write", |it| it.c.write(&[1.0; 64])),
        row("Tensor::write_from", |it| it.c.write_from(|to| to.fill(1.0))),
    ]
}

#[cfg(feature = "ndarray")]
pub(super) fn of_ndarray() -> Vec<Row> {
    vec![
        row("Gpu::from_ndarray", |it| it.gpu.from_ndarray(&ndarray::arr1(&[1.0f32, 2.0]))),
        row("Tensor::read_ndarray", |it| block_on(it.a.read_ndarray())),
        row("Tensor::to_ndarray", |it| it.a.to_ndarray()),
    ]
}
