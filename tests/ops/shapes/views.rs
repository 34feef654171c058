//! Views with other axes: squeezed, unsqueezed and broadcast. The elements are those of the definition, and nothing runs.

use crate::bits::{bytes, places};
use support::laid::{flat, view};
use support::strided::{Lay, Placed, repeated};
use support::values::values;
use tilewise::{Layout, ops};

const SHAPES: [&[usize]; 7] = [&[], &[1], &[5], &[3, 1, 4], &[1, 1, 2, 1], &[2, 1, 3, 1, 1], &[0, 1, 3]];

fn layouts() -> impl Iterator<Item = Layout> {
    SHAPES.into_iter().flat_map(|shape| {
        Lay::ALL.map(|lay| {
            let (strides, offset) = lay.strides(shape);
            view(shape, &strides, offset)
        })
    })
}

#[test]
fn an_axis_of_one_index_comes_and_goes() {
    for layout in layouts() {
        let shape = layout.shape();
        for axis in 0..=shape.len() {
            let more = layout.unsqueeze(axis).unwrap();
            let mut want = shape.to_vec();
            want.insert(axis, 1);
            assert_eq!(more.shape(), want);
            assert_eq!(places(&more), places(&layout), "{layout:?} {axis}");
            assert_eq!(more.is_contiguous(), layout.is_contiguous(), "{layout:?} {axis}");
            assert_eq!(more.squeeze(axis).unwrap(), layout);
            // The new axis may be repeated.
            want[axis] = 3;
            assert_eq!(more.broadcast_to(&want).unwrap().strides()[axis], 0);
        }
    }
}

#[test]
fn a_broadcast_view_repeats_what_numpy_repeats() {
    for (shape, to) in [
        (&[][..], &[][..]),
        (&[], &[2, 3]),
        (&[1], &[4]),
        (&[4], &[3, 4]),
        (&[3, 1], &[3, 4]),
        (&[1, 3, 1], &[2, 5, 3, 2]),
        (&[2, 1, 3, 1, 2, 1], &[2, 2, 3, 4, 2, 3]),
        (&[1, 3], &[0, 3]),
        (&[0, 1], &[0, 2]),
    ] {
        let numbers: Vec<usize> = (0..shape.iter().product()).collect();
        let layout = flat(shape);
        let number = |n: &usize| i32::try_from(*n).unwrap();
        let of_numbers: Vec<i32> = numbers.iter().map(number).collect();
        let want: Vec<i32> = repeated(&of_numbers, shape, to);
        let found: Vec<i32> = places(&layout.broadcast_to(to).unwrap()).iter().map(number).collect();
        assert_eq!(found, want, "{shape:?} {to:?}");
    }
}

#[test]
fn views_of_tensors_cost_no_launch_and_operations_take_them() {
    for gpu in support::turn().iter() {
        for lay in Lay::ALL {
            let data = values::<f32>(&[3, 1, 4], 1.0, 1);
            let placed = Placed::new(gpu, &data, &[3, 1, 4], lay);
            let before = gpu.stats();
            let wide = placed.tensor.broadcast_to([2, 3, 5, 4]).unwrap();
            let column = placed.tensor.squeeze(1).unwrap().unsqueeze(2).unwrap();
            let after = gpu.stats();
            assert_eq!((after.launches, after.buffers_created), (before.launches, before.buffers_created));
            let want = repeated(&data, &[3, 1, 4], &[2, 3, 5, 4]);
            assert_eq!(bytes(&wide.to_vec().unwrap()), bytes(&want), "{lay:?}");
            assert_eq!(bytes(&column.to_vec().unwrap()), bytes(&data), "{lay:?}");
            // The gradient of a view that repeats is a sum.
            let ones = gpu.tensor(&[1.0f32], []).unwrap().broadcast_to([3, 5, 4]).unwrap();
            let sums = ops::sum(&ones, 1).unwrap().unsqueeze(1).unwrap();
            assert_eq!((sums.shape(), sums.to_vec().unwrap()), (&[3, 1, 4][..], vec![5.0; 12]));
        }
    }
}
