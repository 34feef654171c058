//! Which texels, and which elements: rectangles, mip levels, layers, views with strides; nothing next to them changes.

use super::{COPIES, bits, download, download_of, on_every_device, random_texels, texture};
use super::{upload, uploaded};
use support::app::image;
use tilewise::ops::{self, Pixels};
use tilewise::wgpu::TextureFormat;
use tilewise::{Gpu, Real, Tensor, f16};

fn from<T: Real>(gpu: &Gpu, texture: &tilewise::wgpu::Texture) -> Tensor<T> {
    Tensor::from_texture(gpu, texture, &Pixels::default()).unwrap()
}

#[test]
fn a_tensor_of_any_strides_is_filled_and_nothing_next_to_it() {
    fn check<T: Real>(gpu: &Gpu) {
        let [width, height] = [17, 5];
        let format = TextureFormat::Rgba8Unorm;
        let texels = random_texels(format, [17, 5], 1);
        let texture = uploaded(gpu, format, [17, 5], &texels);
        let rgba = from::<T>(gpu, &texture);
        // Shape, strides and offset of (height, width, channels) in a tensor of 2000 elements.
        for (channels, strides, offset) in [
            (4, [68, 4, 1], 0),
            (4, [68, 4, 1], 3),
            (4, [75, 4, 1], 1),
            (3, [51, 3, 1], 0),
            (3, [51, 3, 1], 1),
            (3, [68, 4, 1], 0),
            (3, [17, 1, 85], 7),
            (4, [1, 5, 85], 2),
            (4, [100, 5, 1], 1),
        ] {
            let whole = gpu.tensor(&[T::from_f64(9.0); 2000], [2000]).unwrap();
            let view = whole.as_strided(&[height, width, channels], &strides, offset).unwrap();
            let launches = gpu.stats().launches;
            view.writable_view().fill_from_texture(&texture, &Pixels::default()).unwrap();
            assert_eq!(gpu.stats().launches, launches + 1);
            let want = gpu.tensor(&[T::from_f64(9.0); 2000], [2000]).unwrap();
            let place = want.as_strided(&[height, width, channels], &strides, offset).unwrap();
            ops::copy_into(&rgba.slice(2, ..channels).unwrap(), &mut place.writable_view()).unwrap();
            assert_eq!(bits(&whole), bits(&want), "{gpu:?}: {strides:?} at {offset}, {}", T::DTYPE);
            // And written from these strides.
            let to = super::texture(gpu, format, [17, 5]);
            view.write_texture(&to, &Pixels::default()).unwrap();
            let mut written = texels.clone();
            if channels == 3 {
                written.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
            }
            assert_eq!(download(gpu, &to), written, "{gpu:?}: {strides:?} at {offset}, {}", T::DTYPE);
        }
        // An axis may repeat its elements: one colour.
        let colour = gpu.tensor(&[T::from_f64(1.0), T::from_f64(0.0), T::from_f64(1.0)], [3]).unwrap();
        let all = colour.as_strided(&[height, width, 3], &[0, 0, 1], 0).unwrap();
        all.write_texture(&texture, &Pixels::default()).unwrap();
        assert_eq!(download(gpu, &texture), [255, 0, 255, 255].repeat(17 * 5));
        // A tensor that has its buffer alone.
        let mut image = gpu.zeros::<T>([height, width, 4]).unwrap();
        image.fill_from_texture(&texture, &Pixels::default()).unwrap();
        assert_eq!(bits(&image), bits(&from::<T>(gpu, &texture)));
    }
    on_every_device("views", |gpu| {
        check::<f32>(gpu);
        check::<f16>(gpu);
    });
}

#[test]
fn rectangles_are_read_and_written_and_the_other_texels_stay() {
    on_every_device("rectangles", |gpu| {
        for format in super::FORMATS {
            let texels = random_texels(TextureFormat::Rgba8Unorm, [70, 9], 3);
            let words = super::of(format).words();
            // Bits that no format takes for NaN.
            let texels: Vec<u8> = texels
                .chunks(4)
                .flat_map(|word| [word; 2][..words].concat())
                .map(|byte| byte & 0x3b)
                .collect();
            let source = uploaded(gpu, format, [70, 9], &texels);
            let pixels = Pixels { origin: [3, 2], size: Some([66, 5]), ..Pixels::default() };
            let part = Tensor::<f32>::from_texture(gpu, &source, &pixels).unwrap();
            let whole = from::<f32>(gpu, &source);
            let want = whole.slice(0, 2..7).unwrap().slice(1, 3..69).unwrap();
            assert_eq!(bits(&part), bits(&want), "{gpu:?}: {format:?}");
            let rest = Pixels { origin: [69, 0], ..Pixels::default() };
            let column = Tensor::<f32>::from_texture(gpu, &source, &rest).unwrap();
            assert_eq!(bits(&column), bits(&whole.slice(1, 69..).unwrap()), "{gpu:?}: {format:?}");
            // Into another place.
            let to = uploaded(gpu, format, [70, 9], &vec![0; texels.len()]);
            part.write_texture(&to, &Pixels { origin: [4, 4], ..pixels }).unwrap();
            let got = download(gpu, &to);
            let texel = 4 * words;
            for y in 0..9 {
                for x in 0..70 {
                    let at = (y * 70 + x) * texel;
                    let is_in = (4..70).contains(&x) && (4..9).contains(&y);
                    let want = if is_in {
                        let from = ((y - 2) * 70 + x - 1) * texel;
                        &texels[from..from + texel]
                    } else {
                        &[0; 8][..texel]
                    };
                    assert_eq!(&got[at..at + texel], want, "{gpu:?}: {format:?} at {x}, {y}");
                }
            }
        }
    });
}

#[test]
fn mip_levels_and_layers_are_read_and_written() {
    on_every_device("mip levels", |gpu| {
        let format = TextureFormat::Rgba8Unorm;
        let mut desc = image(format, [37, 10], COPIES);
        desc.mip_level_count = 4;
        desc.size.depth_or_array_layers = 3;
        let texture = gpu.device().create_texture(&desc);
        let places = [[0, 0], [1, 2], [2, 1], [3, 2]];
        let size_of = |level: u32| [37u32, 10].map(|n| (n >> level).max(1));
        let texels =
            places.map(|[level, layer]| random_texels(format, size_of(level), (level + layer).into()));
        for (place, texels) in places.iter().zip(&texels) {
            upload(gpu, &texture, *place, texels);
        }
        for ([mip_level, layer], texels) in places.into_iter().zip(&texels) {
            let pixels = Pixels { mip_level, layer, ..Pixels::default() };
            let image = Tensor::<f32>::from_texture(gpu, &texture, &pixels).unwrap();
            let [width, height] = size_of(mip_level);
            let plain = uploaded(gpu, format, [width, height], texels);
            assert_eq!(bits(&image), bits(&from::<f32>(gpu, &plain)), "{gpu:?}: {pixels:?}");
            let other = Pixels { layer: (layer + 1) % 3, ..pixels };
            image.write_texture(&texture, &other).unwrap();
            assert_eq!(&download_of(gpu, &texture, [mip_level, other.layer]), texels, "{gpu:?}: {other:?}");
            assert_eq!(&download_of(gpu, &texture, [mip_level, layer]), texels, "{gpu:?}: {pixels:?} stays");
        }
    });
}

#[test]
fn a_texture_that_nothing_was_drawn_to_is_black() {
    on_every_device("nothing drawn", |gpu| {
        let image = from::<f32>(gpu, &texture(gpu, TextureFormat::Rgba16Float, [3, 2]));
        assert_eq!(image.to_vec().unwrap(), [0.0; 24], "{gpu:?}");
    });
}
