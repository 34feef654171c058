//! Sparse operators against their entries: every kind, both ways, along each axis of views of every type.

use super::shares::shares;
use support::failure::{Kind, fails};
use support::strided::{Lay, Placed};
use tilewise::planning::Problem;
use tilewise::planning::sketch::SparseProblem;
use tilewise::reference::gamma;
use tilewise::sketch::{Direction, MAX_NONZEROS, Scaling, Sketch, SketchKind, SparseAxis};
use tilewise::{DType, Element, Error, Fill, Gpu, Real, Tensor, bf16, f16};

const KINDS: [SketchKind; 4] = [
    SketchKind::CountSketch,
    SketchKind::Sjlt { nonzeros: 3 },
    SketchKind::SparseSign { axis: SparseAxis::Short, nonzeros: 4 },
    SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros: 3 },
];
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Adjoint];

fn apply<T: Real>(
    sketch: &Sketch,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
) -> tilewise::Result<Tensor<f32>> {
    if direction == Direction::Forward { sketch.apply(x, axis) } else { sketch.adjoint(x, axis) }
}

/// The result and the sum of absolute values, both in f64, and the most nonzeros that one element has.
fn defined<T: Real>(
    sketch: &Sketch,
    direction: Direction,
    x: &[T],
    shape: &[usize],
    axis: usize,
) -> (Vec<f64>, Vec<f64>, usize) {
    let [d, n] = sketch.shape();
    let entries = sketch.to_vec();
    let (lines, to) = if direction == Direction::Forward { (n, d) } else { (d, n) };
    assert_eq!(shape[axis], lines);
    let entry = |i: usize, j: usize| {
        f64::from(if direction == Direction::Forward { entries[i * n + j] } else { entries[j * n + i] })
    };
    let [outer, inner] = [&shape[..axis], &shape[axis + 1..]].map(|s| s.iter().product::<usize>());
    let (mut value, mut magnitude) = (vec![], vec![]);
    for o in 0..outer {
        for i in 0..to {
            for c in 0..inner {
                let terms = (0..lines).map(|j| entry(i, j) * x[(o * lines + j) * inner + c].to_f64());
                let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                value.push(sum);
                magnitude.push(size);
            }
        }
    }
    let unit = unit(sketch);
    // An entry of twice the unit was drawn twice.
    let times = |entry: f64| (0..64).take_while(|&t| (f64::from(t) + 0.5) * unit < entry.abs()).count();
    let most = (0..to).map(|i| (0..lines).map(|j| times(entry(i, j))).sum()).max().unwrap_or(0);
    (value, magnitude, most)
}

/// What one nonzero is.
fn unit(sketch: &Sketch) -> f64 {
    let least =
        sketch.to_vec().into_iter().map(f32::abs).filter(|&entry| entry > 0.0).fold(f32::INFINITY, f32::min);
    f64::from(least)
}

fn check<T: Real>(gpu: &Gpu, sketch: &Sketch, direction: Direction, shape: &[usize], axis: usize, lay: Lay) {
    let what = format!("{sketch:?} {direction:?} {} {shape:?} along {axis}, {lay:?}", T::DTYPE);
    let len = shape.iter().product();
    for (fill, scaling) in [(Fill::Integers, Scaling::Unscaled), (Fill::Uniform, Scaling::Isometry)] {
        let sketch = sketch.scaled(scaling);
        let x = fill.values::<T>(len, 5);
        let placed = Placed::new(gpu, &x, shape, lay);
        let y =
            apply(&sketch, direction, &placed.tensor, axis).unwrap_or_else(|error| panic!("{what}: {error}"));
        let (value, magnitude, most) = defined(&sketch, direction, &x, shape, axis);
        let got = y.to_vec().unwrap();
        assert_eq!(y.shape().len(), shape.len(), "{what}");
        if fill == Fill::Integers {
            let want: Vec<f32> = value.iter().map(|&v| Element::from_f64(v)).collect();
            assert_eq!(got, want, "{what}");
        } else {
            // A place drawn with both signs has no entry, and rounds what it is added to: not more than once, here.
            let long = matches!(sketch.kind(), SketchKind::SparseSign { axis: SparseAxis::Long, .. });
            let unseen = if long { 2.0 * unit(&sketch) } else { 0.0 };
            for (i, ((&got, want), size)) in got.iter().zip(value).zip(magnitude).enumerate() {
                let bound = gamma(most + 1) * (size + unseen) + (most + 1) as f64 * 2f64.powi(-126);
                let off = (f64::from(got) - want).abs();
                assert!(off <= bound, "{what}: [{i}] is {got}, not {want}: off by {off}, allowed {bound}");
            }
        }
        let again = apply(&sketch, direction, &placed.tensor, axis).unwrap().to_vec().unwrap();
        assert_eq!(
            got.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
            again.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
            "{what}"
        );
    }
}

#[test]
fn every_kind_agrees_with_its_entries_along_every_axis_of_every_rank() {
    // Extents beside the axis; which of them it is goes round.
    const BESIDE: [&[usize]; 6] = [&[], &[70], &[5, 9], &[2, 3, 5], &[3, 1, 2, 4], &[2, 3, 1, 2, 3]];
    fn test<T: Real>(gpu: &Gpu, every: usize) {
        let mut case = 0;
        for beside in BESIDE {
            for axis in 0..=beside.len() {
                for kind in KINDS {
                    for [d, n] in [[7, 50], [37, 11]] {
                        case += 1;
                        if case % every > 0 {
                            continue;
                        }
                        let sketch = Sketch::new(kind, [d, n], case as u64).unwrap();
                        let direction = DIRECTIONS[(case + case / 8) % 2];
                        let extent = if direction == Direction::Forward { n } else { d };
                        let shape = [&beside[..axis], &[extent], &beside[axis..]].concat();
                        check::<T>(gpu, &sketch, direction, &shape, axis, Lay::ALL[case % 5]);
                    }
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

#[test]
fn pairs_of_columns_are_loaded_at_once_and_change_no_bit() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let Some(bare) = support::bare() else { return };
    for nonzeros in [1, 4] {
        let sketch = Sketch::new(SketchKind::Sjlt { nonzeros }, [96, 700], 3).unwrap();
        let data = Fill::Uniform.values::<f32>(700 * 1100, 6);
        for direction in DIRECTIONS {
            let rows = if direction == Direction::Forward { 700 } else { 96 };
            let on = |gpu: &Gpu, columns: usize| {
                let x = gpu.tensor(&data[..rows * columns], [rows, columns]).unwrap();
                let plan = sketch.plan(direction, &x, 0).unwrap().steps()[0].kernel.to_string();
                let y = apply(&sketch, direction, &x, 0).unwrap().to_vec().unwrap();
                (plan.contains("u64"), y.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
            };
            let columns: &[usize] =
                if nonzeros == 1 && direction == Direction::Forward { &[2, 33, 1100] } else { &[30] };
            for &columns in columns {
                let ((pairs, here), (none, there)) = (on(&gpu, columns), on(&bare, columns));
                assert_eq!((pairs, none), (gpu.caps().int64 && columns % 2 == 0, false), "{columns} columns");
                assert!(here == there, "{direction:?}, {nonzeros} nonzeros, {columns} columns");
            }
        }
    }
}

#[test]
fn a_slice_is_applied_to_where_it_lies() {
    for gpu in support::devices() {
        let whole = Fill::Integers.values::<f32>(60 * 33, 1);
        let x = gpu.tensor(&whole, [60, 33]).unwrap().slice(0, 3..53).unwrap().slice(1, 5..26).unwrap();
        let copy = gpu.tensor(&x.contiguous().unwrap().to_vec().unwrap(), [50, 21]).unwrap();
        let sketch = Sketch::new(KINDS[1], [7, 50], 2).unwrap();
        let [got, want] = [&x, &copy].map(|x| sketch.apply(x, 0).unwrap().to_vec().unwrap());
        assert_eq!(got, want);
    }
}

#[test]
fn applied_to_an_identity_an_operator_is_its_entries_bit_for_bit() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let identity = |n: usize| {
        let entries: Vec<f32> = (0..n * n).map(|i| f32::from(u8::from(i % (n + 1) == 0))).collect();
        gpu.tensor(&entries, [n, n]).unwrap()
    };
    let most = SketchKind::Sjlt { nonzeros: MAX_NONZEROS };
    let long = SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros: MAX_NONZEROS };
    // More nonzeros than are sorted at once, all places in one range and in several, and all lines in one place.
    let shapes = [[300, 700], [64, 64], [5, 40], [400, 150], [1, 1000]];
    for (i, shape @ [d, n]) in shapes.into_iter().take(support::by_sweep(5, 1, 1)).enumerate() {
        for kind in KINDS.into_iter().chain([most, long]) {
            let Ok(sketch) = Sketch::new(kind, shape, u64::MAX - i as u64) else { continue };
            let sketch = sketch.scaled(Scaling::Unscaled);
            let want = sketch.to_vec();
            assert_eq!(sketch.apply(&identity(n), 0).unwrap().to_vec().unwrap(), want, "{sketch:?}");
            assert_eq!(sketch.adjoint(&identity(d), 1).unwrap().to_vec().unwrap(), want, "{sketch:?}");
            let back = sketch.apply(&identity(n), 1).unwrap().t().contiguous().unwrap().to_vec().unwrap();
            assert_eq!(back, want, "{sketch:?}");
            let back = sketch.adjoint(&identity(d), 0).unwrap().t().contiguous().unwrap().to_vec().unwrap();
            assert_eq!(back, want, "{sketch:?}");
        }
    }
}

#[test]
fn an_application_is_one_launch_that_reads_the_operand_alone() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    for kind in KINDS {
        for direction in DIRECTIONS {
            for (axis, shape) in [(0, [3000, 200]), (1, [200, 3000]), (0, [3000, 2])] {
                let sketch = Sketch::new(kind, [3000, 3000], 3).unwrap();
                let x = gpu.random::<f32>(shape, Fill::Uniform, 1).unwrap();
                let problem = SparseProblem::new(&sketch, direction, x.layout(), axis, DType::F32).unwrap();
                let plan = problem.plan(gpu.caps()).unwrap();
                let before = gpu.stats();
                let y = apply(&sketch, direction, &x, axis).unwrap();
                let after = gpu.stats();
                let launches = plan.steps().len() as u64;
                let scratch: u64 = plan.temporaries().iter().sum();
                assert_eq!(launches, 1 + u64::from(scratch > 0), "{plan}");
                assert_eq!(after.launches - before.launches, launches, "{plan}");
                let bytes = 4 * x.len() as u64;
                let read = bytes + scratch;
                assert_eq!(after.bytes_bound_for_reading - before.bytes_bound_for_reading, read, "{plan}");
                assert_eq!(
                    after.bytes_bound_for_writing - before.bytes_bound_for_writing,
                    bytes + scratch,
                    "{plan}"
                );
                let made = after.buffers_created - before.buffers_created;
                assert!(made <= launches, "{made} buffers: {plan}");
                drop(y);
            }
        }
    }
}

#[test]
fn few_columns_and_rows_are_summed_in_parts() {
    for gpu in support::devices() {
        let sketch = Sketch::new(KINDS[1], [8, 20_000], 4).unwrap().scaled(Scaling::Unscaled);
        for (axis, shape) in [(0, [20_000, 3]), (1, [3, 20_000])] {
            let x = gpu.random::<f32>(shape, Fill::Integers, 1).unwrap();
            let problem =
                SparseProblem::new(&sketch, Direction::Forward, x.layout(), axis, DType::F32).unwrap();
            let plan = problem.plan(gpu.caps()).unwrap();
            assert!(plan.steps().len() == 2 && plan.temporaries()[0] >= 2 * 4 * problem.elements(), "{plan}");
            let (value, ..) = defined(&sketch, Direction::Forward, &x.to_vec().unwrap(), &shape, axis);
            let want: Vec<f32> = value.iter().map(|&v| Element::from_f64(v)).collect();
            assert_eq!(sketch.apply(&x, axis).unwrap().to_vec().unwrap(), want, "{plan}");
            let scaled = sketch.scaled(Scaling::Isometry);
            let [one, other] = [1, 2].map(|_| scaled.apply(&x, axis).unwrap().to_vec().unwrap());
            assert_eq!(one, other, "the same bits each time");
        }
    }
}

#[test]
fn what_is_no_operator_is_refused() {
    let sjlt = |nonzeros| SketchKind::Sjlt { nonzeros };
    let sign = |nonzeros, axis| SketchKind::SparseSign { axis, nonzeros };
    let new = |kind, shape| Sketch::new(kind, shape, 1);
    for kind in KINDS {
        assert!(matches!(new(kind, [0, 5]), Err(Error::Shape { .. })), "{kind:?}");
        assert!(matches!(new(kind, [5, 0]), Err(Error::Shape { .. })), "{kind:?}");
        assert!(matches!(new(kind, [5, 1 << 31]), Err(Error::Limit { .. })), "{kind:?}");
    }
    for kind in [sjlt(0), sign(0, SparseAxis::Short), sign(0, SparseAxis::Long)] {
        assert!(matches!(new(kind, [100, 200]), Err(Error::Input { .. })), "{kind:?}");
    }
    let beyond = MAX_NONZEROS + 1;
    for kind in [sjlt(beyond), sign(beyond, SparseAxis::Short), sign(beyond, SparseAxis::Long)] {
        assert!(matches!(new(kind, [100, 200]), Err(Error::Limit { .. })), "{kind:?}");
    }
    assert!(matches!(new(sjlt(6), [5, 200]), Err(Error::Shape { .. })));
    assert!(matches!(new(sign(6, SparseAxis::Short), [5, 200]), Err(Error::Shape { .. })));
    assert!(matches!(new(sign(6, SparseAxis::Short), [200, 5]), Err(Error::Shape { .. })));
    assert!(new(sign(6, SparseAxis::Long), [5, 200]).is_ok(), "places may be drawn twice");
}

#[test]
fn what_an_operator_does_not_fit_is_refused() {
    let Some(gpu) = support::gpu() else { return };
    let x = gpu.zeros::<f32>([50, 7]).unwrap();
    for kind in KINDS {
        let sketch = Sketch::new(kind, [7, 50], 1).unwrap();
        for (direction, axis) in [
            (Direction::Forward, 2),
            (Direction::Forward, 1),
            (Direction::Adjoint, 0),
            (Direction::Adjoint, 2),
        ] {
            fails(apply(&sketch, direction, &x, axis), Kind::Shape, &[]);
        }
        assert_eq!(sketch.apply(&gpu.zeros::<f32>([50, 0]).unwrap(), 0).unwrap().shape(), [7, 0]);
    }
    let dense = Sketch::new(SketchKind::Sign, [7, 50], 1).unwrap();
    fails(SparseProblem::new(&dense, Direction::Forward, x.layout(), 0, DType::F32), Kind::Input, &[]);
}
