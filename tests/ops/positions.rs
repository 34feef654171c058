//! Copies to and from a position that is in a tensor: the bits of a copy on the host, whatever the position.

use crate::bits::{bits, bytes, places};
use support::laid::flat;
use tilewise::planning::Problem;
use tilewise::planning::ops::{CopyProblem, Longer};
use tilewise::{DType, Element, Gpu, Tensor, ops};

/// Elements of every buffer.
const LEN: usize = 4096;

/// Positions that exist, and others.
const POSITIONS: [i32; 10] = [0, 1, 2, 3, 5, 7, 8, -1, i32::MIN, i32::MAX];

/// Shape, strides and offset of a longer operand, the axis, and the length of what is copied along it.
type Case = (&'static [usize], &'static [usize], usize, usize, usize);

const LONGER: [Case; 19] = [
    (&[64], &[1], 0, 0, 5),
    (&[64], &[1], 3, 0, 1),
    (&[64], &[2], 1, 0, 7),
    (&[8], &[1], 5, 0, 8),           // one position only
    (&[10, 16], &[16, 1], 0, 0, 1),  // a row of whole vectors
    (&[10, 16], &[16, 1], 64, 0, 3), // rows that merge
    (&[10, 6], &[6, 1], 0, 0, 2),    // the offset is aligned, the shift by odd rows is not
    (&[10, 7], &[7, 1], 1, 0, 1),    // parts of words
    (&[5, 16], &[16, 1], 0, 1, 4),   // along the rows
    (&[5, 16], &[16, 1], 0, 1, 16),
    (&[16, 5], &[1, 16], 32, 0, 8), // transposed: the axes are permuted
    (&[16, 5], &[1, 16], 32, 1, 2),
    (&[2, 3, 9, 8], &[216, 72, 8, 1], 16, 2, 1), // a key-value cache
    (&[2, 9, 3, 5], &[135, 15, 5, 1], 3, 1, 1),
    (&[3, 9, 4], &[100, 11, 2], 7, 1, 4), // gaps
    (&[3, 1, 4], &[100, 11, 2], 7, 1, 1),
    (&[2, 3, 2, 3, 9, 5], &[1000, 301, 140, 45, 5, 1], 11, 4, 2),
    (&[2, 3, 2, 3, 2, 5], &[1000, 301, 140, 40, 19, 3], 11, 0, 1), // six axes, none of which merge
    (&[9, 2, 3, 2, 2, 2], &[40, 1, 2, 6, 12, 360], 0, 0, 3),
];

/// The longer operand as a view of `whole`, and the shape of the other.
fn operands<T: Element>(whole: &Tensor<T>, case: usize) -> (Tensor<T>, Vec<usize>) {
    let (shape, strides, offset, axis, len) = LONGER[case];
    let mut other = shape.to_vec();
    other[axis] = len;
    (whole.as_strided(shape, strides, offset).unwrap(), other)
}

/// Views of tensors that have the position, at odd places of larger tensors, with up to two axes.
fn position(gpu: &Gpu, at: i32, case: usize) -> Tensor<i32> {
    let (offset, shape) = ([0, 1, 66, 191][case % 4], [&[1][..], &[], &[1, 1]][case % 3]);
    let mut numbers = [77; 200];
    numbers[offset] = at;
    gpu.tensor(&numbers, [200]).unwrap().as_strided(shape, &[9; 2][..shape.len()], offset).unwrap()
}

/// The slice of a view at a position, clamped.
fn slice_of<T: Element>(view: &Tensor<T>, axis: usize, at: i32, len: usize) -> Tensor<T> {
    let start = usize::try_from(at).unwrap_or(0).min(view.shape()[axis] - len);
    view.slice(axis, start..start + len).unwrap()
}

/// The shorter operand: contiguous, transposed, with gaps, or repeated, from different places.
fn shorter<T: Element>(gpu: &Gpu, data: &[T], shape: &[usize], case: usize) -> Tensor<T> {
    let whole = gpu.tensor(data, [data.len()]).unwrap();
    let mut strides = vec![0; shape.len()];
    let order: Vec<usize> =
        if case % 3 == 1 { (0..shape.len()).collect() } else { (0..shape.len()).rev().collect() };
    let mut stride = if case % 3 == 2 { 2 } else { 1 };
    for axis in order {
        strides[axis] = stride;
        stride *= shape[axis];
    }
    if case % 5 == 4 {
        strides[0] = 0;
    }
    whole.as_strided(shape, &strides, [0, 16, 3][case / 2 % 3]).unwrap()
}

#[test]
fn a_copy_to_a_position_changes_what_is_there_and_no_bit_more() {
    fn check<T: Element>(gpu: &Gpu) {
        let (data, old) = (bits::<T>(LEN, 1), bits::<T>(LEN, 2));
        for (case, (_, _, _, axis, len)) in LONGER.into_iter().enumerate() {
            for (n, at) in POSITIONS.into_iter().enumerate() {
                let whole = gpu.tensor(&old, [LEN]).unwrap();
                let (c, shape) = operands(&whole, case);
                let a = shorter(gpu, &data, &shape, case + n);
                let position = position(gpu, at, case + n);
                let launches = gpu.stats().launches;
                ops::copy_into_at(&a, &mut c.writable_view(), axis, &position).unwrap();
                assert_eq!(gpu.stats().launches, launches + 1);
                let mut want = old.clone();
                let slice = slice_of(&c, axis, at, len);
                for (from, to) in places(a.layout()).into_iter().zip(places(slice.layout())) {
                    want[to] = data[from];
                }
                let what = format!("{} {:?} to {at} along {axis} of {:?}", T::DTYPE, a.layout(), c.layout());
                assert_eq!(bytes(&whole.to_vec().unwrap()), bytes(&want), "{what}");
            }
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

#[test]
fn a_slice_at_a_position_is_that_of_the_host() {
    fn check<T: Element>(gpu: &Gpu) {
        let data = bits::<T>(LEN, 1);
        let whole = gpu.tensor(&data, [LEN]).unwrap();
        let check = |a: &Tensor<T>, axis, at, len, case| {
            let position = position(gpu, at, case);
            let launches = gpu.stats().launches;
            let slice = ops::slice_at(a, axis, &position, len).unwrap();
            assert_eq!(gpu.stats().launches, launches + 1);
            let want = slice_of(a, axis, at, len);
            assert_eq!(slice.shape(), want.shape());
            let want: Vec<T> = places(want.layout()).into_iter().map(|place| data[place]).collect();
            let what = format!("{} {len} from {at} along {axis} of {:?}", T::DTYPE, a.layout());
            assert_eq!(bytes(&slice.to_vec().unwrap()), bytes(&want), "{what}");
        };
        for (case, (_, _, _, axis, len)) in LONGER.into_iter().enumerate() {
            for (n, at) in POSITIONS.into_iter().enumerate() {
                check(&operands(&whole, case).0, axis, at, len, case + n);
            }
        }
        // Elements of the operand may overlap or repeat.
        for (shape, strides, axis) in [([9, 4], [0, 1], 0), ([9, 4], [1, 1], 0), ([9, 4], [3, 0], 0)] {
            check(&whole.as_strided(&shape, &strides, 6).unwrap(), axis, 5, 2, 1);
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

#[test]
fn nothing_is_copied_without_a_launch() {
    for gpu in support::turn().iter() {
        let at = gpu.tensor(&[1], [1]).unwrap();
        let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
        let launches = gpu.stats().launches;
        assert_eq!(ops::slice_at(&a, 0, &at, 0).unwrap().shape(), [0, 2]);
        assert_eq!(ops::slice_at(&gpu.zeros::<i8>([0, 3]).unwrap(), 1, &at, 2).unwrap().shape(), [0, 2]);
        assert_eq!(ops::slice_at(&gpu.zeros::<i8>([0, 3]).unwrap(), 0, &at, 0).unwrap().shape(), [0, 3]);
        let mut c = gpu.zeros::<f32>([3, 2]).unwrap();
        ops::copy_into_at(&a.slice(0, ..0).unwrap(), &mut c, 0, &at).unwrap();
        ops::copy_into_at(&gpu.zeros::<f32>([0, 2]).unwrap(), &mut gpu.zeros([0, 5]).unwrap(), 1, &at)
            .unwrap();
        assert_eq!(gpu.stats().launches, launches);
        assert_eq!(c.to_vec().unwrap(), [0.0; 6]);
    }
}

/// The kernel binds all of the cache, and moves one row.
#[test]
fn the_work_is_that_of_the_slice() {
    let caps = tilewise::planning::fixtures::h200();
    let [cache, row] = [100, 1].map(|n| flat(&[4, n, 64]));
    let at = flat(&[1]);
    let bytes = 4 * 64 * 2;
    for (longer, operands, [c, a]) in
        [(Longer::C, [&row, &cache], [100, 1]), (Longer::A, [&cache, &row], [1, 100])]
    {
        let plan =
            CopyProblem::at_position(longer, operands, 1, &at, DType::F16).unwrap().plan(&caps).unwrap();
        let [step] = plan.steps() else { panic!("one step: {plan}") };
        assert_eq!((&step.work.read, &step.work.written), (&vec![0, bytes, 4], &vec![bytes, 0, 0]), "{plan}");
        let windows: Vec<u64> = step.args.iter().map(|arg| arg.window.end - arg.window.start).collect();
        assert_eq!(windows, [c * bytes, a * bytes, 16], "{plan}");
        assert!(step.tile.contains("16 bytes each"), "{plan}");
    }
}

/// A unit divides the distance between two positions, because the position is not known.
#[test]
fn a_unit_fits_every_position() {
    let caps = tilewise::planning::fixtures::h200();
    let at = flat(&[]);
    for (row, axis, dtype, moved) in [
        (16, 0, DType::F16, "16 bytes each"),
        (20, 0, DType::F16, "8 bytes each"),
        (18, 0, DType::F16, "4 bytes each"),
        (17, 0, DType::F16, "in parts"),
        (16, 1, DType::F16, "in parts"),
        (16, 1, DType::F32, "4 bytes each"),
        (18, 0, DType::F32, "8 bytes each"),
        (12, 0, DType::I8, "4 bytes each"),
    ] {
        let whole = flat(&[8, row]);
        let mut shape = [8, row];
        shape[axis] = if axis == 0 { 1 } else { 8 };
        let slice = flat(&shape);
        for (longer, operands) in [(Longer::C, [&slice, &whole]), (Longer::A, [&whole, &slice])] {
            let plan =
                CopyProblem::at_position(longer, operands, axis, &at, dtype).unwrap().plan(&caps).unwrap();
            assert!(plan.steps()[0].tile.contains(moved), "{row} {axis} {dtype}: {plan}");
        }
    }
}
