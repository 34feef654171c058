//! The operations: their operands, how they are launched, and their definitions.

mod attention;
mod clifford;
mod conv;
mod product;
mod sketch;

use crate::case::{Case, Op};
use crate::fits::Patience;
use crate::ready::Ready;
use tilewise::{DType, F8E4M3, F8E5M2, Gpu, Real, Result, bf16, f16};

/// Makes the cases of one operation, size and type ready. They share operands, and the values of the definition.
pub(crate) fn prepare(gpu: &Gpu, cases: &[Case], patience: Patience) -> Result<Vec<Result<Ready>>> {
    let Some(first) = cases.first() else { return Ok(Vec::new()) };
    Ok(match (first.op, first.dtype) {
        (Op::Gemm | Op::Gemv, dtype) => products(gpu, dtype, cases, patience)?,
        (op, DType::F16) => each::<f16>(gpu, op, cases, patience),
        (op, DType::Bf16) => each::<bf16>(gpu, op, cases, patience),
        (op, _) => each::<f32>(gpu, op, cases, patience),
    })
}

/// Matrix products of operands of this type.
fn products(gpu: &Gpu, dtype: DType, cases: &[Case], patience: Patience) -> Result<Vec<Result<Ready>>> {
    match dtype {
        DType::F32 => product::prepare(gpu, cases, patience, product::float::<f32>),
        DType::F16 => product::prepare(gpu, cases, patience, product::float::<f16>),
        DType::Bf16 => product::prepare(gpu, cases, patience, product::float::<bf16>),
        DType::F8E4M3 => product::prepare(gpu, cases, patience, product::float::<F8E4M3>),
        DType::F8E5M2 => product::prepare(gpu, cases, patience, product::float::<F8E5M2>),
        _ => product::prepare(gpu, cases, patience, product::exact),
    }
}

/// Cases of an operation on real numbers other than matrix products.
fn each<T: Real>(gpu: &Gpu, op: Op, cases: &[Case], patience: Patience) -> Vec<Result<Ready>> {
    let ready = match op {
        Op::Sketch => sketch::ready::<T>,
        Op::Clifford => clifford::ready::<T>,
        Op::Conv => conv::ready::<T>,
        _ => attention::ready::<T>,
    };
    cases.iter().map(|case| ready(gpu, case, patience)).collect()
}
