//! Max and average pooling.

use super::{assert_same, lays, one_launch, place};
use support::forms::{self, Forms};
use support::strided::Lay;
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::ops::{
    self, AdaptiveAvgPool2d, AdaptiveMaxPool2d, AvgPool2d, MaxPool2d, PoolDivisor, PoolRounding,
};
use tilewise::reference::{self, PoolWindows};
use tilewise::{Element, Gpu, Real, Tensor, f16};

/// Images (batch, height, width, channels), and windows along each axis: kernel, stride, dilation, padding before and after.
type Case = ([usize; 4], [[usize; 5]; 2]);

const CASES: [Case; 14] = [
    ([2, 6, 8, 8], [[2, 2, 1, 0, 0], [2, 2, 1, 0, 0]]),
    ([1, 9, 7, 16], [[3, 2, 1, 1, 1], [3, 2, 1, 1, 1]]),
    ([2, 7, 10, 3], [[3, 2, 1, 1, 0], [3, 3, 1, 0, 1]]),
    ([1, 5, 5, 1], [[5, 1, 1, 2, 2], [5, 1, 1, 2, 2]]),
    ([3, 4, 6, 5], [[1, 3, 7, 0, 0], [4, 1, 1, 2, 1]]),
    ([1, 12, 11, 4], [[3, 1, 2, 2, 1], [2, 3, 4, 1, 2]]),
    ([2, 1, 9, 6], [[1, 1, 1, 0, 0], [3, 5, 1, 1, 0]]),
    ([1, 3, 4, 12], [[2, 7, 1, 1, 1], [3, 9, 1, 1, 1]]),
    ([1, 8, 8, 2], [[3, 5, 1, 0, 0], [3, 4, 1, 0, 1]]),
    ([2, 1, 1, 20], [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0]]),
    // With a dilation, windows may miss the only element.
    ([1, 1, 2, 4], [[2, 1, 3, 2, 2], [2, 1, 3, 2, 2]]),
    ([1, 21, 3, 7], [[7, 3, 3, 9, 4], [3, 2, 1, 1, 1]]),
    ([1, 4, 5, 4], [[2, 2, 2, 0, 0], [2, 3, 1, 0, 0]]),
    // Rounded up, a window may be longer than the image.
    ([1, 2, 2, 4], [[3, 2, 1, 0, 0], [3, 2, 1, 0, 0]]),
];

fn pool([rows, columns]: [[usize; 5]; 2], rounding: PoolRounding) -> MaxPool2d {
    let of = |at: usize| [rows[at], columns[at]];
    let padding = [(rows[3], rows[4]), (columns[3], columns[4])];
    MaxPool2d::new(of(0)).stride(of(1)).dilation(of(2)).padding(padding).rounding(rounding)
}

fn windows(
    extent: usize,
    [kernel, stride, dilation, before, after]: [usize; 5],
    rounding: PoolRounding,
) -> PoolWindows {
    PoolWindows::strided(extent, [kernel, stride, dilation], (before, after), rounding)
}

/// Numbers of which many are equal, and some are NaN or infinite.
fn with_ties<T: Element>(shape: [usize; 4], seed: u64) -> Vec<T> {
    let number = |(at, x): (usize, T)| match at % 53 {
        17 => f64::NAN,
        31 => f64::NEG_INFINITY,
        41 => f64::INFINITY,
        _ => x.to_f64().round(),
    };
    values::<T>(&shape, 4.0, seed).into_iter().enumerate().map(number).map(T::from_f64).collect()
}

#[test]
fn the_largest_of_windows_are_as_defined() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, sizes)) in CASES.into_iter().enumerate() {
            let [batch, height, width, channels] = shape;
            let rounding = PoolRounding::ALL[case % 2];
            let (rows, columns) = (windows(height, sizes[0], rounding), windows(width, sizes[1], rounding));
            let (x, of, axes) = (with_ties::<T>(shape, case as u64), [batch, channels], [&rows, &columns]);
            let (y, indices) = reference::max_pool2d(&x, of, axes);
            let pooled = [batch, rows.count(), columns.count(), channels];
            let g = values::<T>(&pooled, 2.0, 3);
            let gradient = reference::max_pool2d_backward(&g, &indices, of, axes);
            let pool = pool(sizes, rounding);
            for lay in lays(case) {
                let what = (T::DTYPE, shape, sizes, rounding, lay);
                let largest = |gpu: &Gpu| pool.run(&place(gpu, &x, &shape, lay)).unwrap();
                if forms.takes(gpu, (case, 0), largest) {
                    let x = place(gpu, &x, &shape, lay);
                    let found = one_launch(gpu, || pool.run(&x));
                    assert_eq!(found.shape(), pooled, "{what:?}");
                    assert_same(&found.to_vec().unwrap(), &y, what);
                }
                let both = |gpu: &Gpu| pool.with_indices(&place(gpu, &x, &shape, lay)).unwrap();
                if forms.takes(gpu, (case, 1), both) {
                    let x = place(gpu, &x, &shape, lay);
                    let found = one_launch(gpu, || pool.with_indices(&x));
                    assert_same(&found.y.to_vec().unwrap(), &y, what);
                    assert_eq!(found.indices.to_vec().unwrap(), indices, "{what:?}");
                }
                let backward = |gpu: &Gpu| {
                    let of_indices = place(gpu, &indices, &pooled, lay);
                    pool.backward(&of_indices, &place(gpu, &g, &pooled, lay), [height, width]).unwrap()
                };
                if forms.takes(gpu, (case, 2), backward) {
                    let found = backward(gpu);
                    assert_eq!(found.shape(), shape, "{what:?}");
                    assert_ok(&gradient.compare(&found.to_vec().unwrap()), what);
                    let again = backward(gpu).to_vec().unwrap();
                    assert_same(&again, &found.to_vec().unwrap(), "the same bits");
                }
            }
        }
    }
    forms::sweep(26, |turn, forms| for_all_types_and_a_gpu!(turn, test, forms));
}

#[test]
fn the_means_of_windows_are_as_defined() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let without_dilation =
            CASES.into_iter().filter(|(_, sizes)| sizes.iter().all(|of| of[2] == 1 || of[0] == 1));
        for (case, (shape, sizes)) in without_dilation.enumerate() {
            let [batch, height, width, channels] = shape;
            let (rounding, divisor) = (PoolRounding::ALL[case % 2], PoolDivisor::ALL[case / 2 % 2]);
            let (rows, columns) = (windows(height, sizes[0], rounding), windows(width, sizes[1], rounding));
            let (x, of, axes) = (values::<T>(&shape, 4.0, case as u64), [batch, channels], [&rows, &columns]);
            let means = reference::avg_pool2d(&x, of, axes, divisor);
            let pooled = [batch, rows.count(), columns.count(), channels];
            let g = values::<T>(&pooled, 2.0, 3);
            let gradient = reference::avg_pool2d_backward(&g, of, axes, divisor);
            let [[kernel, stride, _, before, after], [wide, across, _, left, right]] = sizes;
            let pool =
                AvgPool2d::new([kernel, wide]).stride([stride, across]).rounding(rounding).divisor(divisor);
            let pool = pool.padding([(before, after), (left, right)]);
            for lay in lays(case) {
                let what = (T::DTYPE, shape, sizes, rounding, divisor, lay);
                let mean = |gpu: &Gpu| pool.run(&place(gpu, &x, &shape, lay)).unwrap();
                if forms.takes(gpu, (case, 0), mean) {
                    let x = place(gpu, &x, &shape, lay);
                    let found = one_launch(gpu, || pool.run(&x));
                    assert_eq!(found.shape(), pooled, "{what:?}");
                    assert_ok(&means.compare(&found.to_vec().unwrap()), what);
                }
                let backward =
                    |gpu: &Gpu| pool.backward(&place(gpu, &g, &pooled, lay), [height, width]).unwrap();
                if forms.takes(gpu, (case, 1), backward) {
                    let found = backward(gpu);
                    assert_eq!(found.shape(), shape, "{what:?}");
                    assert_ok(&gradient.compare(&found.to_vec().unwrap()), what);
                }
            }
        }
    }
    forms::sweep(20, |turn, forms| for_all_types_and_a_gpu!(turn, test, forms));
}

#[test]
fn pooling_to_a_size_is_as_defined() {
    const SIZES: [([usize; 4], [usize; 2]); 6] = [
        ([2, 7, 10, 8], [3, 4]),
        ([1, 5, 3, 3], [7, 8]), // more windows than elements
        ([3, 6, 6, 4], [1, 1]),
        ([1, 12, 9, 5], [4, 3]),
        ([2, 1, 13, 16], [1, 6]),
        ([1, 4, 4, 7], [4, 4]),
    ];
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, size)) in SIZES.into_iter().enumerate() {
            let [batch, height, width, channels] = shape;
            let (rows, columns) =
                (PoolWindows::adaptive(height, size[0]), PoolWindows::adaptive(width, size[1]));
            let (of, axes, divisor) = ([batch, channels], [&rows, &columns], PoolDivisor::WithoutPadding);
            let x = with_ties::<T>(shape, case as u64);
            let (y, indices) = reference::max_pool2d(&x, of, axes);
            let pooled = [batch, size[0], size[1], channels];
            let (finite, g) = (values::<T>(&shape, 4.0, 5), values::<T>(&pooled, 2.0, 3));
            let means = reference::avg_pool2d(&finite, of, axes, divisor);
            let (largest, mean) = (AdaptiveMaxPool2d::new(size), AdaptiveAvgPool2d::new(size));
            let lay = lays(case)[case % 3];
            let what = (T::DTYPE, shape, size, lay);
            let of_size = [height, width];
            let found = |gpu: &Gpu| largest.with_indices(&place(gpu, &x, &shape, lay)).unwrap();
            if forms.takes(gpu, (case, 0), found) {
                let found = found(gpu);
                assert_same(&found.y.to_vec().unwrap(), &y, what);
                assert_eq!(found.indices.to_vec().unwrap(), indices, "{what:?}");
            }
            let found = |gpu: &Gpu| largest.run(&place(gpu, &x, &shape, lay)).unwrap();
            if forms.takes(gpu, (case, 1), found) {
                assert_eq!(found(gpu).shape(), pooled);
                assert_same(&found(gpu).to_vec().unwrap(), &y, what);
            }
            let found = |gpu: &Gpu| mean.run(&place(gpu, &finite, &shape, lay)).unwrap();
            if forms.takes(gpu, (case, 2), found) {
                assert_eq!(found(gpu).shape(), pooled);
                assert_ok(&means.compare(&found(gpu).to_vec().unwrap()), what);
            }
            let found = |gpu: &Gpu| mean.backward(&place(gpu, &g, &pooled, lay), of_size).unwrap();
            if forms.takes(gpu, (case, 3), found) {
                let want = reference::avg_pool2d_backward(&g, of, axes, divisor);
                assert_ok(&want.compare(&found(gpu).to_vec().unwrap()), what);
            }
            let found = |gpu: &Gpu| {
                let indices = place(gpu, &indices, &pooled, lay);
                largest.backward(&indices, &place(gpu, &g, &pooled, lay), of_size).unwrap()
            };
            if forms.takes(gpu, (case, 4), found) {
                let want = reference::max_pool2d_backward(&g, &indices, of, axes);
                assert_ok(&want.compare(&found(gpu).to_vec().unwrap()), what);
            }
        }
    }
    forms::sweep(30, |turn, forms| for_all_types_and_a_gpu!(turn, test, forms));
}

#[test]
fn images_of_other_layouts_are_read_in_place_and_empty_ones_launch_nothing() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    // (batch, channels, height, width), permuted.
    let shape = [2, 6, 5, 4];
    let x = values::<f32>(&[2, 4, 6, 5], 4.0, 1);
    let first = place(gpu, &x, &[2, 4, 6, 5], Lay::Plain);
    let last = first.permute(&[0, 2, 3, 1]).unwrap();
    let pool = MaxPool2d::new([3, 3]).stride([2, 2]).padding([1, 1]);
    let found = one_launch(gpu, || pool.run(&last));
    let (rows, columns) =
        (windows(6, [3, 2, 1, 1, 1], PoolRounding::Floor), windows(5, [3, 2, 1, 1, 1], PoolRounding::Floor));
    let (y, _) = reference::max_pool2d(&last.to_vec().unwrap(), [2, 4], [&rows, &columns]);
    assert_eq!((found.shape(), found.to_vec().unwrap()), (&[2, 3, 3, 4][..], y.clone()));
    let copied = last.contiguous().unwrap();
    assert_eq!(pool.run(&copied).unwrap().to_vec().unwrap(), y, "{shape:?}");
    // Channels of a slice, and repeated images.
    let part = copied.slice(3, 1..3).unwrap();
    let want = pool.run(&copied).unwrap().slice(3, 1..3).unwrap().to_vec().unwrap();
    assert_eq!(one_launch(gpu, || pool.run(&part)).to_vec().unwrap(), want);
    let again = copied.slice(0, ..1).unwrap().broadcast_to([3, 6, 5, 4]).unwrap();
    assert_eq!(pool.run(&again).unwrap().to_vec().unwrap(), y[..y.len() / 2].repeat(3));
    // The whole image.
    let whole = [ops::max(&copied, [1, 2]).unwrap(), ops::mean(&copied, [1, 2]).unwrap()];
    let found = [
        AdaptiveMaxPool2d::new([1, 1]).run(&copied).unwrap(),
        AdaptiveAvgPool2d::new([1, 1]).run(&copied).unwrap(),
    ];
    assert_eq!(found.map(|y| y.to_vec().unwrap()), whole.map(|y| y.to_vec().unwrap()));
    // A wrong index is a lost gradient.
    let indices: Tensor<i32> = gpu.full([2, 3, 3, 4], i32::MAX).unwrap();
    let g = gpu.full([2, 3, 3, 4], f32::NAN).unwrap();
    assert_eq!(pool.backward(&indices, &g, [6, 5]).unwrap().to_vec().unwrap(), vec![0.0; 240]);

    let before = gpu.stats().launches;
    for shape in [[0, 6, 5, 4], [2, 6, 5, 0]] {
        let x = gpu.empty::<f16>(shape).unwrap();
        let pooled = [shape[0], 3, 3, shape[3]];
        assert_eq!(pool.run(&x).unwrap().shape(), pooled);
        let found = pool.with_indices(&x).unwrap();
        assert_eq!(pool.backward(&found.indices, &found.y, [6, 5]).unwrap().shape(), shape);
        let average = AvgPool2d::new([2, 2]);
        assert_eq!(average.backward(&average.run(&x).unwrap(), [6, 5]).unwrap().shape(), shape);
    }
    assert_eq!(gpu.stats().launches, before);
}
