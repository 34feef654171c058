//! Images whose texels, or the tensors of whose colours, exceed a binding.

use super::Pair;
use tilewise::ops::Pixels;
use tilewise::{Real, Tensor, bf16, f16, wgpu};

#[test]
fn images_are_written_and_read() {
    fn of_type<T: Real>(pair: &Pair) {
        let [height, width] = [100, 301];
        // Bytes as the types have them: all are read as they were written.
        let x: Vec<T> = (0..height * width * 4).map(|i| T::from_f64((i * 37 % 256) as f64 / 255.0)).collect();
        pair.same(&format!("an image, {}", T::DTYPE), |gpu| {
            let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: 301, height: 100, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba8Unorm,
                usage: wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
                view_formats: &[],
            });
            gpu.tensor(&x, [height, width, 4])?.write_texture(&texture, &Pixels::default())?;
            let found = Tensor::<T>::from_texture(gpu, &texture, &Pixels::default())?;
            assert_eq!(found.to_vec()?, x);
            Ok(found)
        });
    }
    let Some(pair) = Pair::open() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
    of_type::<bf16>(&pair);
}
