//! Operators whose entries are all drawn, on the device: the same entries as on the CPU, applied along any axis.

use support::sketches::small;
use support::strided::{Lay, Placed, indices};
use tilewise::planning::gemm::Pin;
use tilewise::planning::sketch::apply_dense;
use tilewise::sketch::{Direction, ExplicitSketch, Scaling, Sketch, SketchKind};
use tilewise::{Error, Fill, Gpu, Real, bf16, f16, reference};

const KINDS: [SketchKind; 3] = [SketchKind::Gaussian, SketchKind::Uniform, SketchKind::Sign];

fn identity(gpu: &Gpu, n: usize) -> tilewise::Tensor<f32> {
    let entries: Vec<f32> = (0..n * n).map(|i| f32::from(u8::from(i % (n + 1) == 0))).collect();
    gpu.tensor(&entries, [n, n]).unwrap()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn entries_are_those_of_the_cpu_bit_for_bit() {
    let Some(gpu) = support::gpu() else { return };
    for kind in KINDS {
        let shapes = [[70, 133], [1, 1], [133, 70]];
        for [d, n] in shapes.into_iter().take(support::by_sweep(3, 3, 1)) {
            let s = Sketch::new(kind, [d, n], 0xfeed_0000_0000 + d as u64).unwrap().scaled(Scaling::Unscaled);
            let want = bits(&s.to_vec());
            let (of_columns, of_rows) = (identity(&gpu, n), identity(&gpu, d));
            let applied =
                |direction, x, axis| apply_dense(&s, None, direction, x, axis, Pin::Tile(small())).unwrap();
            for (what, found) in [
                ("S I", applied(Direction::Forward, &of_columns, 0)),
                ("I S^T", applied(Direction::Forward, &of_columns, 1).t()),
                ("S^T I", applied(Direction::Adjoint, &of_rows, 0).t()),
                ("I S", applied(Direction::Adjoint, &of_rows, 1)),
            ] {
                assert_eq!(bits(&found.to_vec().unwrap()), want, "{kind:?}, {what}");
            }
        }
        // And in the tile that is planned, of which signs are the entries that change most.
        if kind != SketchKind::Sign && !support::is_full_sweep() {
            continue;
        }
        let s = Sketch::new(kind, [70, 133], 3).unwrap().scaled(Scaling::Unscaled);
        let found = s.left(&identity(&gpu, 133)).unwrap().to_vec().unwrap();
        assert_eq!(bits(&found), bits(&s.to_vec()), "{kind:?}");
    }
}

/// S along an axis in f64: what is summed, and the sum of magnitudes.
fn along(s: &[f64], [to, from]: [usize; 2], x: &[f64], shape: &[usize], axis: usize) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(shape[axis], from);
    let after: usize = shape[axis + 1..].iter().product();
    let mut made = shape.to_vec();
    made[axis] = to;
    let element = |place: usize, f: fn(f64) -> f64| -> f64 {
        let (before, i, behind) = (place / after / to, place / after % to, place % after);
        let at = |j: usize| (before * from + j) * after + behind;
        (0..from).map(|j| f(s[i * from + j] * x[at(j)])).sum()
    };
    let count = indices(&made).len();
    ((0..count).map(|p| element(p, |x| x)).collect(), (0..count).map(|p| element(p, f64::abs)).collect())
}

fn check<T: Real>(gpu: &Gpu, kind: SketchKind, shape: &[usize], axis: usize, lay: Lay, to: usize) {
    let from = shape[axis];
    let data = Fill::Uniform.values::<T>(shape.iter().product(), 3);
    let x = Placed::new(gpu, &data, shape, lay);
    let wide: Vec<f64> = data.iter().map(|x| x.to_f64()).collect();
    let what = format!("{kind:?} {} {shape:?} axis {axis} {lay:?} to {to}", T::DTYPE);
    let forward = Sketch::new(kind, [to, from], 11).unwrap();
    let s: Vec<f64> = forward.to_vec().into_iter().map(f64::from).collect();
    let y = apply_dense(&forward, None, Direction::Forward, &x.tensor, axis, Pin::Tile(small())).unwrap();
    compare(&y.to_vec().unwrap(), along(&s, [to, from], &wide, shape, axis), from, &what);
    let adjoint = Sketch::new(kind, [from, to], 12).unwrap();
    let s = adjoint.to_vec();
    let transposed: Vec<f64> = (0..to * from).map(|p| f64::from(s[p % from * to + p / from])).collect();
    let y = apply_dense(&adjoint, None, Direction::Adjoint, &x.tensor, axis, Pin::Tile(small())).unwrap();
    compare(&y.to_vec().unwrap(), along(&transposed, [to, from], &wide, shape, axis), from, &what);
    x.read();
}

fn compare(found: &[f32], (want, magnitude): (Vec<f64>, Vec<f64>), n: usize, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}");
    for (i, &c) in found.iter().enumerate() {
        // One more rounding for the scale, one for its own.
        let bound = reference::gamma(n + 2) * magnitude[i] + reference::gamma(1) * magnitude[i];
        assert!((f64::from(c) - want[i]).abs() <= bound, "{what} [{i}]: {c}, not {}", want[i]);
    }
}

#[test]
fn along_every_axis_of_every_rank_in_every_layout() {
    let Some(gpu) = support::gpu() else { return };
    let shapes: [&[usize]; 6] =
        [&[37], &[19, 34], &[3, 35, 5], &[2, 3, 33, 4], &[2, 3, 2, 5, 6], &[2, 1, 3, 2, 7, 3]];
    let every = support::by_sweep(1, 9, 23);
    let mut case = 0;
    for (rank, shape) in shapes.iter().enumerate() {
        for axis in 0..=rank {
            for (i, lay) in Lay::ALL.into_iter().enumerate() {
                if (case + i) % every > 0 {
                    continue;
                }
                // Kinds differ in entries, types in how the other operand is read: signs of f32 see every axis.
                match case % 7 {
                    2 => check::<f16>(&gpu, KINDS[1], shape, axis, lay, 21),
                    5 => check::<bf16>(&gpu, KINDS[0], shape, axis, lay, 40),
                    _ => check::<f32>(&gpu, KINDS[2], shape, axis, lay, 6),
                }
            }
            case += 1;
        }
    }
}

#[test]
fn integers_are_exact_and_long_sums_are_in_parts() {
    let Some(gpu) = support::gpu() else { return };
    let s = Sketch::new(SketchKind::Sign, [33, 5000], 4).unwrap().scaled(Scaling::Unscaled);
    let x = gpu.random::<f32>([5000, 20], Fill::Integers, 5).unwrap();
    let (entries, x64) = (s.to_vec(), x.to_vec().unwrap());
    let want: Vec<f32> = (0..33 * 20)
        .map(|p| (0..5000).map(|j| entries[p / 20 * 5000 + j] * x64[j * 20 + p % 20]).sum())
        .collect();
    let found = s.left(&x).unwrap().to_vec().unwrap();
    assert_eq!(found, want);
    assert_eq!(bits(&found), bits(&s.left(&x).unwrap().to_vec().unwrap()), "the same bits twice");
}

#[test]
fn nothing_of_the_operator_is_ever_in_memory() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    for kind in KINDS {
        let s = Sketch::new(kind, [256, 512], 4).unwrap();
        let x = gpu.random::<f32>([512, 64], Fill::Uniform, 5).unwrap();
        s.left(&x).unwrap().to_vec().unwrap();
        let before = gpu.stats();
        let y = s.left(&x).unwrap();
        let after = gpu.stats();
        let sums = after.bytes_bound_for_writing - before.bytes_bound_for_writing - 4 * 256 * 64;
        let read = after.bytes_bound_for_reading - before.bytes_bound_for_reading - sums;
        // The table of the normal distribution has 4,100 bytes; S would have 524,288.
        assert!((4 * 512 * 64..4 * 512 * 64 + 4400).contains(&read), "{kind:?}: {read} bytes are read");
        assert!(after.launches - before.launches <= 2, "{kind:?}");
        assert_eq!(sums % (4 * 256 * 64), 0, "{kind:?}: what else is written are sums of parts");
        drop(y);
    }
}

#[test]
fn what_does_not_go_together_is_an_error_with_both_shapes() {
    let Some(gpu) = support::gpu() else { return };
    let s = Sketch::new(SketchKind::Gaussian, [4, 10], 1).unwrap();
    let x = gpu.random::<f32>([10, 3], Fill::Uniform, 1).unwrap();
    assert!(
        matches!(s.apply(&x, 1), Err(Error::Shape { lhs, rhs, .. }) if lhs == [10, 3] && rhs.as_deref() == Some(&[4, 10]))
    );
    assert!(matches!(s.apply(&x, 2), Err(Error::Shape { rhs, .. }) if rhs.as_deref() == Some(&[2])));
    assert!(matches!(s.adjoint(&x, 0), Err(Error::Shape { .. })));
    let line = gpu.random::<f32>([10], Fill::Uniform, 1).unwrap();
    assert!(matches!(s.left(&line), Err(Error::Shape { .. })));
    assert_eq!(s.apply(&line, 0).unwrap().shape(), [4]);
    let none = gpu.empty::<f32>([10, 0]).unwrap();
    assert_eq!(s.left(&none).unwrap().shape(), [4, 0]);
    for shape in [[0, 3], [3, 0]] {
        assert!(matches!(Sketch::new(SketchKind::Sign, shape, 1), Err(Error::Shape { .. })));
    }
    assert!(matches!(Sketch::new(SketchKind::Sign, [1 << 31, 3], 1), Err(Error::Limit { .. })));
}

#[test]
fn a_given_matrix_is_applied_as_a_sketch_with_its_entries() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let s = Sketch::new(SketchKind::Sign, [6, 11], 3).unwrap().scaled(Scaling::Unscaled);
    let entries: Vec<f16> = s.to_vec().into_iter().map(f16::from_f32).collect();
    // As it lies, and as the transpose of what lies there.
    let across: Vec<f16> = (0..66).map(|at| entries[at % 6 * 11 + at / 6]).collect();
    let transposed = gpu.tensor(&across, [11, 6]).unwrap().t();
    for given in [
        ExplicitSketch::new(gpu.tensor(&entries, [6, 11]).unwrap()).unwrap(),
        ExplicitSketch::new(transposed).unwrap(),
    ] {
        assert_eq!(given.shape(), [6, 11]);
        for (shape, axis) in [(vec![11], 0), (vec![11, 5], 0), (vec![2, 11, 3, 4], 1), (vec![3, 4, 11], 2)] {
            let x = gpu.random::<f16>(&shape, Fill::Integers, 4).unwrap();
            let [found, want] = [given.apply(&x, axis).unwrap(), s.apply(&x, axis).unwrap()];
            assert_eq!(found.shape(), want.shape());
            assert_eq!(found.to_vec().unwrap(), want.to_vec().unwrap(), "{shape:?}, integers");
            let back =
                shape.iter().enumerate().map(|(at, &n)| if at == axis { 6 } else { n }).collect::<Vec<_>>();
            let y = gpu.random::<f16>(&back, Fill::Integers, 5).unwrap();
            let [found, want] = [given.adjoint(&y, axis).unwrap(), s.adjoint(&y, axis).unwrap()];
            assert_eq!(found.to_vec().unwrap(), want.to_vec().unwrap(), "{back:?}, the adjoint");
        }
        let x = gpu.random::<f16>([2, 11, 7], Fill::Integers, 6).unwrap();
        let [left, right] = [given.left(&x).unwrap(), given.right(&x.permute(&[0, 2, 1]).unwrap()).unwrap()];
        assert_eq!((left.shape(), right.shape()), (&[2, 6, 7][..], &[2, 7, 6][..]));
        assert_eq!(
            left.to_vec().unwrap(),
            right.permute(&[0, 2, 1]).unwrap().contiguous().unwrap().to_vec().unwrap()
        );
        for (wrong, axis) in [(vec![10, 3], 0), (vec![11, 3], 1), (vec![11], 1), (vec![], 0)] {
            let x = gpu.zeros::<f16>(&wrong).unwrap();
            assert!(matches!(given.apply(&x, axis), Err(Error::Shape { .. })), "{wrong:?} along {axis}");
        }
        assert!(matches!(given.left(&gpu.zeros::<f16>([11]).unwrap()), Err(Error::Shape { .. })));
        assert_eq!(given.apply(&gpu.zeros::<f16>([11, 0]).unwrap(), 0).unwrap().shape(), [6, 0]);
    }
    for shape in [&[][..], &[6], &[2, 6, 11], &[0, 11], &[6, 0]] {
        let refused = ExplicitSketch::new(gpu.zeros::<f32>(shape).unwrap());
        assert!(matches!(refused, Err(Error::Shape { lhs, .. }) if lhs == shape), "{shape:?}");
    }
}
