//! Contiguous, aligned operands, which kernels move in vectors of 16 bytes: rows of every length, with NaN behind each.

use support::forms::Forms;
use support::laid::view;
use support::strided::{Lay, Placed, repeated};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types, values};
use tilewise::ops::Overflow;
use tilewise::planning::ops::{
    CastProblem, Elementwise, ElementwiseProblem, SoftmaxFunction, SoftmaxProblem,
};
use tilewise::planning::{Plan, Problem, fixtures};
use tilewise::reference;
use tilewise::{Activation, DType, Gpu, Layout, Real, Result, Tensor, ops};

const ROWS: [&[usize]; 8] =
    [&[3, 5], &[4, 13], &[2, 3, 8], &[2, 2, 3], &[5, 1], &[3, 16], &[2, 1, 7], &[2, 523]];

#[test]
fn vectors_are_stored_to_the_last_element_and_not_beyond() {
    fn test<T: Real>(gpu: &Gpu) {
        for n in (1..10).chain([15, 16, 17, 511, 512, 515, 1030]) {
            let [x, y] = [1, 2].map(|seed| values::<T>(&[n], 2.0, seed));
            let want = reference::add(&x, &y);
            let [a, b] = [&x, &y].map(|data| Placed::new(gpu, data, &[n], Lay::Plain));
            let mut c = Placed::new(gpu, &x, &[n], Lay::Vectors);
            c.tensor.assign(|| ops::add(&a.tensor, &b.tensor)).unwrap();
            assert_ok(&want.compare(&c.read()), (T::DTYPE, n));
            let mut c = Placed::new(gpu, &x, &[n], Lay::Plain);
            ops::add_assign(&mut c.tensor, &b.tensor).unwrap();
            assert_ok(&want.compare(&c.read()), (T::DTYPE, n, "in place"));
            let mut c = Placed::new(gpu, &x, &[n], Lay::Plain);
            ops::sub_assign(&mut c.tensor, &b.tensor).unwrap();
            assert_ok(&reference::sub(&x, &y).compare(&c.read()), (T::DTYPE, n, "subtracted in place"));
        }
    }
    for_all_types!(test);
    if let Some(gpu) = support::turn().planned_as_a_gpu() {
        test::<f32>(gpu);
    }
}

#[test]
fn aligned_rows_with_gaps_are_moved_in_vectors() {
    fn test<T: Real>(gpu: &Gpu) {
        for shape in ROWS {
            let n = shape[shape.len() - 1];
            let (x, y) = (values::<T>(shape, 2.0, 3), values::<T>(&[n], 1.0, 4));
            let [a, bias] = [(&x, shape), (&y, &[n][..])]
                .map(|(data, shape)| Placed::new(gpu, data, shape, Lay::Vectors));
            let want = reference::add(&x, &repeated(&y, &[n], shape));
            let mut c = Placed::new(gpu, &x, shape, Lay::Vectors);
            c.tensor.assign(|| ops::add(&a.tensor, &bias.tensor)).unwrap();
            assert_ok(&want.compare(&c.read()), (T::DTYPE, shape));
            let mut c = Placed::new(gpu, &x, shape, Lay::Vectors);
            ops::bias_add_assign(&mut c.tensor, &bias.tensor).unwrap();
            assert_ok(&want.compare(&c.read()), (T::DTYPE, shape, "in place"));
            let mut c = Placed::new(gpu, &x, shape, Lay::Vectors);
            c.tensor.assign(|| ops::activate(&a.tensor, Activation::Gelu)).unwrap();
            let want = reference::activations(Activation::Gelu, &x);
            assert_ok(&want.compare(&c.read()), (T::DTYPE, shape, "gelu"));
        }
    }
    for_all_types!(test);
    if let Some(gpu) = support::turn().planned_as_a_gpu() {
        test::<f32>(gpu);
    }
}

/// Shapes and layouts whose rows are aligned.
fn aligned() -> impl Iterator<Item = (&'static [usize], Lay)> {
    let single: [&[usize]; 4] = [&[7], &[1, 4103], &[3, 4104], &[70, 8]];
    ROWS.map(|shape| (shape, Lay::Vectors)).into_iter().chain(single.map(|shape| (shape, Lay::Plain)))
}

/// Part of the sweep of reductions.
pub(crate) fn aligned_rows_are_reduced(turn: &Turn, forms: &mut Forms) {
    type Reduced<T> = fn(&Tensor<T>, usize) -> Result<Tensor<T>>;
    type Defined<T> = fn(&[T], [usize; 3]) -> reference::Definition;
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let functions: [(Reduced<T>, Defined<T>); 2] = [
            (|a, axis| ops::sum(a, axis), reference::sum),
            (|a, axis| ops::max_abs(a, axis), reference::max_abs),
        ];
        for (shape, lay) in aligned() {
            for (at, (function, defined)) in functions.into_iter().enumerate() {
                let axis = shape.len() - 1;
                let x = values::<T>(shape, 3.0, 7);
                let run = |gpu: &Gpu| function(&Placed::new(gpu, &x, shape, lay).tensor, axis).unwrap();
                if !forms.takes(gpu, ("aligned", at, shape), run) {
                    continue;
                }
                let dims = [shape[..axis].iter().product(), shape[axis], 1];
                let (got, want) = (run(gpu).to_vec().unwrap(), defined(&x, dims));
                assert_ok(&want.compare(&got), (T::DTYPE, shape, lay));
                assert_eq!(got, run(gpu).to_vec().unwrap(), "same plan, same bits");
                let is_exact = got.iter().zip(&want.value).all(|(got, want)| got.to_f64() == *want);
                assert!(at == 0 || is_exact, "{} {shape:?} {lay:?}", T::DTYPE);
            }
        }
    }
    for_all_types!(turn, test, forms);
}

/// Part of the sweep of softmax.
pub(crate) fn aligned_rows_have_a_softmax(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (shape, lay) in aligned() {
            let axis = shape.len() - 1;
            let x = values::<T>(shape, 3.0, 7);
            let run = |gpu: &Gpu| ops::softmax(&Placed::new(gpu, &x, shape, lay).tensor, axis).unwrap();
            if forms.takes(gpu, ("aligned", shape), run) {
                let dims = [shape[..axis].iter().product(), shape[axis], 1];
                let got = run(gpu).to_vec().unwrap();
                assert_ok(&reference::softmax(&x, dims).compare(&got), (T::DTYPE, shape, lay));
                assert_eq!(got, run(gpu).to_vec().unwrap(), "same plan, same bits");
            }
        }
    }
    for_all_types!(turn, test, forms);
}

/// The shader of a plan of one step.
fn shader(plan: tilewise::Result<Plan>) -> String {
    let plan = plan.unwrap();
    assert_eq!(plan.steps().len(), 1);
    plan.steps()[0].kernel.to_string()
}

#[test]
fn plans_move_vectors_if_all_rows_are_contiguous_and_aligned() {
    let layout = |shape: &[usize], strides: &[usize], offset| view(shape, strides, offset);
    let caps = fixtures::h200();
    let plane = layout(&[24, 40], &[40, 1], 0);
    let add = |dtype, b: &Layout, c: &Layout| {
        let problem = ElementwiseProblem::of_one_type(Elementwise::ADD, &[&plane, b], c, dtype).unwrap();
        shader(problem.plan(&caps)).starts_with("ops/elementwise_vectors")
    };
    let padded = layout(&[24, 40], &[44, 1], 8);
    for (b, single, half) in [
        (&plane, true, true),
        (&layout(&[40], &[1], 0), true, true),
        (&layout(&[40], &[1], 4), true, false),
        (&padded, true, false),
        (&layout(&[24, 40], &[40, 1], 1), false, false),
        (&layout(&[24, 40], &[1, 24], 0), false, false),
        // One element for a whole row, wherever it is.
        (&layout(&[24, 1], &[1, 1], 3), true, true),
        (&layout(&[], &[], 5), true, true),
    ] {
        assert_eq!(add(DType::F32, b, &plane), single, "{b:?}");
        assert_eq!([DType::F16, DType::Bf16].map(|dtype| add(dtype, b, &plane)), [half; 2], "{b:?}");
        assert!(!add(DType::F32, b, &layout(&[24, 40], &[42, 1], 0)), "{b:?}");
    }
    let softmax = |dtype, a: &Layout| {
        let kernel =
            shader(SoftmaxProblem::new(SoftmaxFunction::Softmax, a, None, 1, dtype).unwrap().plan(&caps));
        kernel.contains("row_of_a:vectors")
    };
    assert!(softmax(DType::F32, &plane) && softmax(DType::F16, &plane) && softmax(DType::F32, &padded));
    assert!(!softmax(DType::F16, &padded) && !softmax(DType::F32, &plane.t()));
    assert!(!softmax(DType::F32, &layout(&[24, 39], &[40, 1], 0)), "rows of the result are not aligned");
    assert!(softmax(DType::F32, &layout(&[1, 39], &[40, 1], 0)), "a single row");
    let cast = |a: &Layout| {
        let problem = CastProblem::new(a, DType::F32, DType::F16, Overflow::Rust).unwrap();
        shader(problem.plan(&caps)).starts_with("ops/cast_vectors")
    };
    assert!(cast(&plane) && cast(&layout(&[3, 1, 5], &[5, 7, 1], 8)));
    assert!(!cast(&padded) && !cast(&plane.t()) && !cast(&layout(&[40], &[1], 4)));
    assert!(!cast(&layout(&[3, 5], &[0, 1], 0)), "a repeated row");
}

#[test]
fn a_sum_of_vectors_has_the_bits_of_a_sum_of_elements() {
    fn test<T: Real>(gpu: &Gpu) {
        let (x, y) = (values::<T>(&[40, 24], 2.0, 5), values::<T>(&[24], 2.0, 6));
        let sums = [Lay::Plain, Lay::Odd].map(|lay| {
            let [a, b] = [(&x, &[40, 24][..]), (&y, &[24][..])]
                .map(|(data, shape)| Placed::new(gpu, data, shape, lay));
            ops::add(&a.tensor, &b.tensor).unwrap().to_vec().unwrap()
        });
        assert_eq!(sums[0], sums[1], "{}", T::DTYPE);
    }
    for_all_types!(test);
}
