//! Whether a case fits the device, before anything is allocated for it.

use crate::case::{Case, HEADS, Op, TAPS};
use bench::turns::Turns;
use tilewise::{Caps, DType, Error, Gpu, Result};

/// Seconds that one operation may take at most.
const MAX_SECONDS: f64 = 20.0;
/// The same in quick runs.
const MAX_QUICK_SECONDS: f64 = 2.0;

/// How much time a case may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Quick,
    Whole,
}

impl Patience {
    /// Refuses an operation that takes too long to be repeated.
    pub(crate) fn check(self, seconds: f64) -> Result<(), String> {
        let most = if self == Self::Quick { MAX_QUICK_SECONDS } else { MAX_SECONDS };
        if seconds <= most {
            return Ok(());
        }
        Err(format!("one operation is predicted to take {seconds:.3e} s, and at most {most} s are measured"))
    }
}

/// A tensor that a case needs.
struct Need {
    name: &'static str,
    shape: [usize; 3],
    dtype: DType,
}

impl Need {
    fn bytes(&self) -> Result<u64, String> {
        let bytes = self.shape.iter().try_fold(self.dtype.size() as u64, |bytes, &extent| {
            bytes.checked_mul(u64::try_from(extent).ok()?)
        });
        bytes.ok_or_else(|| {
            let [a, b, c] = self.shape;
            format!("the bytes of {}, {a} x {b} x {c} of {}, overflow", self.name, self.dtype)
        })
    }
}

/// Says why a case is too large for the device.
pub(crate) fn check(case: &Case, caps: &Caps, patience: Patience) -> Result<(), String> {
    if !case.dtype.is_real() && !case.op.is_product() {
        return Err("the operation takes f32, f16 and bf16".into());
    }
    if case.op == Op::Gemv && case.shape[1] != 1 {
        return Err(format!("gemv has one column: n is 1; got {}", case.shape[1]));
    }
    if case.op == Op::Clifford && case.algebra().is_none() {
        return Err(format!("k is the number of blades: 4, 8, 16 or 32; got {}", case.shape[2]));
    }
    let most = caps.limits.binding_bytes.min(caps.limits.buffer_bytes);
    let (mut all, result) = needs(case);
    all.push(result);
    for need in &all {
        let bytes = need.bytes()?;
        if bytes > most {
            let name = need.name;
            return Err(format!("{name} has {bytes} bytes, but a tensor on this device has at most {most}"));
        }
    }
    let all = bytes(&all)?;
    // Operands exist at least twice, and the host draws and checks them.
    let room = caps.memory.unwrap_or(u64::MAX) / 4;
    if all > room {
        return Err(format!(
            "operands and result have {all} bytes, more than a quarter of the device's memory"
        ));
    }
    let machine = &caps.machine;
    let peak = [machine.f32_flops, machine.f16_flops, machine.i8_flops, machine.matrix_flops];
    patience.check(flops(case) / peak.into_iter().fold(0.0, f64::max))
}

/// The sets of a case's operands that take turns.
pub(crate) fn turns(gpu: &Gpu, case: &Case) -> Result<Turns> {
    let bytes = bytes(&needs(case).0).map_err(|why| Error::Input { what: case.to_string(), why })?;
    Ok(Turns::by_cache(gpu, bytes))
}

fn bytes(needs: &[Need]) -> Result<u64, String> {
    needs.iter().try_fold(0u64, |all, need| Ok(all.saturating_add(need.bytes()?)))
}

/// The operands, and the result.
fn needs(case: &Case) -> (Vec<Need>, Need) {
    let ([m, n, k], dtype) = (case.shape, case.dtype);
    let need = |name, shape, dtype| Need { name, shape, dtype };
    match case.op {
        Op::Gemm | Op::Gemv => {
            let sum = if dtype == DType::I8 { DType::I32 } else { DType::F32 };
            let operands = vec![need("A", [m, k, 1], dtype), need("B", [k, n, 1], dtype)];
            (operands, need("C", [m, n, 1], sum))
        }
        Op::Sketch => {
            (vec![need("the operand", [k, n, 1], dtype)], need("the result", [m, n, 1], DType::F32))
        }
        Op::Clifford => {
            let of = |name| need(name, [k, m, n], dtype);
            (vec![of("the left operand"), of("the right operand")], of("the result"))
        }
        Op::Attention => {
            let of = |name, length| need(name, [HEADS, length, k], dtype);
            (vec![of("the queries", m), of("the keys", n), of("the values", n)], of("the result", m))
        }
        Op::Conv => {
            let operands =
                vec![need("the image", [m, m, n], dtype), need("the weight", [TAPS * TAPS, n, k], dtype)];
            (operands, need("the result", [m, m, k], dtype))
        }
    }
}

/// Operations, roughly: none for sketches that are sparse.
fn flops(case: &Case) -> f64 {
    let [m, n, k] = case.shape.map(|extent| extent as f64);
    match case.op {
        Op::Gemm | Op::Gemv => 2.0 * m * n * k,
        Op::Sketch => 0.0,
        Op::Clifford => 2.0 * m * n * k * k,
        Op::Attention => 4.0 * HEADS as f64 * m * n * k,
        Op::Conv => 2.0 * (TAPS * TAPS) as f64 * m * m * n * k,
    }
}
