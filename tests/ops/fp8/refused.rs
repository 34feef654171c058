//! Operations that compute do not take numbers of 8 bits, and say what to do.

use super::{Fp8, of_both};
use support::laid;
use tilewise::planning::Problem;
use tilewise::planning::gemm::{GemmProblem, GemmTypes};
use tilewise::planning::ops::{
    CumsumProblem, Elementwise, ElementwiseProblem, NormalProblem, ReduceFunction, ReduceProblem,
    ScatterProblem, Target,
};
use tilewise::{DType, Error, Gpu, Result, Tensor, ops};

fn assert_refused<X>(result: Result<X>, op: &str, dtype: DType) {
    match result.err() {
        Some(Error::Input { what, why }) => {
            assert_eq!(what, format!("{op}: the elements"));
            let advice =
                format!("it does not compute with {dtype}: `cast` the tensor first, for example to f32");
            assert_eq!(why, advice);
        }
        other => panic!("{op}: {other:?}"),
    }
}

#[test]
fn operations_that_compute_refuse_them_by_name() {
    fn check<T: Fp8>(gpu: &Gpu) {
        let dtype = T::DTYPE;
        let refused = |result: Result<Tensor<T>>, op: &str| assert_refused(result, op, dtype);
        for shape in [[4, 3], [0, 3]] {
            let (x, mut c) = (gpu.zeros::<T>(shape).unwrap(), gpu.zeros::<T>(shape).unwrap());
            refused(ops::add(&x, &x), "add");
            refused(ops::mul(&x, 2), "mul");
            refused(ops::neg(&x), "neg");
            refused(ops::abs(&x), "abs");
            refused(ops::maximum(&x, &x), "maximum");
            refused(ops::max(&x, 1), "max");
            refused(ops::min(&x, 1), "min");
            refused(ops::clamp(&x, -1, 1), "clamp");
            assert_refused(ops::argmax(&x, 1), "argmax", dtype);
            assert_refused(ops::equal(&x, &x), "equal", dtype);
            let mask = gpu.zeros::<i8>(shape).unwrap();
            refused(ops::select(&mask, &x, &x), "select");
            assert_refused(c.assign(|| ops::add(&x, &x)), "add", dtype);
            assert_refused(ops::add_assign(&mut c, &x), "add_assign", dtype);
            let ids = gpu.zeros::<i32>([shape[0]]).unwrap();
            assert_refused(ops::index_add(&mut c, 0, &ids, &x), "index_add", dtype);
            // What was refused left all usable.
            assert_eq!(c.to_vec().unwrap().len(), shape[0] * 3);
        }
    }
    let gpu = support::noop();
    of_both!(check, &gpu);
}

/// Problems as plain data are refused too, before anything is planned.
#[test]
fn problems_refuse_them() {
    let (square, row) = (laid::flat(&[4, 4]), laid::flat(&[4]));
    for dtype in [DType::F8E4M3, DType::F8E5M2] {
        // Products take them, and results are cast.
        for ab in [dtype, DType::F32, DType::I8] {
            let product = GemmProblem::new(&square, &square, &square, GemmTypes::new(ab, dtype));
            assert_refused(product, "matmul", dtype);
        }
        for function in Elementwise::all() {
            assert!(!function.takes(dtype), "{function:?}");
        }
        let add = ElementwiseProblem::of_one_type(Elementwise::ADD, &[&row; 2], &row, dtype);
        assert_refused(add, "add", dtype);
        for function in ReduceFunction::ALL {
            assert!(!function.takes(dtype), "{function:?}");
            assert!(ReduceProblem::new(function, &square, &[0], dtype).is_err());
        }
        let scatter = ScatterProblem::new(Target::Positions(0), [&square, &row, &square], dtype);
        assert_refused(scatter, "index_add", dtype);
        assert!(CumsumProblem::new(&square, 0, dtype).is_err() && NormalProblem::new(4, dtype).is_err());
        assert!(dtype.is_float() && dtype.is_fp8() && !dtype.is_real());
    }
    let plan = GemmProblem::new(&square, &square, &square, GemmTypes::new(DType::F32, DType::F32)).unwrap();
    assert!(plan.plan(&tilewise::planning::fixtures::h200()).is_ok());
}
