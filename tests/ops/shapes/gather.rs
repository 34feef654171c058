//! Elements by index: every type and layout, indices out of range, and what is launched.

use crate::bits::{bits, bytes};
use support::laid::{flat, view};
use support::strided::{Lay, Placed};
use tilewise::planning::Problem;
use tilewise::planning::fixtures;
use tilewise::planning::ops::{GatherProblem, Taken};
use tilewise::{DType, Element, Gpu, Result, Tensor, ops, reference};

/// Indices of which most are below `extent`, and some are out of range.
pub(crate) fn indices(len: usize, extent: usize, seed: u64) -> Vec<i32> {
    let extent = i32::try_from(extent).unwrap();
    let number = |(at, n): (usize, i32)| match at % 11 {
        3 => [-1, i32::MIN][at % 2],
        7 => [extent, i32::MAX][at % 2],
        _ => n.rem_euclid(extent.max(1)),
    };
    bits::<i32>(len, seed).into_iter().enumerate().map(number).collect()
}

/// A tensor of these indices in a layout, whose buffer has other numbers elsewhere.
pub(crate) fn placed(gpu: &Gpu, indices: &[i32], shape: &[usize], lay: Lay) -> Tensor<i32> {
    Placed::new(gpu, indices, shape, lay).tensor
}

/// Runs what must be one launch that uploads nothing.
pub(crate) fn one_launch<T: Element>(gpu: &Gpu, run: impl FnOnce() -> Result<Tensor<T>>) -> Tensor<T> {
    let before = gpu.stats();
    let c = run().unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, u64::from(!c.is_empty()));
    assert_eq!(after.bytes_staged, before.bytes_staged);
    c
}

/// Operands and axes: rows of whole vectors, of whole quads, and others; up to six axes.
const OPERANDS: [(&[usize], usize); 12] = [
    (&[9], 0),
    (&[70], 0),
    (&[7, 16], 0),
    (&[7, 12], 0),
    (&[7, 5], 0),
    (&[3, 70], 1),
    (&[6, 17], 1),
    (&[4, 5, 16], 1),
    (&[3, 8, 5], 1),
    (&[2, 3, 4, 5, 2, 3], 2),
    (&[2, 3, 4, 1, 2, 32], 4),
    (&[1, 4], 0),
];

#[test]
fn positions_are_taken_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, (shape, axis)) in OPERANDS.into_iter().enumerate() {
            let data: Vec<T> = bits(shape.iter().product(), case as u64);
            for lay in [0, 2, 3].map(|step| Lay::ALL[(case + step) % 5]).into_iter().chain([Lay::Vectors]) {
                let x = Placed::new(gpu, &data, shape, lay).tensor;
                let len = [1, 6, 13][case % 3];
                let numbers = indices(len, shape[axis], 7);
                let which = placed(gpu, &numbers, &[len], Lay::ALL[(case + 1) % 5]);
                let c = one_launch(gpu, || ops::index_select(&x, axis, &which));
                let want = reference::index_select(&data, shape, axis, &numbers);
                let mut want_shape = shape.to_vec();
                want_shape[axis] = len;
                assert_eq!(c.shape(), want_shape);
                assert_eq!(
                    bytes(&c.to_vec().unwrap()),
                    bytes(&want),
                    "{} {shape:?} {axis} {lay:?}",
                    T::DTYPE
                );
            }
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

#[test]
fn elements_are_gathered_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, (shape, axis)) in OPERANDS.into_iter().enumerate() {
            let data: Vec<T> = bits(shape.iter().product(), case as u64);
            // Longer along the axis, and shorter along others.
            let mut of_indices: Vec<usize> = shape.to_vec();
            let other = (axis + 1) % shape.len();
            of_indices[other] -= usize::from(of_indices[other] > 3);
            of_indices[axis] = [shape[axis], 3, shape[axis] + 5][case % 3];
            let numbers = indices(of_indices.iter().product(), shape[axis], 3);
            let want = reference::gather(&data, shape, axis, &numbers, &of_indices);
            for step in [0, 1] {
                let x = Placed::new(gpu, &data, shape, Lay::ALL[(case + 3 * step) % 5]).tensor;
                let which = placed(gpu, &numbers, &of_indices, Lay::ALL[(case + step) % 5]);
                let c = one_launch(gpu, || ops::gather(&x, axis, &which));
                assert_eq!(c.shape(), of_indices);
                assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&want), "{} {shape:?} {axis}", T::DTYPE);
            }
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

#[test]
fn rows_of_a_table_are_looked_up_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, (d, ids_shape)) in
            [(16, &[3, 7][..]), (1, &[]), (33, &[4, 5]), (64, &[2, 1, 3, 1, 2]), (20, &[9]), (6, &[2, 3])]
                .into_iter()
                .enumerate()
        {
            let data: Vec<T> = bits(11 * d, case as u64);
            let numbers = indices(ids_shape.iter().product(), 11, 5);
            let want = reference::embedding(&data, d, &numbers);
            for lay in [Lay::Plain, Lay::Vectors, Lay::ALL[case % 5]] {
                let table = Placed::new(gpu, &data, &[11, d], lay).tensor;
                let ids = placed(gpu, &numbers, ids_shape, Lay::ALL[(case + 2) % 5]);
                let c = one_launch(gpu, || ops::embedding(&table, &ids));
                assert_eq!(c.shape(), [ids_shape, &[d]].concat());
                assert_eq!(
                    bytes(&c.to_vec().unwrap()),
                    bytes(&want),
                    "{} {d} {ids_shape:?} {lay:?}",
                    T::DTYPE
                );
            }
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

#[test]
fn known_indices_are_checked_and_uploaded_in_a_capture_too() {
    for gpu in support::turn().iter() {
        let x = gpu.tensor(&[1, 2, 3, 4, 5, 6], [3, 2]).unwrap();
        assert_eq!(ops::index_select(&x, 0, &[2, 2, 0]).unwrap().to_vec().unwrap(), [5, 6, 5, 6, 1, 2]);
        assert_eq!(ops::index_select(&x, 1, &vec![1]).unwrap().to_vec().unwrap(), [2, 4, 6]);
        assert!(ops::index_select(&x, 1, &[][..]).unwrap().is_empty());
        let mut replay = gpu.capture(&[x.view()], || ops::index_select(&x, 0, &[1])).unwrap();
        assert_eq!(replay.run(&[x.view()]).unwrap().to_vec().unwrap(), [3, 4]);
    }
}

/// Only vectors may be moved if all rows begin at them.
#[test]
fn rows_of_whole_vectors_are_moved_as_vectors() {
    let caps = fixtures::h200();
    let ids = flat(&[9]);
    for (d, row, offset, dtype, shader) in [
        (16, 16, 0, DType::F32, "ops/gather_vectors"),
        (16, 20, 4, DType::F32, "ops/gather_vectors"),
        (16, 20, 4, DType::F16, "ops/gather"),
        (16, 24, 8, DType::F16, "ops/gather_vectors"),
        (12, 12, 0, DType::F16, "ops/gather"),
        (16, 16, 1, DType::I32, "ops/gather"),
        (15, 16, 0, DType::I32, "ops/gather"),
        (32, 32, 16, DType::I8, "ops/gather_vectors"),
    ] {
        let table = view(&[5, d], &[row, 1], offset);
        let plan = GatherProblem::new(Taken::Rows, &table, &ids, dtype).unwrap().plan(&caps).unwrap();
        assert_eq!(plan.steps()[0].kernel.shader(), shader, "{d} {row} {offset} {dtype}");
    }
}

#[test]
fn empty_operands_have_results() {
    let gpu = support::noop();
    let of = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let ids = |shape: &[usize]| gpu.zeros::<i32>(shape).unwrap();
    let x = of(&[2, 3]);
    assert_eq!(ops::index_select(&x, 0, &ids(&[0])).unwrap().shape(), [0, 3]);
    assert_eq!(ops::index_select(&of(&[2, 0]), 0, &ids(&[5])).unwrap().shape(), [5, 0]);
    assert_eq!(ops::gather(&of(&[0, 3]), 0, &ids(&[0, 2])).unwrap().shape(), [0, 2]);
    assert_eq!(ops::embedding(&x, &ids(&[2, 0])).unwrap().shape(), [2, 0, 3]);
    assert_eq!(ops::embedding(&of(&[0, 0]), &ids(&[2])).unwrap().shape(), [2, 0]);
    assert_eq!(gpu.stats().launches, 0);
}
