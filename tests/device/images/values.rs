//! Every bit of every format, in every type.

use super::{FORMATS, download, of, on_every_device, random_elements, random_texels, texture, uploaded};
use tilewise::gemm::Operand;
use tilewise::ops::{Pixels, TexelFormat};
use tilewise::wgpu::TextureFormat;
use tilewise::{Element, Gpu, Real, Tensor, bf16, f16, reference};

/// Widths on both sides of the alignment of rows, which is 64 texels of 4 bytes, and an odd height.
const WIDTHS: [u32; 6] = [1, 3, 63, 64, 65, 257];
const HEIGHT: u32 = 3;

/// The colours of texels as f32: exact, or correctly rounded.
fn colours(format: TexelFormat, texels: &[u8]) -> Vec<f32> {
    match format {
        TexelFormat::Rgba8Unorm => texels.iter().map(|&byte| f32::from(byte) / 255.0).collect(),
        TexelFormat::R32Float => bytemuck::pod_collect_to_vec(texels),
        TexelFormat::Rgba16Float => {
            bytemuck::pod_collect_to_vec::<u8, f16>(texels).into_iter().map(f32::from).collect()
        }
    }
}

/// The first channels of each texel.
fn first_channels<T: Copy>(all: &[T], of: usize, channels: usize) -> Vec<T> {
    all.chunks(of).flat_map(|texel| texel[..channels].to_vec()).collect()
}

/// Whether both are the same number, to the bit; NaN is NaN.
fn assert_same<T: Element>(got: &[T], want: &[T], case: &str) {
    assert_eq!(got.len(), want.len(), "{case}");
    for (at, (got, want)) in got.iter().zip(want).enumerate() {
        let is_same = bytemuck::bytes_of(got) == bytemuck::bytes_of(want)
            || (got.to_f64().is_nan() && want.to_f64().is_nan());
        assert!(is_same, "{case}, element {at}: {got:?}, not {want:?}");
    }
}

fn channel_counts(format: TexelFormat) -> Vec<usize> {
    if format.channels() == 4 { vec![4, 3] } else { vec![1] }
}

#[test]
fn texels_of_every_format_are_read_to_the_bit_in_one_launch() {
    fn check<T: Real>(gpu: &Gpu, format: TextureFormat, width: u32) {
        let size = [width, HEIGHT];
        let texels = random_texels(format, size, u64::from(width));
        let texture = uploaded(gpu, format, size, &texels);
        let format = of(format);
        let colours: Vec<T> =
            colours(format, &texels).into_iter().map(|colour| T::from_f64(f64::from(colour))).collect();
        for channels in channel_counts(format) {
            let before = gpu.stats();
            let pixels = Pixels { channels: Some(channels), ..Pixels::default() };
            let image = Tensor::<T>::from_texture(gpu, &texture, &pixels).unwrap();
            let after = gpu.stats();
            assert_eq!(after.launches - before.launches, 1);
            assert_eq!((after.submits, after.bytes_staged), (before.submits, before.bytes_staged), "no host");
            assert_eq!(image.shape(), [HEIGHT as usize, width as usize, channels]);
            let want = first_channels(&colours, format.channels(), channels);
            let case = format!("{gpu:?}: {format:?}, {width} wide, {channels} channels, {}", T::DTYPE);
            assert_same(&image.to_vec().unwrap(), &want, &case);
        }
    }
    on_every_device("reading texels", |gpu| {
        for format in FORMATS {
            for width in WIDTHS {
                check::<f32>(gpu, format, width);
                check::<f16>(gpu, format, width);
            }
            check::<bf16>(gpu, format, 65);
        }
    });
}

#[test]
fn texels_of_every_format_are_written_to_the_bit_in_one_launch() {
    fn check<T: Real>(gpu: &Gpu, format: TextureFormat, width: u32) {
        let texture = texture(gpu, format, [width, HEIGHT]);
        let format = of(format);
        for channels in channel_counts(format) {
            let len = (width * HEIGHT) as usize * channels;
            // All bit patterns, and for rgba8unorm as many between 0 and 1.
            let mut elements = random_elements::<T>(len, u64::from(width) + 7);
            let fractions = tilewise::Fill::Uniform.values::<f32>(len, 3);
            for (element, fraction) in elements.iter_mut().zip(fractions).step_by(2) {
                *element = T::from_f64(f64::from(fraction.abs()));
            }
            let image = gpu.tensor(&elements, [HEIGHT as usize, width as usize, channels]).unwrap();
            gpu.flush().unwrap();
            let before = gpu.stats();
            image.write_texture(&texture, &Pixels::default()).unwrap();
            let after = gpu.stats();
            assert_eq!((after.launches - before.launches, after.submits), (1, before.submits));
            let with_alpha = |texel: &[T]| {
                let mut colours: Vec<f64> = texel.iter().map(|x| x.to_f64()).collect();
                colours.resize(format.channels(), 1.0);
                colours
            };
            let want: Vec<f64> = elements.chunks(channels).flat_map(with_alpha).collect();
            let want = reference::to_texels(format, &want);
            let got = download(gpu, &texture);
            let case = format!("{gpu:?}: {format:?}, {width} wide, {channels} channels, {}", T::DTYPE);
            match format {
                TexelFormat::Rgba8Unorm => assert_eq!(got, want, "{case}"),
                TexelFormat::R32Float => assert_same::<f32>(
                    &bytemuck::pod_collect_to_vec(&got),
                    &bytemuck::pod_collect_to_vec(&want),
                    &case,
                ),
                TexelFormat::Rgba16Float => assert_same::<f16>(
                    &bytemuck::pod_collect_to_vec(&got),
                    &bytemuck::pod_collect_to_vec(&want),
                    &case,
                ),
            }
        }
    }
    on_every_device("writing texels", |gpu| {
        for format in FORMATS {
            for width in WIDTHS {
                check::<f32>(gpu, format, width);
                check::<f16>(gpu, format, width);
            }
            check::<bf16>(gpu, format, 65);
        }
    });
}

#[test]
fn every_byte_comes_back_whatever_the_type_and_the_scale() {
    fn check<T: Real>(gpu: &Gpu, pixels: Pixels) {
        let bytes: Vec<u8> = (0..=255).flat_map(|i: u8| [i, 255 - i, i ^ 0x55, i.rotate_left(3)]).collect();
        let texture = uploaded(gpu, TextureFormat::Rgba8Unorm, [16, 16], &bytes);
        let image = Tensor::<T>::from_texture(gpu, &texture, &pixels).unwrap();
        let to = super::texture(gpu, TextureFormat::Rgba8Unorm, [16, 16]);
        image.write_texture(&to, &pixels).unwrap();
        assert_eq!(download(gpu, &to), bytes, "{gpu:?}: {pixels:?}, {}", T::DTYPE);
    }
    on_every_device("round trip", |gpu| {
        for (scale, shift) in [(1.0, 0.0), (255.0, 0.0), (2.0, -1.0), (-3.0, 0.5)] {
            let pixels = Pixels { scale, shift, ..Pixels::default() };
            check::<f32>(gpu, pixels);
            check::<f16>(gpu, pixels);
        }
        let bytes: Vec<u8> = (0..=255).flat_map(|i: u8| [i; 4]).collect();
        let texture = uploaded(gpu, TextureFormat::Rgba8Unorm, [256, 1], &bytes);
        let pixels = Pixels { scale: 255.0, ..Pixels::default() };
        let image = Tensor::<f32>::from_texture(gpu, &texture, &pixels).unwrap();
        let whole: Vec<f32> = bytes.into_iter().map(f32::from).collect();
        assert_eq!(image.to_vec().unwrap(), whole, "{gpu:?}: bytes as numbers");
    });
}

#[test]
fn colours_are_rounded_to_the_nearest_byte_with_ties_to_even() {
    on_every_device("rounding", |gpu| {
        let half = |byte: f64| f32::from_f64((byte + 0.5) / 255.0);
        let mut elements = vec![
            0.0,
            -0.0,
            -1.0,
            f32::NAN,
            -f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MIN_POSITIVE / 2.0,
            -f32::MIN_POSITIVE / 2.0,
            1.0,
            1.0f32.next_down(),
            1.0f32.next_up(),
            f32::MAX,
            0.5,
            0.1,
            0.3,
        ];
        for byte in 0..255 {
            let middle = half(f64::from(byte));
            elements.extend([middle.next_down(), middle, middle.next_up()]);
        }
        // 255 x is exactly between two integers only for odd multiples of 1/2: that is x = 1/2.
        assert_eq!(
            reference::to_texels(TexelFormat::Rgba8Unorm, &[0.5, f64::NAN, -1.0, 2.0]),
            [128, 0, 0, 255]
        );
        elements.resize(elements.len().next_multiple_of(4), 0.25);
        let width = elements.len() / 4;
        let texture = texture(gpu, TextureFormat::Rgba8Unorm, [u32::try_from(width).unwrap(), 1]);
        let image = gpu.tensor(&elements, [1, width, 4]).unwrap();
        image.write_texture(&texture, &Pixels::default()).unwrap();
        let want: Vec<f64> = elements.iter().copied().map(f64::from).collect();
        assert_eq!(download(gpu, &texture), reference::to_texels(TexelFormat::Rgba8Unorm, &want), "{gpu:?}");
    });
}

#[test]
fn scaled_colours_are_those_of_the_definition_within_its_bound() {
    fn check<T: Real + Operand>(gpu: &Gpu, format: TextureFormat, scale: f32, shift: f32) {
        let (size, pixels) = ([65, 3], Pixels { scale, shift, ..Pixels::default() });
        // Colours from -2 to 2, or bytes.
        let texels = match format {
            TextureFormat::Rgba8Unorm => random_texels(format, size, 5),
            _ => {
                let len = 65 * 3 * of(format).channels();
                let colours = tilewise::Fill::Uniform.values::<f32>(len, 5);
                reference::to_texels(
                    of(format),
                    &colours.iter().map(|x| f64::from(*x) * 2.0).collect::<Vec<_>>(),
                )
            }
        };
        let texture = uploaded(gpu, format, size, &texels);
        let image = Tensor::<T>::from_texture(gpu, &texture, &pixels).unwrap();
        let want = reference::from_texels(of(format), &texels, scale.into(), shift.into());
        let compared = want.compare(&image.to_vec().unwrap());
        assert!(
            compared.bound_ratio <= 1.0,
            "{gpu:?}: {format:?} {scale} {shift} {}: {compared:?}",
            T::DTYPE
        );
        // And back, within what both conversions round.
        let back = super::texture(gpu, format, size);
        image.write_texture(&back, &pixels).unwrap();
        let round = if T::DTYPE == tilewise::DType::F32 { 2f64.powi(-20) } else { 2f64.powi(-8) };
        let [got, was] = [download(gpu, &back), texels].map(|texels| colours(of(format), &texels));
        for (got, was) in got.iter().zip(&was) {
            let off = f64::from((got - was).abs());
            let step = if format == TextureFormat::Rgba8Unorm { 0.6 / 255.0 } else { 0.0 };
            assert!(
                off <= round * f64::from(was.abs() + (shift / scale).abs() + 1.0) + step,
                "{got} from {was}"
            );
        }
    }
    on_every_device("scaled colours", |gpu| {
        for format in FORMATS {
            for (scale, shift) in [(255.0, 0.0), (2.0, -1.0), (0.37, 12.5), (-1e3, 1e-3)] {
                check::<f32>(gpu, format, scale, shift);
                if !support::is_short_sweep() {
                    check::<f16>(gpu, format, scale, shift);
                }
            }
        }
    });
}
