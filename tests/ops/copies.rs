//! Copies into views, concatenation and stacking: every bit arrives, and the bytes next to it stay.

use crate::bits::{bits, bytes, places};
use support::laid::{flat, view};
use tilewise::planning::ops::{CastProblem, CopyProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::{DType, Element, Gpu, Layout, Tensor, ops, reference};

/// Shape, strides and offset of views that do not overlap, in a buffer of 4096 elements.
const VIEWS: [(&[usize], &[usize], usize); 14] = [
    (&[64], &[1], 0),
    (&[64], &[1], 3),
    (&[63], &[1], 64),
    (&[1], &[1], 5),
    (&[64], &[2], 1),
    (&[5, 7], &[7, 1], 1),
    (&[5, 7], &[1, 5], 2),
    (&[8, 16], &[48, 1], 16),
    (&[8, 16], &[1, 8], 0),
    (&[8, 16], &[17, 1], 0),
    (&[3, 4, 5], &[100, 25, 1], 7),
    (&[3, 4, 8], &[8, 24, 1], 128),
    (&[2, 3, 2, 3, 2, 5], &[1000, 301, 140, 40, 19, 3], 11),
    (&[], &[], 9),
];

#[test]
fn a_copy_changes_the_elements_of_its_output_and_no_bit_more() {
    fn check<T: Element>(gpu: &Gpu) {
        let (data, old) = (bits::<T>(4096, 1), bits::<T>(4096, 2));
        let source = gpu.tensor(&data, [4096]).unwrap();
        for (at, (shape, strides, offset)) in VIEWS.into_iter().enumerate() {
            let outputs = VIEWS.iter().filter(|(other, ..)| *other == shape);
            for (_, of_output, offset_of_output) in outputs {
                let whole = gpu.tensor(&old, [4096]).unwrap();
                let a = source.as_strided(shape, strides, offset).unwrap();
                let c = whole.as_strided(shape, of_output, *offset_of_output).unwrap();
                let launches = gpu.stats().launches;
                ops::copy_into(&a, &mut c.writable_view()).unwrap();
                assert_eq!(gpu.stats().launches, launches + 1);
                let mut want = old.clone();
                for (from, to) in places(a.layout()).into_iter().zip(places(c.layout())) {
                    want[to] = data[from];
                }
                let case = format!("{} {at}: {:?} to {:?}", T::DTYPE, a.layout(), c.layout());
                assert_eq!(bytes(&whole.to_vec().unwrap()), bytes(&want), "{case}");
            }
        }
        // An axis of the operand may repeat.
        let c = gpu.zeros::<T>([3, 5]).unwrap();
        ops::copy_into(&source.as_strided(&[3, 5], &[0, 1], 3).unwrap(), &mut c.writable_view()).unwrap();
        assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&[&data[3..8]; 3].concat()));
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

#[test]
fn tensors_are_joined_as_defined_with_one_launch_for_each() {
    fn check<T: Element>(gpu: &Gpu) {
        for (outer, extents, inner) in [
            (1, vec![3, 1, 4], 1),
            (3, vec![5, 2, 8, 1], 7),
            (4, vec![8, 16], 8),
            (2, vec![0, 3, 0], 3),
            (5, vec![6], 1),
        ] {
            let data: Vec<Vec<T>> =
                extents.iter().zip(1..).map(|(n, seed)| bits(outer * n * inner, seed)).collect();
            let shapes: Vec<[usize; 3]> = extents.iter().map(|&n| [outer, n, inner]).collect();
            let parts: Vec<(&[T], &[usize])> =
                data.iter().zip(&shapes).map(|(data, shape)| (&data[..], &shape[..])).collect();
            let want = reference::concat(&parts, 1);
            // Some operands are stored transposed.
            let tensors: Vec<Tensor<T>> = parts
                .iter()
                .zip(0..)
                .map(|(&(data, shape), i)| {
                    let tensor = gpu.tensor(data, shape).unwrap();
                    if i % 2 == 0 { tensor } else { tensor.t().contiguous().unwrap().t() }
                })
                .collect();
            let before = gpu.stats();
            let joined = ops::concat(&tensors.iter().collect::<Vec<_>>(), 1).unwrap();
            let after = gpu.stats();
            let filled = extents.iter().filter(|&&n| n > 0).count() as u64;
            assert_eq!(after.launches - before.launches, filled);
            assert_eq!(joined.shape(), [outer, extents.iter().sum(), inner]);
            assert_eq!(bytes(&joined.to_vec().unwrap()), bytes(&want), "{} {extents:?}", T::DTYPE);
        }
        for shape in [&[][..], &[5], &[3, 4], &[1, 3, 5]] {
            let len = shape.iter().product();
            let data: Vec<Vec<T>> = (1..4).map(|seed| bits(len, seed)).collect();
            let tensors: Vec<Tensor<T>> = data.iter().map(|data| gpu.tensor(data, shape).unwrap()).collect();
            for axis in 0..=shape.len() {
                let launches = gpu.stats().launches;
                let stacked = ops::stack(&tensors.iter().collect::<Vec<_>>(), axis).unwrap();
                assert_eq!(gpu.stats().launches, launches + 3);
                let slices: Vec<&[T]> = data.iter().map(|data| &data[..]).collect();
                let mut want_shape = shape.to_vec();
                want_shape.insert(axis, 3);
                assert_eq!(stacked.shape(), want_shape);
                let want = reference::stack(&slices, shape, axis);
                assert_eq!(bytes(&stacked.to_vec().unwrap()), bytes(&want), "{} {shape:?} {axis}", T::DTYPE);
            }
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

/// The bytes that the launches bind are those of the operands and of their places, with a few for alignment.
#[test]
fn each_element_is_read_once_and_written_once() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let parts: Vec<Tensor<f32>> = (1..4).map(|n| gpu.zeros([64 * n, 256]).unwrap()).collect();
    let before = gpu.stats();
    let whole = ops::concat(&parts.iter().collect::<Vec<_>>(), 0).unwrap();
    let after = gpu.stats();
    let all = whole.len() as u64 * 4;
    assert_eq!(after.bytes_bound_for_reading - before.bytes_bound_for_reading, all);
    assert_eq!(after.bytes_bound_for_writing - before.bytes_bound_for_writing, all);
    assert_eq!(after.buffers_created - before.buffers_created, 1, "no temporary");
    let (a, c) = (flat(&[64, 3]), whole.slice(1, 5..8).unwrap());
    let c = c.slice(0, ..64).unwrap();
    for (dtype, shader) in [(DType::F32, "ops/copy"), (DType::I8, "ops/copy_parts")] {
        let plan: Plan = CopyProblem::new(&a, c.layout(), dtype).unwrap().plan(gpu.caps()).unwrap();
        let [step] = plan.steps() else { panic!("one step: {plan}") };
        let elements = 64 * 3 * dtype.size() as u64;
        assert_eq!((&step.work.read, &step.work.written), (&vec![0, elements], &vec![elements, 0]), "{plan}");
        assert_eq!(step.kernel.shader(), shader);
    }
}

#[test]
fn rows_that_are_whole_vectors_are_moved_as_vectors() {
    let caps = tilewise::planning::fixtures::h200();
    let tile = |a: &Layout, c: &Layout, dtype| {
        let plan = CopyProblem::new(a, c, dtype).unwrap().plan(&caps).unwrap();
        let [step] = plan.steps() else { panic!("one step: {plan}") };
        step.tile.clone()
    };
    let layout = |strides: &[usize], offset| view(&[8, 16], strides, offset);
    for (row, offset, dtype, moved) in [
        (16, 0, DType::F32, "16 bytes each"),
        (20, 4, DType::F32, "16 bytes each"),
        (18, 4, DType::F32, "8 bytes each"),
        (17, 0, DType::F32, "4 bytes each"),
        (24, 8, DType::F16, "16 bytes each"),
        (20, 8, DType::F16, "8 bytes each"),
        (18, 2, DType::Bf16, "4 bytes each"),
        (17, 0, DType::Bf16, "in parts"),
        (32, 16, DType::I8, "16 bytes each"),
        (32, 4, DType::I8, "4 bytes each"),
        (32, 2, DType::I8, "in parts"),
    ] {
        let dense = flat(&[8, 16]);
        for (a, c) in [(&dense, &layout(&[row, 1], offset)), (&layout(&[row, 1], offset), &dense)] {
            assert!(tile(a, c, dtype).contains(moved), "{row} {offset} {dtype}: {}", tile(a, c, dtype));
        }
    }
    let turned = layout(&[1, 8], 0);
    assert!(tile(&turned, &turned, DType::F32).contains("4 bytes each"));
}

/// A cast's plan may write into a part, as any plan. The rest of its last word belongs to others.
#[test]
fn a_casts_last_word_keeps_what_is_not_the_outputs() {
    fn check<T: Element>(gpu: &Gpu) {
        for (len, stride) in [(1, 1), (5, 1), (63, 1), (66, 2), (71, 1)] {
            let a = gpu.tensor(&vec![7i32; 2 * len], [2 * len]).unwrap();
            let a = a.as_strided(&[len], &[stride], 0).unwrap();
            let old = bits::<T>(128, 3);
            let whole = gpu.tensor(&old, [128]).unwrap();
            let problem = CastProblem::new(a.layout(), DType::I32, T::DTYPE, ops::Overflow::Rust).unwrap();
            let mut part = whole.slice(0, ..len).unwrap().writable_view();
            let operands = [a.view(), part.view_mut().unwrap()];
            gpu.execute(&problem.plan(gpu.caps()).unwrap(), &operands, &[]).unwrap();
            let want = [&vec![T::from_f64(7.0); len][..], &old[len..]].concat();
            assert_eq!(bytes(&whole.to_vec().unwrap()), bytes(&want), "{len} of {}", T::DTYPE);
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}
