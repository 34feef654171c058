//! Images, or what they become, that exceed a binding: windows of images and of channels.

use super::{Pair, place};
use support::failure::says;
use support::strided::Lay;
use support::values::values;
use tilewise::ops::{Corners, Interpolation, MaxPool2d, interpolate, interpolate_backward, pixel_shuffle};
use tilewise::{Real, f16};

#[test]
fn pooled_and_resized_images() {
    fn of_type<T: Real>(pair: &Pair, [shape, pooled]: [[usize; 4]; 2], lay: Lay) {
        let (x, g) = (values::<T>(&shape, 4.0, 1), values::<T>(&pooled, 1.0, 2));
        let pool = MaxPool2d::new([3, 3]).stride([2, 2]).padding([1, 1]);
        let what = format!("{shape:?} {lay:?} {}", T::DTYPE);
        pair.same(&format!("largest {what}"), |gpu| pool.run(&place(gpu, &x, &shape, lay)));
        pair.same(&format!("indices {what}"), |gpu| {
            Ok(pool.with_indices(&place(gpu, &x, &shape, lay))?.indices)
        });
        pair.same(&format!("gradient {what}"), |gpu| {
            let pooled = pool.with_indices(&place(gpu, &x, &shape, lay))?;
            pool.backward(&pooled.indices, &place(gpu, &g, pooled.y.shape(), lay), [shape[1], shape[2]])
        });
        let linear = Interpolation::Bilinear(Corners::HalfPixel);
        pair.same(&format!("resized {what}"), |gpu| {
            let y = interpolate(&place(gpu, &x, &shape, lay), [9, 31], linear)?;
            interpolate_backward(&y, [shape[1], shape[2]], linear)
        });
        pair.same(&format!("pixels {what}"), |gpu| pixel_shuffle(&place(gpu, &x, &shape, lay), 2));
    }
    let Some(pair) = Pair::open() else { return };
    of_type::<f32>(&pair, [[9, 21, 30, 12], [9, 11, 15, 12]], Lay::Plain);
    // One image exceeds a binding: its channels are cut.
    of_type::<f16>(&pair, [[2, 41, 40, 28], [2, 21, 20, 28]], Lay::Gaps);
    // One channel of an image exceeds a binding.
    let x = pair.small.zeros::<f32>([1, 130, 130, 1]).unwrap();
    says(MaxPool2d::new([2, 2]).run(&x), &["^MaxPool2d::run", "slice along axis 1"]);
}
