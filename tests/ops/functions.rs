//! Functions of elements against their definitions, over the whole range of f32.

use support::forms::{self, Forms};
use support::strided::{Lay, Placed, repeated};
use support::values::{assert_ok, for_all_types, values};
use tilewise::ops::{Expr, Function};
use tilewise::planning::ops::{Elementwise, TensorCall, of_expressions, tensor_calls};
use tilewise::{DType, Element, Fill, Gpu, Real, Tensor, ops, reference};

/// Random words.
fn bits(len: u64, seed: u64) -> Vec<u32> {
    let mixed = |i: u64| ((i + seed * 1_000_003) ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..len).map(|i| (mixed(mixed(i) >> 17) >> 32) as u32).collect()
}

/// The integer of 8 bits that a larger one wraps to.
fn lowest_byte(word: i32) -> i8 {
    word.to_le_bytes()[0].cast_signed()
}

/// Reals of every size and sign, those where functions change, and those that are no numbers.
fn reals(seed: u64) -> Vec<f32> {
    let special = [0.0, 1.0, 0.5, 2.0, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN, 16_777_216.0];
    let bounds = [
        88.7228,
        88.7229,
        87.33,
        103.9,
        std::f32::consts::FRAC_1_SQRT_2,
        0.7072,
        1.0000001,
        0.99999994,
        399.9,
        400.1,
    ];
    let halves = (0..40).map(|i| i as f32 + 0.5);
    // Close to zeros of sine and cosine, where all leading digits cancel.
    let quarters = (1..200).chain([1000, 65_537, 8_388_609, 1_000_000_007]);
    let quarters = quarters.map(|i| f32::from_f64(f64::from(i) * std::f64::consts::FRAC_PI_2));
    let worst = [16_367_173.0 * 2f32.powi(72), 11_157_837.0, 10_295_993.0 * 2f32.powi(81), 1.0e30, 3.0e38];
    let random = bits(2048, seed).into_iter().map(f32::from_bits);
    let ordinary = Fill::Uniform.values::<f32>(1024, seed).into_iter().map(|x| x * 90.0);
    let all = special.into_iter().chain(bounds).chain(halves).chain(quarters).chain(worst);
    let both = all.flat_map(|x| [x, -x]);
    // A device may take subnormals for 0.
    both.chain(random).chain(ordinary).map(|x| if x.is_subnormal() { 0.0 } else { x }).collect()
}

/// Computes several functions by one kernel: which one, a second operand says.
fn selected<const N: usize>(gpu: &Gpu, functions: &[Function], operands: [&[f32]; N]) -> Vec<Vec<f32>> {
    let which: Vec<i32> = (0..).take(functions.len()).collect();
    let which = gpu.tensor(&which, [functions.len(), 1]).unwrap();
    let tensors = operands.map(|data| gpu.tensor(data, [data.len()]).unwrap());
    let [a, b] = [&tensors[0], &tensors[N - 1]];
    let launches = gpu.stats().launches;
    let found: Tensor<f32> =
        ops::map(&[&which, a, b], |[which, a, b]| one_of(functions, &which, [&a, &b])).unwrap();
    assert_eq!(gpu.stats().launches, launches + 1);
    found.to_vec().unwrap().chunks(operands[0].len()).map(<[f32]>::to_vec).collect()
}

/// The function of a number.
fn one_of(functions: &[Function], which: &Expr, [a, b]: [&Expr; 2]) -> Expr {
    let of = |function: &Function| as_reals(*function, [a, b, a]);
    let others = (1_i32..).zip(&functions[1..]);
    others.fold(of(&functions[0]), |others, (at, function)| which.equal(at).select(of(function), others))
}

/// The function of a number, of integers.
fn one_of_integers(functions: &[Function], which: &Expr, [a, b]: [&Expr; 2]) -> Expr {
    let of = |function: &Function| of_expressions(*function, [a, b, a]);
    let others = (1_i32..).zip(&functions[1..]);
    others.fold(of(&functions[0]), |others, (at, function)| which.equal(at).select(of(function), others))
}

/// A function of expressions. Masks and integers become reals.
pub(crate) fn as_reals(function: Function, operands: [&Expr; 3]) -> Expr {
    let value = of_expressions(function, operands);
    match Elementwise::from(function).result_type(DType::F32) {
        DType::I8 => value.to_integer().to_real(),
        _ if function == Function::ToInteger => value.to_real(),
        _ => value,
    }
}

/// The functions of this many reals.
fn of_reals(operands: usize) -> Vec<Function> {
    let takes = |function: &Function| {
        Elementwise::from(*function).takes(DType::F32) || *function == Function::ToInteger
    };
    Function::ALL.into_iter().filter(|function| function.operands() == operands).filter(takes).collect()
}

/// Asserts that results are the definition's within its bound. Where it is no number, neither are they.
fn assert_defined(function: Function, operands: &[&[f32]], found: &[f32]) {
    let wide: Vec<Vec<f64>> =
        operands.iter().map(|operand| operand.iter().map(|x| f64::from(*x)).collect()).collect();
    let wide: Vec<&[f64]> = wide.iter().map(Vec::as_slice).collect();
    let mut want = reference::apply(function, &wide);
    if function == Function::ToInteger {
        want.value.iter_mut().for_each(|value| *value = f64::from(f32::from_f64(*value)));
    }
    for (i, found) in found.iter().enumerate() {
        let given: Vec<f32> = operands.iter().map(|operand| operand[i]).collect();
        let (value, tolerance) = (want.value[i], want.tolerance[i]);
        let found = f64::from(*found);
        let is_right = found == value
            || (found.is_nan() && value.is_nan())
            || (found - value).abs() <= tolerance
            // Just within the range of f32, or just beyond.
            || (found.is_infinite() && value.abs() + tolerance >= f64::from(f32::MAX) && found.signum() == value.signum());
        assert!(is_right, "{function} of {given:?}: {found}, not {value} within {tolerance:e}");
    }
}

#[test]
fn functions_of_one_real_agree_with_their_definitions_everywhere() {
    let functions = of_reals(1);
    assert!(functions.len() >= 17, "{functions:?}");
    for gpu in support::turn().iter() {
        let x = reals(1);
        for functions in functions.chunks(8) {
            for (function, found) in functions.iter().zip(selected(gpu, functions, [&x])) {
                assert_defined(*function, &[&x], &found);
            }
        }
    }
}

#[test]
fn functions_of_two_reals_agree_with_their_definitions_everywhere() {
    let functions = of_reals(2);
    assert!(functions.len() >= 13, "{functions:?}");
    for gpu in support::turn().iter() {
        let mut pairs: Vec<[f32; 2]> =
            reals(2).into_iter().zip(reals(3).into_iter().rev()).map(Into::into).collect();
        let special =
            [0.0, 1.0, 2.0, 3.0, 0.5, 7.5, 1e-3, 3e4, f32::INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE];
        let special: Vec<f32> = special.into_iter().flat_map(|x| [x, -x]).collect();
        pairs.extend(special.iter().flat_map(|a| special.iter().map(move |b| [*a, *b])));
        // Powers that are numbers.
        let exponents = Fill::Uniform.values::<f32>(4096, 5);
        let bases = Fill::Uniform.values::<f32>(4096, 6);
        pairs.extend(bases.iter().zip(&exponents).map(|(x, y)| [(x * 40.0).exp2(), y * 4.0]));
        pairs.extend(bases.iter().zip(&exponents).map(|(x, y)| [1.0 + x * 1e-3, y * 8e4]));
        let [a, b] = [0, 1].map(|at| pairs.iter().map(|pair| pair[at]).collect::<Vec<f32>>());
        for functions in functions.chunks(7) {
            for (function, found) in functions.iter().zip(selected(gpu, functions, [&a, &b])) {
                assert_defined(*function, &[&a, &b], &found);
            }
        }
    }
}

/// Functions of one and of two numbers of any type, to numbers.
fn of_all<T: Element>() -> Vec<Function> {
    let calls = tensor_calls::<T>().into_iter();
    let of_numbers = calls.filter(|(_, call)| matches!(call, TensorCall::One(_) | TensorCall::Two(_)));
    of_numbers.map(|(function, _)| function).collect()
}

#[test]
fn every_type_and_layout_takes_functions_of_one_tensor() {
    fn test<T: Real>(gpu: &Gpu) {
        for (shape, lay) in [&[][..], &[77], &[5, 3, 7], &[31, 32], &[4, 0]].into_iter().zip(Lay::ALL) {
            let x = values::<T>(shape, 4.0, 5);
            let wide: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
            let a = Placed::new(gpu, &x, shape, lay);
            let launches = gpu.stats().launches;
            let c = ops::exp(&a.tensor).unwrap();
            assert_eq!(gpu.stats().launches - launches, u64::from(!x.is_empty()));
            let want = reference::apply(Function::Exp, &[&wide]);
            assert_ok(&want.compare(&c.to_vec().unwrap()), (T::DTYPE, shape, lay));
        }
    }
    for_all_types!(test);
}

#[test]
fn numbers_take_part_with_every_element_and_need_no_other_kernel() {
    fn test<T: Real>(gpu: &Gpu) {
        let x = values::<T>(&[5, 7], 3.0, 9);
        let a = gpu.tensor(&x, [5, 7]).unwrap();
        let divided = |number: f32| {
            let wide: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
            let want = reference::apply(Function::Div, &[&vec![f64::from(number); 35], &wide]);
            assert_ok(&want.compare(&(number / &a).unwrap().to_vec().unwrap()), (T::DTYPE, number));
        };
        divided(2.5);
        let before = gpu.stats();
        divided(-7.25);
        let after = gpu.stats();
        assert_eq!((after.pipelines, after.plans), (before.pipelines, before.plans), "the same kernel");
        // Numbers on either side, reals and whole ones.
        let of = |found: tilewise::Result<Tensor<T>>| found.unwrap().to_vec().unwrap();
        assert_eq!(of(&a - 1), of(&a - 1.0));
        assert_eq!(of(1 - &a), of(-&(&a - 1.0).unwrap()));
        assert_eq!(of(&a * 2.0), of(2 * &a));
        assert_eq!(of(ops::clamp(&a, -0.5, 0.5)), of(ops::minimum(&ops::maximum(&a, -0.5).unwrap(), 0.5)));
        assert_eq!(of(&a + &a), of(&a * 2));
    }
    for_all_types!(test);
}

#[test]
fn operands_of_rows_and_columns_are_read_in_place() {
    fn test<T: Real>(gpu: &Gpu) {
        // Rows of whole vectors, with one element for each row.
        for (shape, column) in [([6, 32], [6, 1]), ([5, 33], [5, 1]), ([3, 64], [1, 64])] {
            let (x, y) = (values::<T>(&shape, 2.0, 3), values::<T>(&column, 1.0, 4));
            let (a, b) = (gpu.tensor(&x, shape).unwrap(), Placed::new(gpu, &y, &column, Lay::Gaps));
            let before = gpu.stats();
            let c = (&a - &b.tensor).unwrap();
            assert_eq!(gpu.stats().launches, before.launches + 1);
            let want = reference::sub(&x, &repeated(&y, &column, &shape));
            assert_ok(&want.compare(&c.to_vec().unwrap()), (T::DTYPE, shape));
        }
    }
    for_all_types!(test);
}

#[test]
fn integers_are_exact_and_wrap() {
    fn test<T: Element>(gpu: &Gpu, [x, y]: [&[T]; 2], wrapped: fn(i32) -> T, forms: &mut Forms) {
        let as_i32 = |x: &[T]| x.iter().map(|x| i32::from_f64(x.to_f64())).collect::<Vec<i32>>();
        let (wide_x, wide_y) = (as_i32(x), as_i32(y));
        let functions = of_all::<T>();
        for lay in Lay::ALL {
            let shape = [3, x.len() / 3];
            // All functions by one kernel, in turn along a new first axis.
            let run = |gpu: &Gpu| {
                let [a, b] = [x, y].map(|data| Placed::new(gpu, data, &shape, lay).tensor);
                let which: Vec<i32> = (0..).take(functions.len()).collect();
                let which = gpu.tensor(&which, [functions.len(), 1, 1]).unwrap();
                let all = ops::map(&[&which, &a, &b], |[which, a, b]| {
                    one_of_integers(&functions, &which, [&a, &b])
                });
                all.unwrap()
            };
            if forms.takes(gpu, (T::DTYPE, "functions"), run) {
                let found: Vec<T> = run(gpu).to_vec().unwrap();
                for (function, found) in functions.iter().zip(found.chunks(x.len())) {
                    let operands = [&wide_x[..], &wide_y];
                    let operands = &operands[..function.operands()];
                    let want = reference::apply_integers(*function, operands).unwrap();
                    let want: Vec<T> = want.into_iter().map(wrapped).collect();
                    assert_eq!(found, want, "{function} of {}, {lay:?}", T::DTYPE);
                }
            }
            // In place, beside other elements.
            let run = |gpu: &Gpu| {
                let (a, mut c) = (Placed::new(gpu, x, &shape, lay), Placed::new(gpu, y, &shape, lay));
                ops::add_assign(&mut c.tensor, &a.tensor).unwrap();
                c
            };
            if forms.takes(gpu, (T::DTYPE, "in place"), run) {
                let want = reference::apply_integers(Function::Add, &[&wide_y, &wide_x]).unwrap();
                assert_eq!(run(gpu).read(), want.into_iter().map(wrapped).collect::<Vec<T>>(), "{lay:?}");
            }
        }
    }
    let words = |seed| bits(201, seed).into_iter().map(u32::cast_signed).collect::<Vec<i32>>();
    let [mut x, y] = [words(1), words(2)];
    x[..4].copy_from_slice(&[i32::MIN, i32::MAX, 0, -1]);
    let bytes = |words: &[i32]| words.iter().copied().map(lowest_byte).collect::<Vec<i8>>();
    forms::sweep(14, |turn, forms| {
        for gpu in turn.iter() {
            test::<i32>(gpu, [&x, &y], |value| value, forms);
            test::<i8>(gpu, [&bytes(&x), &bytes(&y)], lowest_byte, forms);
        }
    });
}
