//! What is refused, with the rule and the remedy; nothing is recorded.

use super::{COPIES, devices, on_every_device, texture};
use support::app::image;
use support::failure::says;
use tilewise::ops::Pixels;
use tilewise::wgpu::{self, TextureFormat, TextureUsages};
use tilewise::{Error, Gpu, Result, Tensor};

const SIZE: [u32; 2] = [4, 3];

fn read(gpu: &Gpu, texture: &wgpu::Texture, pixels: &Pixels) -> Result<Tensor<f32>> {
    Tensor::from_texture(gpu, texture, pixels)
}

/// Both directions fail with these words.
fn both_fail(gpu: &Gpu, texture: &wgpu::Texture, pixels: Pixels, words: &[&str]) {
    let launches = gpu.stats().launches;
    let image = gpu.zeros::<f32>([3, 4, 4]).unwrap();
    says(read(gpu, texture, &pixels), &[&["from_texture: "], words].concat());
    says(
        gpu.zeros::<f32>([3, 4, 4]).unwrap().fill_from_texture(texture, &pixels),
        &[&["fill_from_texture: "], words].concat(),
    );
    says(image.write_texture(texture, &pixels), &[&["write_texture: "], words].concat());
    assert_eq!(gpu.stats().launches, launches);
}

#[test]
fn other_textures_are_refused_with_the_rule_and_the_remedy() {
    on_every_device("other textures", |gpu| {
        let plain = Pixels::default();
        let of = |change: &dyn Fn(&mut wgpu::TextureDescriptor<'static>)| {
            let mut desc = image(TextureFormat::Rgba8Unorm, SIZE, COPIES);
            change(&mut desc);
            gpu.device().create_texture(&desc)
        };
        for format in [
            TextureFormat::Rgba8UnormSrgb,
            TextureFormat::Bgra8Unorm,
            TextureFormat::Rgba32Float,
            TextureFormat::R8Uint,
        ] {
            let words = [&format!("its format is {format:?}")[..], "Rgba8Unorm, R32Float and Rgba16Float"];
            both_fail(gpu, &of(&|desc| desc.format = format), plain, &words);
        }
        let solid = of(&|desc| desc.dimension = wgpu::TextureDimension::D3);
        both_fail(gpu, &solid, plain, &["its dimension is D3, but it must be D2"]);
        let samples = of(&|desc| {
            desc.sample_count = 4;
            desc.usage = TextureUsages::RENDER_ATTACHMENT;
        });
        both_fail(gpu, &samples, plain, &["it has 4 samples", "resolve it"]);
        let unread = of(&|desc| desc.usage = TextureUsages::COPY_DST);
        says(read(gpu, &unread, &plain), &["from_texture: the texture", "`TextureUsages::COPY_SRC`"]);
        let unwritten = of(&|desc| desc.usage = TextureUsages::COPY_SRC);
        let image = gpu.zeros::<f32>([3, 4, 4]).unwrap();
        says(
            image.write_texture(&unwritten, &plain),
            &["write_texture: the texture", "`TextureUsages::COPY_DST`", "create it with this usage"],
        );
    });
}

#[test]
fn what_is_not_in_the_texture_is_refused() {
    on_every_device("outside", |gpu| {
        let texture = texture(gpu, TextureFormat::Rgba8Unorm, SIZE);
        let plain = Pixels::default();
        let cases: [(Pixels, &[&str]); 9] = [
            (Pixels { mip_level: 1, ..plain }, &["there is no mip level 1: the texture has 1"]),
            (Pixels { layer: 1, ..plain }, &["there is no layer 1: the texture has 1"]),
            (Pixels { origin: [4, 0], ..plain }, &["from [4, 0] on", "which has [4, 3]"]),
            (Pixels { origin: [0, u32::MAX], ..plain }, &["which has [4, 3]"]),
            (Pixels { size: Some([5, 3]), ..plain }, &["[5, 3] texels from [0, 0] on", "which has [4, 3]"]),
            (Pixels { origin: [1, 0], size: Some([4, 3]), ..plain }, &["not all in mip level 0"]),
            (Pixels { size: Some([0, 3]), ..plain }, &["[0, 3] texels", "are none"]),
            (Pixels { size: Some([u32::MAX; 2]), ..plain }, &["not all in mip level 0"]),
            (Pixels { mip_level: u32::MAX, layer: u32::MAX, ..plain }, &["there is no mip level"]),
        ];
        for (pixels, words) in cases {
            both_fail(gpu, &texture, pixels, words);
        }
        for scale in [0.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 2.0] {
            both_fail(gpu, &texture, Pixels { scale, ..plain }, &["the scale", "neither 0 nor subnormal"]);
        }
        for shift in [f32::NAN, f32::NEG_INFINITY] {
            both_fail(gpu, &texture, Pixels { shift, ..plain }, &["the shift", "it must be finite"]);
        }
    });
}

#[test]
fn tensors_of_another_shape_are_refused() {
    on_every_device("shapes", |gpu| {
        let rgba = texture(gpu, TextureFormat::Rgba8Unorm, SIZE);
        let single = texture(gpu, TextureFormat::R32Float, SIZE);
        let plain = Pixels::default();
        let size = "the tensor must have the height and width of the texels";
        let four = "the tensor must have four channels, as the texture, or three, without alpha";
        let one = "the tensor must have one channel, as the texture";
        let axes = "the tensor must be (height, width, channels)";
        for (shape, texture, rule) in [
            (&[4, 3, 4][..], &rgba, size),
            (&[3, 4, 1], &rgba, four),
            (&[3, 4, 5], &rgba, four),
            (&[3, 4, 0], &rgba, four),
            (&[3, 4, 3], &single, one),
            (&[3, 4], &single, axes),
            (&[1, 3, 4, 4], &rgba, axes),
            (&[0, 4, 4], &rgba, size),
        ] {
            let mut image = gpu.zeros::<f32>(shape).unwrap();
            says(image.write_texture(texture, &plain), &["write_texture: ", rule]);
            says(image.fill_from_texture(texture, &plain), &["fill_from_texture: ", rule]);
        }
        for (channels, texture, rule) in [(2, &rgba, four), (0, &rgba, four), (4, &single, one)] {
            let pixels = Pixels { channels: Some(channels), ..plain };
            says(read(gpu, texture, &pixels), &["from_texture: ", rule]);
        }
        let mut image = gpu.zeros::<f32>([3, 4, 4]).unwrap();
        let clone = image.clone();
        says(image.fill_from_texture(&rgba, &plain), &["fill_from_texture: the output", "shared"]);
        drop(clone);
        let overlapping = image.as_strided(&[3, 4, 4], &[4, 2, 1], 0).unwrap();
        says(
            overlapping.writable_view().fill_from_texture(&rgba, &plain),
            &["fill_from_texture: the output's elements must not overlap"],
        );
        drop(overlapping);
        image.fill_from_texture(&rgba, &plain).unwrap();
    });
}

#[test]
fn a_texture_of_another_device_is_refused() {
    let (devices, plain) = (devices(), Pixels::default());
    for gpu in &devices {
        let Some((_, elsewhere, _)) = support::application(|_| ()) else { return };
        let foreign = elsewhere.create_texture(&image(TextureFormat::Rgba8Unorm, SIZE, COPIES));
        // Of the same number as a texture of this device.
        let own = texture(gpu, TextureFormat::Rgba8Unorm, SIZE);
        let image = gpu.zeros::<f32>([3, 4, 4]).unwrap();
        for result in [read(gpu, &foreign, &plain).map(drop), image.write_texture(&foreign, &plain)] {
            assert!(matches!(result, Err(Error::Gpu { .. })), "{result:?}");
            says(result, &["the texture belongs to another device", "create it on `Gpu::device`"]);
        }
        read(gpu, &own, &plain).unwrap().to_vec().unwrap();
    }
}

#[test]
fn a_capture_takes_no_textures() {
    on_every_device("a capture", |gpu| {
        let texture = texture(gpu, TextureFormat::Rgba8Unorm, SIZE);
        let x = gpu.zeros::<f32>([3, 4, 4]).unwrap();
        let words = ["textures are not captured", "before each run"];
        let plain = Pixels::default();
        let captured = gpu.capture(&[], || {
            says(read(gpu, &texture, &plain), &[&["from_texture: "][..], &words].concat());
            says(x.write_texture(&texture, &plain), &[&["write_texture: "][..], &words].concat());
            x.clone().writable_view().fill_from_texture(&texture, &plain)
        });
        says(captured, &words);
        // Around a run they are an input and an output.
        let mut replay = gpu.capture(&[x.view()], || tilewise::ops::add(&x, &x)).unwrap();
        let image = gpu.tensor(&[0.25f32; 48], [3, 4, 4]).unwrap();
        image.write_texture(&texture, &plain).unwrap();
        let frame = read(gpu, &texture, &plain).unwrap();
        replay.run(&[frame.view()]).unwrap().write_texture(&texture, &plain).unwrap();
        assert_eq!(super::download(gpu, &texture), [128; 48], "{gpu:?}");
    });
}
