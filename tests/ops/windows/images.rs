//! Images whose texels, or the tensors of whose colours, exceed a binding.

use super::Pair;
use tilewise::ops::Pixels;
use tilewise::{Real, Tensor, wgpu};

#[test]
fn images_are_written_and_read() {
    fn of_type<T: Real>(pair: &Pair) {
        let [height, width] = [100, 301];
        // Bytes as the types have them: all are read as they were written.
        let x: Vec<T> = (0..height * width * 4).map(|i| T::from_f64((i * 37 % 256) as f64 / 255.0)).collect();
        pair.same(&format!("an image, {}", T::DTYPE), |gpu| {
            let texture = gpu.device().create_texture(&support::app::image(
                wgpu::TextureFormat::Rgba8Unorm,
                [301, 100],
                wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
            ));
            gpu.tensor(&x, [height, width, 4])?.write_texture(&texture, &Pixels::default())?;
            let found = Tensor::<T>::from_texture(gpu, &texture, &Pixels::default())?;
            assert_eq!(found.to_vec()?, x);
            Ok(found)
        });
    }
    let Some(pair) = Pair::open() else { return };
    support::of_reals!(of_type, &pair);
}
