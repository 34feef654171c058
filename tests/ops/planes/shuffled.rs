//! Pixels from channels and back: views where the strides allow them, else one copy.

use super::{lays, one_launch, place};
use crate::bits::{bits, bytes};
use tilewise::ops::{pixel_shuffle, pixel_unshuffle};
use tilewise::{Element, Gpu, reference};

#[test]
fn pixels_from_channels_are_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, (shape, factor)) in
            [([2, 3, 4, 8], 2), ([1, 2, 2, 9], 3), ([1, 1, 1, 16], 4), ([2, 3, 2, 5], 1), ([1, 3, 5, 12], 2)]
                .into_iter()
                .enumerate()
        {
            let [batch, rows, columns, channels] = shape;
            let x: Vec<T> = bits(shape.iter().product(), case as u64);
            let want = reference::pixel_shuffle(&x, shape, factor);
            let wide = [batch, rows * factor, columns * factor, channels / (factor * factor)];
            assert_eq!(bytes(&reference::pixel_unshuffle(&want, wide, factor)), bytes(&x));
            for lay in lays(case) {
                let (x, y) = (place(gpu, &x, &shape, lay), place(gpu, &want, &wide, lay));
                let before = gpu.stats().launches;
                let found = pixel_shuffle(&x, factor).unwrap();
                assert!(gpu.stats().launches - before <= 1);
                assert_eq!(found.shape(), wide);
                assert_eq!(bytes(&found.to_vec().unwrap()), bytes(&want), "{} {shape:?} {lay:?}", T::DTYPE);
                let before = gpu.stats().launches;
                let back = pixel_unshuffle(&y, factor).unwrap();
                assert!(gpu.stats().launches - before <= 1);
                assert_eq!(back.shape(), shape);
                assert_eq!(bytes(&back.to_vec().unwrap()), bytes(&x.to_vec().unwrap()));
            }
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

#[test]
fn a_shuffle_is_a_view_where_the_strides_allow_it() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    // Rows of one pixel of four channels: both axes of the square are axes of the image.
    let x = gpu.arange(0, 12, 1).unwrap().reshape([3, 1, 1, 4]).unwrap();
    let before = gpu.stats().launches;
    let y = pixel_shuffle(&x, 2).unwrap();
    assert!(y.shape() == [3, 2, 2, 1] && y.shares_buffer(&x));
    let back = pixel_unshuffle(&y, 2).unwrap();
    assert!(back.shape() == [3, 1, 1, 4] && back.shares_buffer(&x));
    assert!(pixel_shuffle(&x, 1).unwrap().shares_buffer(&x));
    assert_eq!(gpu.stats().launches, before);
    // A whole image is one copy, in both directions.
    let x = gpu.arange(0, 96, 1).unwrap().reshape([1, 4, 6, 4]).unwrap();
    let y = one_launch(gpu, || pixel_shuffle(&x, 2));
    let back = one_launch(gpu, || pixel_unshuffle(&y, 2));
    assert_eq!(back.to_vec().unwrap(), x.to_vec().unwrap());
    let empty = gpu.empty::<f32>([0, 4, 6, 4]).unwrap();
    assert_eq!(pixel_shuffle(&empty, 2).unwrap().shape(), [0, 8, 12, 1]);
    assert_eq!(pixel_unshuffle(&empty, 2).unwrap().shape(), [0, 2, 3, 16]);
}
