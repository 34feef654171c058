//! Elementwise operations against their definitions: every type and layout, on devices with f16 and without. The
//! activations' own accuracy: `accuracy.rs`; sums and softmax: `rows.rs`.

use support::failure::{Kind, fails};
use support::laid::flat;
use support::strided::{Lay, Placed, repeated};
use support::values::{assert_ok, for_all_types, values};
use tilewise::reference::{self, Definition};
use tilewise::{Activation, DType, Fill, Gpu, Real, Tensor, ops};

type Both<T> = fn(&Tensor<T>, &Tensor<T>) -> tilewise::Result<Tensor<T>>;
type BothInto<T> = fn(&Tensor<T>, &Tensor<T>, &mut Tensor<T>) -> tilewise::Result<()>;
type Defined<T> = fn(&[T], &[T]) -> Definition;

type Binary<T> = (&'static str, Both<T>, BothInto<T>, Defined<T>);

fn binary<T: Real>() -> [Binary<T>; 3] {
    [
        ("add", |a, b| ops::add(a, b), |a, b, c| c.assign(|| ops::add(a, b)), reference::add),
        ("sub", |a, b| ops::sub(a, b), |a, b, c| c.assign(|| ops::sub(a, b)), reference::sub),
        ("mul", |a, b| ops::mul(a, b), |a, b, c| c.assign(|| ops::mul(a, b)), reference::mul),
    ]
}

/// Shapes of two operands, and of the result.
const BROADCASTS: [[&[usize]; 3]; 12] = [
    [&[], &[], &[]],
    [&[1], &[], &[1]],
    [&[7], &[7], &[7]],
    [&[3, 1], &[4], &[3, 4]],
    [&[5], &[6, 1], &[6, 5]],
    [&[33, 65], &[33, 65], &[33, 65]],
    [&[33, 64], &[1, 64], &[33, 64]],
    [&[2, 3, 4, 5, 2, 3], &[2, 3, 4, 5, 2, 3], &[2, 3, 4, 5, 2, 3]],
    [&[2, 1, 4, 1, 2, 3], &[3, 1, 5, 1, 3], &[2, 3, 4, 5, 2, 3]],
    [&[1, 1, 1], &[9, 1, 11], &[9, 1, 11]],
    [&[0, 3], &[1, 3], &[0, 3]],
    [&[4, 1], &[4, 0], &[4, 0]],
];

#[test]
fn sums_differences_and_products_agree_with_their_definition() {
    fn test<T: Real>(gpu: &Gpu) {
        for (case, [sa, sb, sc]) in BROADCASTS.into_iter().enumerate() {
            let (a, b) = (values::<T>(sa, 3.0, 1), values::<T>(sb, 2.0, 2));
            let wide = [repeated(&a, sa, sc), repeated(&b, sb, sc)];
            for lay in 0..5 {
                let pick = |step: usize| Lay::ALL[(lay * step + case) % 5];
                let placed_a = Placed::new(gpu, &a, sa, pick(1));
                let placed_b = Placed::new(gpu, &b, sb, pick(2));
                for (name, op, op_into, defined) in binary::<T>() {
                    let want = defined(&wide[0], &wide[1]);
                    let what = (name, T::DTYPE, sa, sb, lay);
                    let before = gpu.stats();
                    let c = op(&placed_a.tensor, &placed_b.tensor).unwrap();
                    let launches = gpu.stats().launches - before.launches;
                    assert_eq!(launches, u64::from(!c.is_empty()), "{what:?}");
                    assert_eq!(c.shape(), sc, "{what:?}");
                    let got = c.to_vec().unwrap();
                    assert_ok(&want.compare(&got), what);
                    let nan = vec![T::from_f64(f64::NAN); got.len()];
                    let mut c = Placed::new(gpu, &nan, sc, pick(3));
                    op_into(&placed_a.tensor, &placed_b.tensor, &mut c.tensor).unwrap();
                    assert_eq!(c.read(), got, "{what:?}: the same, whatever the output's layout");
                }
            }
        }
    }
    for_all_types!(test);
}

#[test]
fn activations_hand_gradients_back() {
    fn test<T: Real>(gpu: &Gpu) {
        let shape = [5, 3, 13];
        let (a, g) = (values::<T>(&shape, 4.0, 1), values::<T>(&shape, 2.0, 2));
        let want = reference::activations_backward(Activation::Gelu, &a, &g);
        for lay in 0..5 {
            let placed_a = Placed::new(gpu, &a, &shape, Lay::ALL[lay]);
            let placed_g = Placed::new(gpu, &g, &shape, Lay::ALL[(2 * lay + 1) % 5]);
            let found = ops::activate_backward(&placed_a.tensor, &placed_g.tensor, Activation::Gelu).unwrap();
            assert_ok(&want.compare(&found.to_vec().unwrap()), (T::DTYPE, lay));
        }
    }
    for_all_types!(test);
}

#[test]
fn integers_add_and_multiply_exactly() {
    fn test<T: Real>(gpu: &Gpu) {
        let [a, b] = [1, 2].map(|seed| gpu.random::<T>([37, 53], Fill::Integers, seed).unwrap());
        let [x, y] = [&a, &b].map(|t| t.to_vec().unwrap());
        let exact = |f: fn(f64, f64) -> f64| -> Vec<T> {
            x.iter().zip(&y).map(|(x, y)| T::from_f64(f(x.to_f64(), y.to_f64()))).collect()
        };
        assert_eq!(ops::add(&a, &b).unwrap().to_vec().unwrap(), exact(|x, y| x + y));
        assert_eq!(ops::sub(&a, &b).unwrap().to_vec().unwrap(), exact(|x, y| x - y));
        assert_eq!(ops::mul(&a, &b).unwrap().to_vec().unwrap(), exact(|x, y| x * y));
    }
    for_all_types!(test);
}

#[test]
fn a_bias_is_added_in_place_in_one_launch_without_a_buffer() {
    fn test<T: Real>(gpu: &Gpu) {
        for shape in [&[5][..], &[33, 65], &[33, 64], &[1, 3], &[7, 1], &[2, 3, 4, 5, 2, 7], &[3, 0], &[0, 3]]
        {
            let n = shape[shape.len() - 1];
            let (x, bias_values) = (values::<T>(shape, 2.0, 3), values::<T>(&[n], 1.0, 4));
            let want = reference::add(&x, &repeated(&bias_values, &[n], shape));
            for (lay, bias_lay) in
                Lay::ALL.into_iter().zip([Lay::Plain, Lay::Gaps, Lay::Odd, Lay::Even, Lay::Gaps])
            {
                let mut placed = Placed::new(gpu, &x, shape, lay);
                let bias = Placed::new(gpu, &bias_values, &[n], bias_lay);
                let before = gpu.stats();
                ops::bias_add_assign(&mut placed.tensor, &bias.tensor).unwrap();
                let after = gpu.stats();
                assert_eq!(after.launches - before.launches, u64::from(!x.is_empty()));
                assert_eq!(after.buffers_created, before.buffers_created, "no buffer");
                assert_eq!(after.bytes_in_use, before.bytes_in_use, "no buffer");
                assert_ok(&want.compare(&placed.read()), (T::DTYPE, shape, lay));
                let want = reference::sub(&x, &repeated(&bias_values, &[n], shape));
                let mut placed = Placed::new(gpu, &x, shape, lay);
                ops::sub_assign(&mut placed.tensor, &bias.tensor).unwrap();
                assert_ok(&want.compare(&placed.read()), (T::DTYPE, shape, lay, "subtracted"));
            }
        }
    }
    for_all_types!(test);
}

#[test]
fn activations_of_every_type_and_layout_agree_with_their_definition() {
    fn test<T: Real>(gpu: &Gpu) {
        // What depends on the type is not what is computed: two functions will do beside f32.
        let all = if T::DTYPE == DType::F32 { &Activation::ALL[..] } else { &Activation::ALL[1..3] };
        let shapes: [&[usize]; 5] = [&[], &[77], &[5, 3, 7], &[31, 33], &[2, 2, 2, 2, 2, 3]];
        for (case, &activation) in all.iter().enumerate() {
            let cases: Vec<_> = shapes.into_iter().zip(Lay::ALL).collect();
            // The layouts take turns: which function it is makes no difference to them.
            let cases = if case < 3 { &cases[..] } else { &cases[case % 5..=case % 5] };
            for &(shape, lay) in cases {
                let x = values::<T>(shape, 9.0, 5);
                let want = reference::activations(activation, &x);
                let a = Placed::new(gpu, &x, shape, lay);
                let c = ops::activate(&a.tensor, activation).unwrap();
                let got = c.to_vec().unwrap();
                assert_eq!(c.shape(), shape);
                assert_ok(&want.compare(&got), (activation, T::DTYPE, shape, lay));
            }
            let empty = gpu.empty::<T>([3, 0]).unwrap();
            assert_eq!(ops::activate(&empty, activation).unwrap().shape(), [3, 0]);
        }
        let x = values::<T>(&[6, 10], 3.0, 5);
        let a = gpu.tensor(&x, [6, 10]).unwrap();
        let mut c = Placed::new(gpu, &x, &[6, 10], Lay::Gaps);
        c.tensor.assign(|| ops::activate(&a, Activation::Relu)).unwrap();
        assert_eq!(c.read(), ops::activate(&a, Activation::Relu).unwrap().to_vec().unwrap());
    }
    for_all_types!(test);
}

/// What a tensor is to be assigned is computed first.
#[test]
fn results_that_do_not_fit_a_tensor_are_errors() {
    let gpu = support::noop();
    let zeros = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let a = zeros(&[3, 4]);
    fails(zeros(&[4, 3]).assign(|| ops::add(&a, &a)), Kind::Shape, &["[4, 3]", "[3, 4]"]);
    fails(zeros(&[1, 3, 4]).assign(|| ops::add(&a, &a)), Kind::Shape, &["[1, 3, 4]", "[3, 4]"]);
    let mut repeated = zeros(&[4]).as_strided(&[3, 4], &[0, 1], 0).unwrap();
    fails(repeated.assign(|| ops::add(&a, &a)), Kind::Shape, &["overlap"]);
    let mut elsewhere = support::noop().zeros::<f32>([3, 4]).unwrap();
    fails(elsewhere.assign(|| ops::add(&a, &a)), Kind::Gpu, &["different"]);
    assert!(ops::add(&a, &a).is_ok(), "all works as before");
}

#[test]
fn axes_that_step_as_one_are_one() {
    use tilewise::planning::ops::{Elementwise, ElementwiseProblem};
    let gpu = support::noop();
    let a = gpu.zeros::<f32>([2, 3, 4, 5]).unwrap();
    let rank = |x: &Tensor<f32>, y: &Tensor<f32>| {
        let layouts = [x.layout(), y.layout()];
        let problem = ElementwiseProblem::of_one_type(Elementwise::ADD, &layouts, a.layout(), DType::F32);
        problem.unwrap().rank()
    };
    assert_eq!(rank(&a, &a), 1);
    assert_eq!(rank(&a, &gpu.zeros([5]).unwrap()), 2, "a bias");
    assert_eq!(rank(&a, &gpu.zeros([3, 1, 1]).unwrap()), 3, "an axis in the middle");
    assert_eq!(rank(&a, &gpu.zeros([]).unwrap()), 1, "a scalar");
}

#[test]
fn plans_fold_their_grid_and_bind_windows_of_what_is_too_large() {
    use tilewise::planning::Problem;
    use tilewise::planning::fixtures;
    use tilewise::planning::ops::{
        Elementwise, ElementwiseProblem, ReduceFunction, ReduceProblem, SoftmaxFunction, SoftmaxProblem,
    };
    let caps = fixtures::h200();
    let large = flat(&[1 << 14, 1 << 14]);
    let problem =
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&large; 2], &large, DType::F32).unwrap();
    let [x, y, z] = problem.plan(&caps).unwrap().steps()[0].grid;
    assert!(y > 1 && z == 1 && x <= 65_535 && u64::from(x) * u64::from(y) >= 1 << 19, "{x} {y} {z}");
    let rows = SoftmaxProblem::new(SoftmaxFunction::Softmax, &large, None, 1, DType::F32).unwrap();
    assert_eq!(rows.plan(&caps).unwrap().steps()[0].grid, [1 << 14, 1, 1]);
    let columns = ReduceProblem::new(ReduceFunction::Sum, &large, &[0], DType::F32).unwrap();
    let grids: Vec<[u32; 3]> = columns.plan(&caps).unwrap().steps().iter().map(|step| step.grid).collect();
    assert_eq!(grids, [[1 << 8, 1, 1], [1 << 6, 1, 1]], "columns, in parts");
    let mut small = caps.clone();
    small.limits.binding_bytes = 1 << 29;
    for plan in [problem.plan(&small), rows.plan(&small)] {
        let plan = plan.unwrap();
        let bound =
            plan.steps().iter().flat_map(|step| &step.args).map(|arg| arg.window.end - arg.window.start);
        assert!(plan.steps().len() == 2 && bound.max() == Some(1 << 29), "{plan}");
    }
    let row = flat(&[1, 1 << 28]);
    let row = SoftmaxProblem::new(SoftmaxFunction::Softmax, &row, None, 1, DType::F32).unwrap();
    fails(row.plan(&small), Kind::Limit, &[]);
}

#[test]
fn what_parts_import_is_pasted_once() {
    let kernel = tilewise::planning::kernel::Kernel::new("ops/softmax").specialize().unwrap();
    assert_eq!(kernel.matches("fn exp_of_sum(").count(), 1);
    assert_eq!(kernel.matches("fn save_c(").count(), 1, "imported by store_quad");
    let gpu = support::noop();
    let x = gpu.zeros::<f32>([3]).unwrap();
    let gelu = crate::texts::kernel_text(&gpu, || ops::activate(&x, Activation::Gelu));
    assert_eq!(gelu.matches("fn normal_of(").count(), 1, "imported by the slot's variant");
}
