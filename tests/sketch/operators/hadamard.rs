//! Hadamard operators: every length, axis, layout and type against a plain transform in f64, forward and back.

use super::shares::shares;
use support::failure::{Kind, fails};
use support::laid::flat;
use support::sketches::signs_and_rows;
use support::strided::{Lay, Placed};
use tilewise::gpu::DeviceType;
use tilewise::planning::fixtures;
use tilewise::planning::sketch::{HadamardProblem, apply_hadamard};
use tilewise::reference;
use tilewise::sketch::{Direction, Scaling, Sketch, SketchKind};
use tilewise::{Caps, DType, Element, Error, Fill, Gpu, Real, Tensor, bf16, f16};

/// Lengths: alone, below, on and above powers of two and what a workgroup holds. `TILEWISE_SWEEP=full` has more, a short
/// sweep not the longest.
fn lengths() -> Vec<usize> {
    const LENGTHS: [usize; 10] = [1, 100, 5000, (1 << 17) + 1, 2, 3, 16, 1000, 4096, 70_000];
    LENGTHS[..support::by_sweep(10, 4, 3)].to_vec()
}

const BOTH: [Direction; 2] = [Direction::Forward, Direction::Adjoint];

fn sketch(d: usize, n: usize) -> Sketch {
    Sketch::new(SketchKind::Hadamard, [d, n], 7 * n as u64 + d as u64).unwrap()
}

fn apply<T: Real>(
    s: &Sketch,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
) -> tilewise::Result<Tensor<f32>> {
    if direction == Direction::Forward { s.apply(x, axis) } else { s.adjoint(x, axis) }
}

/// The plain transform, in place.
fn transform(x: &mut [f64]) {
    let mut half = 1;
    while half < x.len() {
        for block in x.chunks_exact_mut(2 * half) {
            let (near, far) = block.split_at_mut(half);
            for (a, b) in near.iter_mut().zip(far) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

/// The operator along an axis of row-major data, and for every element of the result the sum of the line's magnitudes;
/// not scaled.
fn defined(s: &Sketch, direction: Direction, x: &[f64], [pre, post]: [usize; 2]) -> (Vec<f64>, Vec<f64>) {
    let [d, n] = s.shape();
    let (signs, rows) = signs_and_rows(s);
    let [from, to] = if direction == Direction::Forward { [n, d] } else { [d, n] };
    let (mut y, mut magnitude) = (vec![0.0; pre * to * post], vec![0.0; pre * to * post]);
    for outer in 0..pre {
        for inner in 0..post {
            let x = |i: usize| x[(outer * from + i) * post + inner];
            let mut line = vec![0.0; n.next_power_of_two()];
            for i in 0..from {
                match direction {
                    Direction::Forward => line[i] = signs[i] * x(i),
                    Direction::Adjoint => line[rows[i]] = x(i),
                }
            }
            let sum: f64 = (0..from).map(|i| x(i).abs()).sum();
            transform(&mut line);
            for i in 0..to {
                let at = (outer * to + i) * post + inner;
                y[at] = if direction == Direction::Forward { line[rows[i]] } else { signs[i] * line[i] };
                magnitude[at] = sum;
            }
        }
    }
    (y, magnitude)
}

/// A tensor of so many axes, of which one is `n` long.
fn shape_of(rank: usize, axis: usize, n: usize) -> Vec<usize> {
    let mut shape = [3, 2, 4, 3, 2, 5][..rank].to_vec();
    shape[axis] = n;
    shape
}

/// Shapes and axes for lines of n elements.
fn shapes(n: usize) -> Vec<(Vec<usize>, usize)> {
    let ranks = if n <= 100 { 6 } else { 3 };
    let mut shapes: Vec<_> =
        (1..=ranks).flat_map(|r| (0..r).map(move |axis| (shape_of(r, axis, n), axis))).collect();
    if n <= 5000 {
        // As many columns as lanes, and more.
        shapes.extend([(vec![n, 64], 0), (vec![2, n, 150], 1), (vec![70, n], 1)]);
    }
    shapes
}

fn rows_of(n: usize) -> usize {
    n.div_ceil(3)
}

#[test]
fn transforms_agree_with_their_definition_along_every_axis() {
    fn test<T: Real>(gpu: &Gpu, every: usize) {
        for (case, n) in lengths().into_iter().enumerate() {
            let s = sketch(rows_of(n), n);
            for (at, (mut shape, axis)) in shapes(n).into_iter().enumerate() {
                if (at + case) % every > 0 {
                    continue;
                }
                for direction in BOTH {
                    shape[axis] = if direction == Direction::Forward { n } else { rows_of(n) };
                    let data = Fill::Uniform.values::<T>(shape.iter().product(), 3);
                    let x = Placed::new(gpu, &data, &shape, Lay::ALL[(at + case) % 5]);
                    let y = apply(&s, direction, &x.tensor, axis).unwrap();
                    let beside = [shape[..axis].iter().product(), shape[axis + 1..].iter().product()];
                    let data: Vec<f64> = data.iter().map(|x| x.to_f64()).collect();
                    let (want, magnitude) = defined(&s, direction, &data, beside);
                    let scale = 1.0 / (rows_of(n) as f64).sqrt();
                    let levels = n.next_power_of_two().trailing_zeros() as usize;
                    let bound = reference::gamma(levels + 1) * scale;
                    let found =
                        reference::compare(y.to_vec().unwrap().iter().zip(want.iter().zip(&magnitude)).map(
                            |(&got, (want, magnitude))| (f64::from(got), want * scale, bound * magnitude),
                        ));
                    assert!(found.ok(), "{direction:?} {} {shape:?} axis {axis}: {found:?}", T::DTYPE);
                    assert_eq!(y.shape()[axis], if direction == Direction::Forward { rows_of(n) } else { n });
                }
            }
        }
    }
    for (device, gpu) in support::devices().into_iter().enumerate() {
        let [f32s, f16s, bf16s] = shares(device);
        test::<f32>(&gpu, f32s);
        test::<f16>(&gpu, f16s);
        test::<bf16>(&gpu, bf16s);
    }
}

/// Passes as other devices choose them: with an exchange in shared memory, in more of it, in less, in none.
fn likes(gpu: &Gpu) -> Vec<Caps> {
    let like = |device_type, workgroup_bytes: u32| {
        let mut caps = gpu.caps().clone();
        caps.adapter = fixtures::h200().adapter;
        caps = caps.planned_for(device_type);
        caps.limits.workgroup_bytes = workgroup_bytes.min(caps.limits.workgroup_bytes);
        caps
    };
    use DeviceType::{Discrete, Software};
    let sizes = support::by_sweep(&[32, 16, 4][..], &[32, 4], &[4]);
    let discrete = sizes.iter().map(|size| like(Discrete, size << 10));
    std::iter::once(like(Software, 32 << 10)).chain(discrete).collect()
}

#[test]
fn integers_are_exact_and_the_bits_do_not_depend_on_the_passes() {
    let Some(gpu) = support::own(|_| ()) else { return };
    for (case, n) in lengths().into_iter().enumerate() {
        let s = sketch(rows_of(n), n).scaled(Scaling::Unscaled);
        let shapes = [(vec![n, 2], 0), (vec![3, n, 70], 1), (vec![5, n], 1)];
        for (at, (mut shape, axis)) in shapes.into_iter().enumerate() {
            // One shape of each length, and all in the full sweep.
            if n > 5000 && axis == 1 || at != case % 3 && !support::is_full_sweep() {
                continue;
            }
            for direction in BOTH {
                shape[axis] = if direction == Direction::Forward { n } else { rows_of(n) };
                let x = gpu.random::<f32>(&shape, Fill::Integers, 5).unwrap();
                let data: Vec<f64> = x.to_vec().unwrap().into_iter().map(f64::from).collect();
                let beside = [shape[..axis].iter().product(), shape[axis + 1..].iter().product()];
                let want: Vec<f32> =
                    defined(&s, direction, &data, beside).0.into_iter().map(f32::from_f64).collect();
                let reals = gpu.random::<f32>(&shape, Fill::Uniform, 6).unwrap();
                let bits = |t: Tensor<f32>| -> Vec<u32> {
                    t.to_vec().unwrap().into_iter().map(f32::to_bits).collect()
                };
                let isometry = s.scaled(Scaling::Isometry);
                let first = bits(apply(&isometry, direction, &reals, axis).unwrap());
                assert_eq!(
                    apply(&s, direction, &x, axis).unwrap().to_vec().unwrap(),
                    want,
                    "{direction:?} {shape:?}"
                );
                for caps in likes(&gpu) {
                    let what = (direction, &shape, caps.device_type, caps.limits.workgroup_bytes);
                    let got = apply_hadamard(&s, None, direction, &x, axis, &caps).unwrap().to_vec().unwrap();
                    assert_eq!(got, want, "{what:?}");
                    let got = bits(apply_hadamard(&isometry, None, direction, &reals, axis, &caps).unwrap());
                    assert!(got == first, "{what:?}: other bits");
                }
            }
        }
    }
}

#[test]
fn other_passes_are_other_passes() {
    let caps = fixtures::lavapipe();
    let with = |device_type, workgroup_bytes| {
        let mut caps = caps.clone();
        caps.adapter = fixtures::h200().adapter;
        caps = caps.planned_for(device_type);
        caps.limits.workgroup_bytes = workgroup_bytes;
        let x = flat(&[5, 4096]);
        let problem =
            HadamardProblem::new(&sketch(100, 4096), Direction::Forward, &x, 1, DType::F32).unwrap();
        let pieces = problem.pieces(&caps).unwrap();
        pieces[0].passes(&caps).iter().map(|pass| pass.tile.levels).collect::<Vec<_>>()
    };
    let alone = with(DeviceType::Software, 32 << 10);
    assert_eq!(alone.iter().sum::<u32>(), 12);
    assert_eq!(with(DeviceType::Discrete, 32 << 10), [12], "a line in shared memory");
    assert_eq!(with(DeviceType::Discrete, 4 << 10).len(), 2, "no room for a line");
}

#[test]
fn the_operator_of_the_identity_is_what_is_stored_bit_for_bit() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    for [d, n] in [[1, 1], [2, 3], [37, 100], [64, 64], [300, 1000]] {
        for scaling in [Scaling::Unscaled, Scaling::Isometry, Scaling::Orthonormal] {
            let s = sketch(d, n).scaled(scaling);
            let identity = |n: usize| {
                let ones: Vec<f32> = (0..n * n).map(|at| f32::from(at % (n + 1) == 0)).collect();
                gpu.tensor(&ones, [n, n]).unwrap()
            };
            let want: Vec<u32> = s.to_vec().into_iter().map(f32::to_bits).collect();
            let bits =
                |y: &Tensor<f32>| -> Vec<u32> { y.to_vec().unwrap().into_iter().map(f32::to_bits).collect() };
            assert!(bits(&s.apply(&identity(n), 0).unwrap()) == want, "{scaling:?} {d} x {n}");
            // Along rows, S^T of the identity is S.
            assert!(bits(&s.adjoint(&identity(d), 1).unwrap()) == want, "{scaling:?} {d} x {n}, adjoint");
        }
    }
}

#[test]
fn the_adjoint_is_the_adjoint() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    for n in lengths() {
        let s = sketch(rows_of(n), n).scaled(Scaling::Unscaled);
        let x = gpu.random::<f32>([n], Fill::Integers, 1).unwrap();
        let y = gpu.random::<f32>([rows_of(n)], Fill::Integers, 2).unwrap();
        let dot = |a: &Tensor<f32>, b: &Tensor<f32>| -> f64 {
            let (a, b) = (a.to_vec().unwrap(), b.to_vec().unwrap());
            a.iter().zip(&b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
        };
        let [sx, sty] = [s.apply(&x, 0).unwrap(), s.adjoint(&y, 0).unwrap()];
        assert_eq!(dot(&sx, &y), dot(&x, &sty), "{n}: integers, so exact");
    }
}

#[test]
fn an_orthonormal_operator_of_all_rows_keeps_norms_and_is_undone_by_its_transpose() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    for bits in if support::is_full_sweep() { 0..14 } else { 7..8 } {
        let n = 1 << bits;
        let s = sketch(n, n).scaled(Scaling::Orthonormal);
        let x = gpu.random::<f32>([n, 3], Fill::Uniform, 1).unwrap();
        let y = s.apply(&x, 0).unwrap();
        let norm = |t: &Tensor<f32>| -> f64 {
            t.to_vec().unwrap().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt()
        };
        assert!((norm(&y) / norm(&x) - 1.0).abs() < 1e-6, "2^{bits}: {} of {}", norm(&y), norm(&x));
        let back = s.adjoint(&y, 0).unwrap().to_vec().unwrap();
        let worst = back.iter().zip(x.to_vec().unwrap()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-5, "2^{bits}: {worst}");
    }
}

#[test]
fn launches_are_the_passes_and_nothing_of_the_operator_is_read() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    for (shape, axis) in [([50, 33], 0), ([4096, 80], 0), ([3, 70_000], 1)] {
        let n = shape[axis];
        let s = sketch(rows_of(n), n);
        let x = gpu.random::<f32>(shape, Fill::Uniform, 1).unwrap();
        let problem = HadamardProblem::new(&s, Direction::Forward, x.layout(), axis, DType::F32).unwrap();
        let pieces = problem.pieces(gpu.caps()).unwrap();
        let passes = pieces[0].passes(gpu.caps());
        let before = gpu.stats();
        let y = s.apply(&x, axis).unwrap();
        let after = gpu.stats();
        assert_eq!(after.launches - before.launches, passes.len() as u64, "{shape:?}");
        let read = after.bytes_bound_for_reading - before.bytes_bound_for_reading;
        let of_x = (x.len() as u64 * 4).next_multiple_of(16);
        match passes.len() {
            1 => assert_eq!(read, of_x, "{shape:?}: the operand and nothing else"),
            _ => {
                assert_eq!(read, of_x + (pieces[0].scratch_elements() * 4).next_multiple_of(16), "{shape:?}")
            }
        }
        drop(y);
    }
}

#[test]
fn a_scratch_beyond_what_can_be_bound_is_worked_on_in_pieces() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    for (shape, axis) in [([5000, 40], 0), ([40, 5000], 1)] {
        let s = sketch(1000, 5000).scaled(Scaling::Unscaled);
        let x = gpu.random::<f32>(shape, Fill::Integers, 1).unwrap();
        let mut caps = gpu.caps().clone();
        caps.limits.binding_bytes = 5000 * 40 * 4 + 256;
        let problem = HadamardProblem::new(&s, Direction::Forward, x.layout(), axis, DType::F32).unwrap();
        assert_eq!(
            problem.pieces(&caps).unwrap().len(),
            2,
            "8192 rows do not fit, of half of the columns they do"
        );
        let want = s.apply(&x, axis).unwrap().to_vec().unwrap();
        assert_eq!(
            apply_hadamard(&s, None, Direction::Forward, &x, axis, &caps).unwrap().to_vec().unwrap(),
            want
        );
        caps.limits.binding_bytes = 5000 * 40;
        fails(problem.pieces(&caps), Kind::Limit, &[]);
    }
}

#[test]
fn mistakes_are_errors() {
    let new = |d, n| Sketch::new(SketchKind::Hadamard, [d, n], 1);
    assert!(matches!(new(1, (1 << 24) + 1), Err(Error::Limit { needed: 16_777_217, .. })));
    assert!(new(1, 1 << 24).is_ok());
    assert!(matches!(new(5, 4), Err(Error::Shape { .. })));
    let gpu = support::noop();
    let x = gpu.zeros::<f32>([5, 6]).unwrap();
    let before = gpu.stats();
    assert!(matches!(new(2, 6).unwrap().apply(&x, 0), Err(Error::Shape { .. })), "5 is not 6");
    assert!(matches!(new(2, 6).unwrap().apply(&x, 2), Err(Error::Shape { .. })), "no axis 2");
    assert!(matches!(new(2, 6).unwrap().adjoint(&x, 1), Err(Error::Shape { .. })), "6 is not 2");
    assert_eq!(gpu.stats().launches, before.launches);
    assert_eq!(new(2, 6).unwrap().apply(&x, 1).unwrap().shape(), [5, 2]);
    let none = gpu.empty::<f32>([0, 6]).unwrap();
    assert_eq!(new(2, 6).unwrap().apply(&none, 1).unwrap().shape(), [0, 2]);
}
