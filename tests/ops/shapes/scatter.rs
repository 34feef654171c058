//! Additions to what indices name: types, layouts, many and few indices, the same bits in every run.

use super::gather::{indices, placed};
use crate::bits::bytes;
use support::strided::{Lay, Placed};
use support::values::{assert_ok, values};
use tilewise::{Element, Gpu, Real, ops, reference};

/// Numbers of a type whose sums in f16 are far from its largest.
fn numbers<T: Element>(len: usize, seed: u64) -> Vec<T> {
    let scale = if T::DTYPE.is_real() { 1.0 } else { 0.1 };
    values(&[len], scale, seed)
}

/// Shapes of C, axes, and how many indices there are along the axis: less than a block, several blocks, several chunks.
const TARGETS: [(&[usize], usize, usize); 8] = [
    (&[9], 0, 5),
    (&[5], 0, 1500),
    (&[300], 0, 700),
    (&[7, 16], 0, 40),
    (&[7, 5], 0, 600),
    (&[3, 70], 1, 9),
    (&[2, 3, 4, 5, 2, 3], 2, 6),
    (&[4, 1, 3], 1, 1100),
];

#[test]
fn positions_are_added_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, (shape, axis, len)) in TARGETS.into_iter().enumerate() {
            let c: Vec<T> = numbers(shape.iter().product(), 1);
            let mut of_values = shape.to_vec();
            of_values[axis] = len;
            let v: Vec<T> = numbers(of_values.iter().product(), 2);
            let which = indices(len, shape[axis], case as u64);
            let want = reference::index_add(&c, shape, axis, &which, &v);
            for step in [0, 3] {
                let mut to = Placed::new(gpu, &c, shape, Lay::ALL[(case + step) % 5]);
                let from = Placed::new(gpu, &v, &of_values, Lay::ALL[(case + 2 * step + 1) % 5]);
                let ids = placed(gpu, &which, &[len], Lay::ALL[(case + step + 2) % 5]);
                ops::index_add(&mut to.tensor, axis, &ids, &from.tensor).unwrap();
                assert_ok(&want.compare(&to.read()), (T::DTYPE, shape, axis, len, step));
            }
        }
    }
    for gpu in support::turn().iter() {
        check::<f32>(gpu);
        check::<tilewise::f16>(gpu);
        check::<i32>(gpu);
        if support::is_full_sweep() {
            support::of_every_type!(check, gpu);
        }
    }
}

#[test]
fn elements_are_added_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, (shape, axis, len)) in TARGETS.into_iter().enumerate() {
            let c: Vec<T> = numbers(shape.iter().product(), 3);
            let mut of_values = shape.to_vec();
            of_values[axis] = len;
            let other = (axis + 1) % shape.len();
            of_values[other] -= usize::from(shape.len() > 1 && of_values[other] > 3);
            let count = of_values.iter().product();
            let v: Vec<T> = numbers(count, 4);
            let which = indices(count, shape[axis], case as u64);
            let want = reference::scatter_add(&c, shape, axis, &which, &of_values, &v);
            let mut to = Placed::new(gpu, &c, shape, Lay::ALL[(case + 1) % 5]);
            let from = Placed::new(gpu, &v, &of_values, Lay::ALL[(case + 3) % 5]);
            let ids = placed(gpu, &which, &of_values, Lay::ALL[case % 5]);
            ops::scatter_add(&mut to.tensor, axis, &ids, &from.tensor).unwrap();
            assert_ok(&want.compare(&to.read()), (T::DTYPE, shape, axis, len));
        }
    }
    for gpu in support::turn().iter() {
        check::<f32>(gpu);
        check::<i32>(gpu);
        if support::is_full_sweep() {
            support::of_every_type!(check, gpu);
        }
    }
}

#[test]
fn the_gradient_of_a_table_is_the_sum_of_its_rows_gradients() {
    fn check<T: Real>(gpu: &Gpu) {
        for (case, (d, rows, ids_shape, padding)) in [
            (16, 50, &[3, 7][..], None),
            (33, 5, &[4, 50], Some(3)),
            (1, 4, &[], Some(0)),
            (6, 3, &[2, 1, 700], Some(9)),
            (64, 1000, &[2, 1, 3, 1, 5], None),
            (4, 2, &[0], None),
        ]
        .into_iter()
        .enumerate()
        {
            let len: usize = ids_shape.iter().product();
            let numbers = indices(len, rows, case as u64);
            let g_shape = [ids_shape, &[d]].concat();
            let g: Vec<T> = values(&g_shape, 1.0, 5);
            let want = reference::embedding_backward(&numbers, &g, d, rows, padding);
            let ids = placed(gpu, &numbers, ids_shape, Lay::ALL[case % 5]);
            let g = Placed::new(gpu, &g, &g_shape, Lay::ALL[(case + 2) % 5]).tensor;
            let before = gpu.stats();
            let found = ops::embedding_backward(&ids, &g, rows, padding).unwrap();
            let after = gpu.stats();
            assert!(len == 0 || after.bytes_staged == before.bytes_staged);
            let merges = len.div_ceil(256).next_power_of_two().ilog2();
            let launches = if len == 0 { 1 } else { 4 + u64::from(merges) };
            assert_eq!(after.launches - before.launches, launches, "{len} ids");
            assert_eq!(found.shape(), [rows, d]);
            assert_ok(&want.compare(&found.to_vec().unwrap()), (T::DTYPE, d, rows, ids_shape));
        }
    }
    for gpu in support::turn().iter() {
        // Each kernel of some type: a full sweep has all types.
        check::<f32>(gpu);
        check::<tilewise::bf16>(gpu);
        if support::is_full_sweep() {
            check::<tilewise::f16>(gpu);
        }
    }
}

/// Sums of numbers with many bits, whose last bits depend on the order.
#[test]
fn every_run_has_the_same_bits() {
    for gpu in support::turn().iter() {
        let len = 3000;
        let which = gpu.tensor(&indices(len, 7, 1), [len]).unwrap();
        let v = gpu.tensor(&values::<f32>(&[len, 5], 1.0, 2), [len, 5]).unwrap();
        let mut runs =
            (0..4).map(|_| ops::embedding_backward(&which, &v, 7, None).unwrap().to_vec().unwrap());
        let first = runs.next().unwrap();
        assert!(runs.all(|run| bytes(&run) == bytes(&first)));
        // A capture has them, too.
        let mut replay = gpu.capture(&[v.view()], || ops::embedding_backward(&which, &v, 7, None)).unwrap();
        assert_eq!(bytes(&replay.run(&[v.view()]).unwrap().to_vec().unwrap()), bytes(&first));
    }
}

/// What an expression of `index_select` has for a gradient: the difference quotient of a linear function is exact.
#[test]
fn additions_are_the_gradients_of_choices() {
    for gpu in support::turn().iter() {
        let (x, g) = (values::<f32>(&[6, 3], 1.0, 1), values::<f32>(&[4, 3], 1.0, 2));
        let (x, g) = (gpu.tensor(&x, [6, 3]).unwrap(), gpu.tensor(&g, [4, 3]).unwrap());
        let dot = |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum() };
        let y = ops::index_select(&x, 0, &[5, 0, 5, 2]).unwrap();
        let mut back = gpu.zeros::<f32>([6, 3]).unwrap();
        ops::index_add(&mut back, 0, &[5, 0, 5, 2], &g).unwrap();
        let [y, g, x, back] = [&y, &g, &x, &back].map(|tensor| tensor.to_vec().unwrap());
        let (forward, backward) = (dot(&y, &g), dot(&x, &back));
        assert!((forward - backward).abs() < 1e-5, "{forward} {backward}");
    }
}

/// Nothing to add, or nothing to add to.
#[test]
fn empty_operands_are_no_mistakes() {
    let gpu = support::noop();
    let of = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let ids = |shape: &[usize]| gpu.zeros::<i32>(shape).unwrap();
    let mut c = of(&[2, 3]);
    ops::index_add(&mut c, 0, &ids(&[0]), &of(&[0, 3])).unwrap();
    ops::index_add(&mut of(&[0, 3]), 0, &ids(&[2]), &of(&[2, 3])).unwrap();
    ops::scatter_add(&mut c, 0, &ids(&[0, 3]), &of(&[0, 3])).unwrap();
    assert_eq!(ops::embedding_backward(&ids(&[2]), &of(&[2, 0]), 3, None).unwrap().shape(), [3, 0]);
    assert_eq!(ops::embedding_backward(&ids(&[2]), &of(&[2, 4]), 0, None).unwrap().shape(), [0, 4]);
    assert_eq!(gpu.stats().launches, 0);
}
