//! Textures that are destroyed: before a call it is an error, later what depends on the copy has no contents.

use super::{on_every_device, texture, uploaded};
use support::failure::{Kind, fails, says};
use tilewise::Tensor;
use tilewise::ops::{self, Pixels};
use tilewise::wgpu::{self, TextureFormat};

#[test]
fn a_destroyed_texture_is_refused() {
    on_every_device("destroyed before", |gpu| {
        let gone = texture(gpu, TextureFormat::Rgba8Unorm, [4, 3]);
        gone.destroy();
        let plain = Pixels::default();
        let words = ["the texture", "it was destroyed"];
        says(Tensor::<f32>::from_texture(gpu, &gone, &plain), &[&["from_texture: "][..], &words].concat());
        let mut image = gpu.tensor(&[1.0f32; 48], [3, 4, 4]).unwrap();
        says(image.write_texture(&gone, &plain), &[&["write_texture: "][..], &words].concat());
        says(image.fill_from_texture(&gone, &plain), &[&["fill_from_texture: "][..], &words].concat());
        assert_eq!(image.to_vec().unwrap(), [1.0; 48], "it keeps its contents");
        // In an encoder, too, whose other commands stay valid.
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let failed = gpu.record_into(&mut encoder, || Tensor::<f32>::from_texture(gpu, &gone, &plain));
        says(failed, &words);
        let sum = gpu.record_into(&mut encoder, || ops::add(&image, &image)).unwrap();
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(sum.to_vec().unwrap(), [2.0; 48]);
    });
}

#[test]
fn a_texture_that_is_destroyed_before_its_copy_spoils_what_depends_on_it() {
    on_every_device("destroyed while recorded", |gpu| {
        let plain = Pixels::default();
        let ones = gpu.tensor(&[1.0f32; 48], [3, 4, 4]).unwrap();
        let bytes = [255; 48];
        let (gone, kept) = (
            uploaded(gpu, TextureFormat::Rgba8Unorm, [4, 3], &bytes),
            uploaded(gpu, TextureFormat::Rgba8Unorm, [4, 3], &bytes),
        );
        let before = ops::add(&ones, &ones).unwrap();
        let spoiled = Tensor::<f32>::from_texture(gpu, &gone, &plain).unwrap();
        let made_of_it = ops::add(&spoiled, &ones).unwrap();
        let read = Tensor::<f32>::from_texture(gpu, &kept, &plain).unwrap();
        let mut filled = gpu.zeros::<f32>([3, 4, 4]).unwrap();
        filled.fill_from_texture(&gone, &plain).unwrap();
        made_of_it.write_texture(&kept, &plain).unwrap();
        gone.destroy();
        for _ in 0..2 {
            for tensor in [&spoiled, &made_of_it, &filled] {
                fails(tensor.to_vec(), Kind::Device, &["a copy from a texture failed"]);
            }
            assert_eq!(before.to_vec().unwrap(), [2.0; 48], "{gpu:?}");
            assert_eq!(read.to_vec().unwrap(), [1.0; 48], "{gpu:?}");
        }
        says(made_of_it.write_texture(&kept, &plain), &["failed"]);
        says(gpu.flush(), &["a copy from a texture"]);
        gpu.flush().expect("a failure is told once");
        assert_eq!(super::download(gpu, &kept), bytes, "what has no contents is not written");
        // A tensor is as good as new once it is filled again.
        filled.fill_from_texture(&kept, &plain).unwrap();
        assert_eq!(filled.to_vec().unwrap(), [1.0; 48], "{gpu:?}");
    });
}

#[test]
fn a_texture_that_is_destroyed_before_it_is_written_is_an_error_of_the_flush() {
    on_every_device("destroyed before it is written", |gpu| {
        let gone = texture(gpu, TextureFormat::Rgba8Unorm, [4, 3]);
        let ones = gpu.tensor(&[1.0f32; 48], [3, 4, 4]).unwrap();
        ones.write_texture(&gone, &Pixels::default()).unwrap();
        let after = ops::add(&ones, &ones).unwrap();
        gone.destroy();
        says(gpu.flush(), &["a copy to a texture failed"]);
        assert_eq!(
            (ones.to_vec().unwrap(), after.to_vec().unwrap()),
            (vec![1.0; 48], vec![2.0; 48]),
            "{gpu:?}"
        );
    });
}

#[test]
fn commands_of_an_application_with_a_destroyed_texture_are_refused_and_spoil_what_they_write() {
    on_every_device("destroyed in an encoder", |gpu| {
        let gone = texture(gpu, TextureFormat::Rgba8Unorm, [4, 3]);
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let image =
            gpu.record_into(&mut encoder, || Tensor::<f32>::from_texture(gpu, &gone, &Pixels::default()));
        let image = image.unwrap();
        let commands = encoder.finish();
        gone.destroy();
        let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
        gpu.queue().submit([commands]);
        pollster::block_on(scope.pop()).expect("wgpu refuses it");
        says(image.to_vec(), &["were refused"]);
    });
}
