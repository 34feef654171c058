//! Rotary position embeddings against their definition: every type, layout and pairing, forwards and backwards.

use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::planning::ops::RotaryPass;
use tilewise::reference::{self, Definition};
use tilewise::{Fill, Gpu, Real, Result, Tensor, f16};

const BASE: f64 = 10_000.0;

/// Shapes of two to six axes, and rotary dims: rows of whole vectors, of whole words, and others; with and without elements that
/// are kept; many rows and few.
const CASES: [(&[usize], usize); 14] = [
    (&[1, 2], 2),
    (&[5, 3], 2),
    (&[7, 6], 6),
    (&[9, 20], 12),
    (&[3, 17, 64], 64),
    (&[4, 5, 80], 32),
    (&[2, 3, 5, 16], 16),
    (&[2, 3, 4, 24], 8),
    (&[1, 2, 6, 128], 16),
    (&[2, 3, 4, 13], 10),
    (&[2, 1, 3, 2, 10], 4),
    (&[2, 3, 2, 2, 3, 32], 16),
    (&[2, 2, 1, 3, 5, 7], 6),
    (&[3, 130, 34], 22),
];

fn run<T: Real>(pass: RotaryPass, rotary: &Rotary, x: &Tensor<T>, start: usize) -> Result<Tensor<T>> {
    match pass {
        RotaryPass::Forward => rotary.apply(x, start),
        RotaryPass::Backward => rotary.backward(x, start),
    }
}

fn defined<T: Real>(
    pass: RotaryPass,
    x: &[T],
    shape: &[usize],
    of: (RotaryPairs, usize),
    positions: &[usize],
) -> Definition {
    let [outer @ .., length, dim] = shape else { panic!("two axes") };
    let angles = reference::rotary_angles(of.1, BASE, positions);
    let shape = [outer.iter().product(), *length, *dim];
    match pass {
        RotaryPass::Forward => reference::rotary(x, shape, of.0, &angles),
        RotaryPass::Backward => reference::rotary_backward(x, shape, of.0, &angles),
    }
}

#[test]
fn rotations_agree_with_their_definition() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, rotary_dims)) in CASES.into_iter().enumerate() {
            let x = values::<T>(shape, 2.0, 7);
            let length = shape[shape.len() - 2];
            for (i, pairs) in RotaryPairs::ALL.into_iter().enumerate() {
                for (j, lay) in [Lay::Plain, Lay::ALL[(case + i) % 5], Lay::Vectors].into_iter().enumerate() {
                    // The start is no part of a plan.
                    let (pass, start) = (RotaryPass::ALL[(case + i + j) % 2], [0, 3, 1000][j]);
                    let table = |gpu: &Gpu| Rotary::new(gpu, pairs, rotary_dims, BASE, 1000 + length);
                    let plan = |gpu: &Gpu| {
                        run(pass, &table(gpu).unwrap(), &Placed::new(gpu, &x, shape, lay).tensor, start)
                            .unwrap()
                    };
                    if !forms.takes(gpu, (shape, pairs), plan) {
                        continue;
                    }
                    let positions: Vec<usize> = (start..start + length).collect();
                    let want = defined(pass, &x, shape, (pairs, rotary_dims), &positions);
                    let (rotary, a) = (table(gpu).unwrap(), Placed::new(gpu, &x, shape, lay));
                    let before = gpu.stats().launches;
                    let y = run(pass, &rotary, &a.tensor, start).unwrap();
                    let by_view = y.to_vec();
                    // A result that is not row-major is copied for reading.
                    let copies = u64::from(!y.layout().is_contiguous());
                    assert_eq!(gpu.stats().launches - before, 1 + copies, "{shape:?} {lay:?}");
                    assert_eq!(y.shape(), shape);
                    let what = (T::DTYPE, shape, rotary_dims, pairs, pass, lay, start);
                    assert_ok(&want.compare(&by_view.unwrap()), what);
                }
            }
        }
        let rotary = Rotary::new(gpu, RotaryPairs::Halves, 4, BASE, 5).unwrap();
        for shape in [[0, 5, 4], [2, 0, 6]] {
            let empty = gpu.empty::<T>(shape).unwrap();
            let before = gpu.stats().launches;
            assert_eq!(rotary.apply(&empty, 0).unwrap().shape(), shape);
            assert_eq!(rotary.backward(&empty, 0).unwrap().shape(), shape);
            assert_eq!(gpu.stats().launches, before);
        }
    }
    forms::sweep(12, |turn, forms| for_all_types_and_a_gpu!(turn, test, forms));
}

#[test]
fn the_result_is_in_memory_as_the_operand_is() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let [batch, length, heads, dim] = [2, 5, 3, 16];
    let rotary = Rotary::new(gpu, RotaryPairs::Halves, 8, BASE, 9).unwrap();
    let tensor = gpu.random::<f32>([batch, length, heads, dim], Fill::Uniform, 1).unwrap();
    let of = |axes: &[usize]| rotary.apply(&tensor.permute(axes).unwrap(), 2).unwrap();

    let before = gpu.stats().launches;
    let y = of(&[0, 2, 1, 3]);
    assert_eq!(gpu.stats().launches - before, 1, "no copy");
    assert_eq!(y.shape(), [batch, heads, length, dim]);
    assert_eq!(y.strides(), [length * heads * dim, dim, heads * dim, 1]);
    assert!(y.permute(&[0, 2, 1, 3]).unwrap().layout().is_contiguous());
    // The same numbers as of a copy, to the bit.
    let copy = tensor.permute(&[0, 2, 1, 3]).unwrap().contiguous().unwrap();
    let of_copy = rotary.apply(&copy, 2).unwrap();
    assert!(of_copy.layout().is_contiguous());
    assert_eq!(y.to_vec().unwrap(), of_copy.to_vec().unwrap());

    // The last axis is always the innermost.
    let of_columns = rotary.apply(&tensor.slice(2, ..1).unwrap().squeeze(2).unwrap().t(), 0);
    assert!(of_columns.is_err(), "five elements are no eight");
    let wide = gpu.random::<f32>([8, 4], Fill::Uniform, 1).unwrap().t();
    assert_eq!(rotary.apply(&wide, 0).unwrap().strides(), [8, 1]);
    // Of a tensor with gaps, and of one whose heads share their elements.
    let gaps = tensor.slice(3, ..12).unwrap().permute(&[2, 0, 1, 3]).unwrap();
    assert_eq!(rotary.apply(&gaps, 0).unwrap().strides(), [12, length * heads * 12, heads * 12, 1]);
    let shared = tensor.slice(2, ..1).unwrap().permute(&[0, 2, 1, 3]).unwrap();
    let shared = shared.broadcast_to([batch, heads, length, dim]).unwrap();
    let y = rotary.apply(&shared, 0).unwrap();
    assert!(y.layout().is_contiguous());
    let x = shared.to_vec().unwrap();
    let positions: Vec<usize> = (0..length).collect();
    let want = defined(RotaryPass::Forward, &x, shared.shape(), (RotaryPairs::Halves, 8), &positions);
    assert_ok(&want.compare(&y.to_vec().unwrap()), "shared");
}

#[test]
fn tables_hold_any_positions_and_rows_one_by_one_are_those_of_all() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    for pairs in RotaryPairs::ALL {
        let all = Rotary::new(gpu, pairs, 8, BASE, 1012).unwrap();
        assert_eq!((all.pairs(), all.rotary_dims(), all.positions()), (pairs, 8, 1012));
        let positions = [1000, 1001, 3, 0, 3, 1011];
        let given = Rotary::at_positions(gpu, pairs, 8, BASE, &positions).unwrap();
        let x = gpu.random::<f32>([6, 2, 6, 10], Fill::Uniform, 3).unwrap();
        let whole = given.apply(&x, 0).unwrap();
        for (row, position) in positions.into_iter().enumerate() {
            let one = |x: &Tensor<f32>| x.slice(2, row..=row).unwrap();
            assert_eq!(
                all.apply(&one(&x), position).unwrap().to_vec().unwrap(),
                one(&whole).to_vec().unwrap(),
                "{pairs:?}: position {position}"
            );
        }
        // The table: rounded from f64, also where f32 has no fraction left.
        let far = [(1 << 24) - 1, 123_456_789, 131_071];
        let table = Rotary::at_positions(gpu, pairs, 8, BASE, &far).unwrap();
        let angles = reference::rotary_angles(8, BASE, &far);
        for (of, exact) in [(table.cosines(), f64::cos as fn(f64) -> f64), (table.sines(), f64::sin)] {
            assert_eq!((of.shape(), of.layout().is_contiguous()), (&[3, 4][..], true));
            for (found, angle) in of.to_vec().unwrap().into_iter().zip(&angles) {
                let exact = exact(*angle);
                assert!((f64::from(found) - exact).abs() <= exact.abs() * 2f64.powi(-24), "{angle}: {found}");
            }
        }
    }
    let none = Rotary::at_positions(gpu, RotaryPairs::Halves, 4, BASE, &[]).unwrap();
    assert_eq!((none.positions(), none.cosines().shape()), (0, &[0, 2][..]));
}

#[test]
fn what_is_not_rotated_keeps_its_bits_and_nan_stays_in_its_pair() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    for (pairs, [first, second]) in RotaryPairs::ALL.into_iter().zip([[1, 3], [2, 3]]) {
        let rotary = Rotary::new(gpu, pairs, 4, BASE, 4).unwrap();
        let odd = [f16::INFINITY, f16::MAX, -f16::MIN_POSITIVE, f16::NEG_INFINITY];
        for width in [8, 24] {
            let mut x = vec![f16::ONE; 2 * width];
            x[width - 4..width].copy_from_slice(&odd);
            x[width + second] = f16::NAN;
            let y = rotary.apply(&gpu.tensor(&x, [2, width]).unwrap(), 1).unwrap().to_vec().unwrap();
            assert_eq!(y[4..width], x[4..width], "{pairs:?}");
            assert_eq!(y[width + 4..], x[width + 4..]);
            let is_nan: Vec<usize> = (0..2 * width).filter(|&at| y[at].is_nan()).collect();
            assert_eq!(is_nan, [width + first, width + second], "{pairs:?}");
        }
    }
}

/// Queries and keys that are rotated have scalar products that depend on the distance of their positions only.
#[test]
fn scalar_products_depend_on_the_distance() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let [q, k] = [1, 2].map(|seed| gpu.random::<f32>([1, 32], Fill::Uniform, seed).unwrap());
    for pairs in RotaryPairs::ALL {
        let rotary = Rotary::new(gpu, pairs, 32, BASE, 5000).unwrap();
        let product = |at: usize, to: usize| {
            let [q, k] = [(&q, at), (&k, to)].map(|(x, at)| rotary.apply(x, at).unwrap().to_vec().unwrap());
            q.iter().zip(k).map(|(q, k)| f64::from(*q) * f64::from(k)).sum::<f64>()
        };
        let (near, far) = (product(7, 3), product(4903, 4899));
        assert!((near - far).abs() < 1e-5, "{pairs:?}: {near} and {far}");
        assert!((near - product(3, 7)).abs() > 1e-3, "{pairs:?}: the sign of the distance matters");
    }
}
