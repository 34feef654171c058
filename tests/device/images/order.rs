//! When textures are read and written: after what was recorded and submitted before, and inside an application's encoder.

use super::{COPIES, copy_out, download, mapped, of, on_every_device, texture, uploaded};
use support::app::image;
use tilewise::ops::{self, Pixels};
use tilewise::wgpu::{self, TextureFormat, TextureUsages};
use tilewise::{Gpu, Result, Tensor, matmul, reference};

const WIDTH: u32 = 65;
const HEIGHT: u32 = 7;

/// A render pass that clears the texture.
fn clear(encoder: &mut wgpu::CommandEncoder, texture: &wgpu::Texture, [r, g, b, a]: [f64; 4]) {
    let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
    drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    }));
}

fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
}

fn drawn_to(gpu: &Gpu, format: TextureFormat) -> wgpu::Texture {
    let usage = COPIES | TextureUsages::RENDER_ATTACHMENT;
    gpu.device().create_texture(&image(format, [WIDTH, HEIGHT], usage))
}

/// The colours of the texture, multiplied by a matrix, in its place.
fn mix(gpu: &Gpu, texture: &wgpu::Texture, matrix: &Tensor<f32>) -> Result<Tensor<f32>> {
    let image = Tensor::<f32>::from_texture(gpu, texture, &Pixels::default())?;
    let mixed = matmul(&image.reshape([(WIDTH * HEIGHT) as usize, 4])?, matrix)?;
    let mixed = mixed.reshape([HEIGHT as usize, WIDTH as usize, 4])?;
    mixed.write_texture(texture, &Pixels::default())?;
    Ok(mixed)
}

/// Red, green and blue in turn; alpha stays.
fn turn(gpu: &Gpu) -> Tensor<f32> {
    let matrix = [[0.0f32, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    gpu.tensor(&matrix.concat(), [4, 4]).unwrap()
}

#[test]
fn a_product_runs_between_two_render_passes_of_one_encoder() {
    on_every_device("between render passes", |gpu| {
        let matrix = turn(gpu);
        for format in [TextureFormat::Rgba8Unorm, TextureFormat::Rgba16Float] {
            let texture = drawn_to(gpu, format);
            // The kernels are compiled before the first frame.
            mix(gpu, &texture, &matrix).unwrap().to_vec().unwrap();
            for frame in 0..3 {
                let colour = [0.0, 0.25 * f64::from(frame), 1.0, 0.5];
                let before = gpu.stats();
                let mut encoder = encoder(gpu);
                clear(&mut encoder, &texture, colour);
                let mixed = gpu.record_into(&mut encoder, || mix(gpu, &texture, &matrix)).unwrap();
                let out = copy_out(gpu, &mut encoder, &texture, [0, 0]);
                clear(&mut encoder, &texture, [1.0; 4]);
                let again = gpu.record_into(&mut encoder, || {
                    Tensor::<f32>::from_texture(gpu, &texture, &Pixels::default())
                });
                let again = again.unwrap();
                let after = gpu.stats();
                assert_eq!(after.launches - before.launches, 4, "a reading, a product, a writing, a reading");
                assert_eq!((after.submits, after.buffers_created > 0), (before.submits, true));
                assert!(mixed.to_vec().is_err(), "not submitted");
                gpu.queue().submit([encoder.finish()]);
                let [r, g, b, a] = colour;
                let texels = mapped(gpu, &out, format, WIDTH);
                let all = (WIDTH * HEIGHT) as usize;
                let got = reference::from_texels(of(format), &texels, 1.0, 0.0).value;
                let step = if format == TextureFormat::Rgba8Unorm { 1.01 / 255.0 } else { 1e-3 };
                for (got, want) in got.iter().zip([b, r, g, a].repeat(all)) {
                    assert!((got - want).abs() <= step, "{gpu:?}: {format:?}: {got}, not {want}");
                }
                // The texture has the bits of the product.
                let mixed: Vec<f64> = mixed.to_vec().unwrap().into_iter().map(f64::from).collect();
                assert_eq!(texels, reference::to_texels(of(format), &mixed), "{gpu:?}: {format:?}");
                assert_eq!(again.to_vec().unwrap(), vec![1.0; all * 4], "{gpu:?}: drawn over");
            }
        }
    });
}

#[test]
fn what_is_recorded_first_reads_what_was_there() {
    on_every_device("recorded order", |gpu| {
        let (width, height) = (WIDTH as usize, HEIGHT as usize);
        let target = texture(gpu, TextureFormat::R32Float, [WIDTH, HEIGHT]);
        let plain = Pixels::default();
        let mut images = Vec::new();
        for value in 0..5 {
            // Dropped at once, so that buffers of texels and tensors are used again.
            let image = gpu.tensor(&vec![value as f32; width * height], [height, width, 1]).unwrap();
            image.write_texture(&target, &plain).unwrap();
            let read = Tensor::<f32>::from_texture(gpu, &target, &plain).unwrap();
            images.push(ops::add(&read, &read).unwrap());
        }
        for (value, image) in images.iter().enumerate() {
            assert_eq!(image.to_vec().unwrap(), vec![2.0 * value as f32; width * height], "{gpu:?}");
        }
        assert_eq!(download(gpu, &target), bytes(&vec![4.0; width * height]));
    });
}

#[test]
fn what_the_application_submits_is_seen_and_sees() {
    on_every_device("submitted by the application", |gpu| {
        let texture = drawn_to(gpu, TextureFormat::Rgba8Unorm);
        for colour in [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]] {
            let mut encoder = encoder(gpu);
            clear(&mut encoder, &texture, colour);
            gpu.queue().submit([encoder.finish()]);
            let image = Tensor::<f32>::from_texture(gpu, &texture, &Pixels::default()).unwrap();
            let inverse = Pixels { scale: -1.0, shift: 1.0, ..Pixels::default() };
            image.write_texture(&texture, &inverse).unwrap();
            // `download` flushes, and then copies in commands of its own.
            let want: Vec<u8> = colour.iter().map(|c| if *c == 1.0 { 0 } else { 255 }).collect();
            assert_eq!(download(gpu, &texture), want.repeat((WIDTH * HEIGHT) as usize), "{gpu:?}");
        }
    });
}

#[test]
fn copies_and_launches_are_timed_together() {
    on_every_device("timed", |gpu| {
        let texture = uploaded(gpu, TextureFormat::R32Float, [3, 1], bytes(&[1.0, 2.0, 3.0]));
        let mut image = None;
        let timing = gpu.time(|| {
            let read = Tensor::<f32>::from_texture(gpu, &texture, &Pixels::default())?;
            ops::add(&read, &read)?.write_texture(&texture, &Pixels::default())?;
            image = Some(read);
            Ok(())
        });
        assert!(timing.unwrap().1.seconds >= 0.0);
        assert_eq!(image.unwrap().to_vec().unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(download(gpu, &texture), bytes(&[2.0, 4.0, 6.0]));
    });
}

fn bytes(elements: &[f32]) -> &[u8] {
    bytemuck::cast_slice(elements)
}
