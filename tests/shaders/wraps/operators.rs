//! Operators on values, and what of them does not fit into 32 bits.

use super::value::{Value, signed};
use naga::{BinaryOperator as Op, MathFunction, UnaryOperator};

/// What an operator found out.
pub(crate) enum Found {
    Value(Value),
    /// The value without wrapping, of operands that had not wrapped either.
    Wraps(Value),
    /// Why there is no value.
    Fault(String),
}

/// Applies an operator to two scalars.
pub(crate) fn binary(op: Op, a: &Value, b: &Value) -> Found {
    use Value::{B, I, U};
    match (op, a, b) {
        (Op::Add | Op::Subtract | Op::Multiply, &U(x), &U(y)) => {
            sum(op, x, y, U, a.is_beyond() || b.is_beyond())
        }
        (Op::Add | Op::Subtract | Op::Multiply, &I(x), &I(y)) => {
            sum(op, x, y, I, a.is_beyond() || b.is_beyond())
        }
        // Behind the last turn of a loop: they may be compared, and no more.
        (_, &U(x), &U(y)) | (_, &I(x), &I(y)) if a.is_beyond() || b.is_beyond() => {
            Found::Value(compared(op, x, y).unwrap_or(Value::Unknown))
        }
        (_, &U(x), &U(y)) => whole(op, x, y, U),
        (Op::ShiftLeft, &I(x), &U(y)) => whole(op, x, y, I),
        (Op::ShiftRight, &I(x), &U(y)) => whole(op, x, y, I),
        (_, &I(x), &I(y)) => whole(op, x, y, I),
        (_, &B(x), &B(y)) => Found::Value(match op {
            Op::And | Op::LogicalAnd => B(x && y),
            Op::InclusiveOr | Op::LogicalOr => B(x || y),
            Op::Equal => B(x == y),
            Op::NotEqual | Op::ExclusiveOr => B(x != y),
            _ => Value::Unknown,
        }),
        // What is the same whatever the other is.
        (Op::And | Op::LogicalAnd, B(false), _) | (Op::And | Op::LogicalAnd, _, B(false)) => {
            Found::Value(B(false))
        }
        (Op::InclusiveOr | Op::LogicalOr, B(true), _) | (Op::InclusiveOr | Op::LogicalOr, _, B(true)) => {
            Found::Value(B(true))
        }
        (Op::Multiply | Op::And, U(0), _) | (Op::Multiply | Op::And, _, U(0)) | (Op::Modulo, _, U(1)) => {
            Found::Value(U(0))
        }
        _ => Found::Value(Value::Unknown),
    }
}

/// Of two numbers, which 32 bits need not hold if one of them is behind the last turn of a loop.
fn sum(op: Op, x: i64, y: i64, kind: fn(i64) -> Value, beyond: bool) -> Found {
    let value = match op {
        Op::Add => x.checked_add(y),
        Op::Subtract => x.checked_sub(y),
        _ => x.checked_mul(y),
    };
    match value.map(kind) {
        None if beyond => Found::Value(Value::Unknown),
        None => Found::Wraps(kind(x.wrapping_mul(y))),
        Some(value) if value.is_beyond() && !beyond => Found::Wraps(value),
        Some(value) => Found::Value(value),
    }
}

fn whole(op: Op, x: i64, y: i64, kind: fn(i64) -> Value) -> Found {
    let bits = |n: i64| kind(n).wrapped();
    Found::Value(match op {
        Op::Divide | Op::Modulo if y == 0 => return Found::Fault(format!("{x} is divided by 0")),
        Op::ShiftLeft | Op::ShiftRight if y > 31 => return Found::Fault(format!("{x} is shifted by {y}")),
        Op::Divide => kind(x / y),
        Op::Modulo => kind(x % y),
        Op::And => bits(x & y),
        Op::InclusiveOr => bits(x | y),
        Op::ExclusiveOr => bits(x ^ y),
        Op::ShiftRight => kind(x >> y),
        Op::ShiftLeft => {
            let value = kind(x << y);
            if value.is_beyond() {
                return Found::Wraps(value);
            }
            value
        }
        _ => compared(op, x, y).unwrap_or(Value::Unknown),
    })
}

fn compared(op: Op, x: i64, y: i64) -> Option<Value> {
    Some(Value::B(match op {
        Op::Equal => x == y,
        Op::NotEqual => x != y,
        Op::Less => x < y,
        Op::LessEqual => x <= y,
        Op::Greater => x > y,
        Op::GreaterEqual => x >= y,
        _ => return None,
    }))
}

/// Applies an operator to each part of a value.
pub(crate) fn unary(op: UnaryOperator, a: &Value) -> Found {
    use Value::{B, I, U};
    Found::Value(match (op, a) {
        (UnaryOperator::LogicalNot, B(x)) => B(!x),
        (UnaryOperator::BitwiseNot, U(x)) => U(x ^ 0xffff_ffff),
        (UnaryOperator::BitwiseNot, I(x)) => I(!x),
        (UnaryOperator::Negate, I(x)) if I(-x).is_beyond() => return Found::Wraps(I(-x)),
        (UnaryOperator::Negate, I(x)) => I(-x),
        _ => Value::Unknown,
    })
}

/// A function of whole numbers.
pub(crate) fn math(fun: MathFunction, arguments: &[Value]) -> Found {
    use Value::{I, U};
    if arguments.iter().any(Value::is_beyond) {
        return Found::Value(Value::Unknown);
    }
    let bits = |n: i64| u32::try_from(n & 0xffff_ffff).unwrap_or(0);
    Found::Value(match (fun, arguments) {
        (MathFunction::Min, [U(x), U(y)]) => U(*x.min(y)),
        (MathFunction::Min, [I(x), I(y)]) => I(*x.min(y)),
        (MathFunction::Min, [U(0), _] | [_, U(0)]) => U(0),
        (MathFunction::Max, [U(x), U(y)]) => U(*x.max(y)),
        (MathFunction::Max, [I(x), I(y)]) => I(*x.max(y)),
        (MathFunction::Clamp, [U(x), U(low), U(high)]) => U(*x.max(low).min(high)),
        (MathFunction::Clamp, [I(x), I(low), I(high)]) => I(*x.max(low).min(high)),
        (MathFunction::Abs, [I(x)]) if I(-x).is_beyond() => return Found::Wraps(I(x.abs())),
        (MathFunction::Abs, [I(x)]) => I(x.abs()),
        (MathFunction::CountLeadingZeros, [U(x)]) => U(bits(*x).leading_zeros().into()),
        (MathFunction::CountTrailingZeros, [U(x)]) => U(bits(*x).trailing_zeros().into()),
        (MathFunction::CountOneBits, [U(x)]) => U(bits(*x).count_ones().into()),
        (MathFunction::FirstLeadingBit, [U(0)]) => U(0xffff_ffff),
        (MathFunction::FirstLeadingBit, [U(x)]) => U(i64::from(bits(*x).ilog2())),
        (MathFunction::ExtractBits, [U(x), U(from), U(count)]) if from + count <= 32 => {
            U(x >> from & ((1 << count) - 1))
        }
        _ => Value::Unknown,
    })
}

/// The same bits, or the same number, as another kind of scalar.
pub(crate) fn converted(value: &Value, kind: naga::ScalarKind, width: Option<u8>) -> Found {
    use Value::{B, I, U};
    Found::Value(match (kind, value) {
        _ if width.is_some_and(|width| width != 4 && kind != naga::ScalarKind::Bool) => Value::Unknown,
        (naga::ScalarKind::Uint, U(x)) => U(*x),
        (naga::ScalarKind::Uint, I(x)) => U(x & 0xffff_ffff),
        (naga::ScalarKind::Sint, I(x)) => I(*x),
        (naga::ScalarKind::Sint, U(x)) => I(signed(*x)),
        (naga::ScalarKind::Uint, B(x)) => U((*x).into()),
        (naga::ScalarKind::Sint, B(x)) => I((*x).into()),
        (naga::ScalarKind::Bool, U(x) | I(x)) => B(*x != 0),
        (naga::ScalarKind::Bool, B(x)) => B(*x),
        _ => Value::Unknown,
    })
}
