//! Expressions as WGSL.

use super::expr::{Content, Expr};
use super::function::Function;
use super::kind::Kind;
use crate::kernel::wgsl::{
    Block, Callee, Expression, FunctionDefinition, Module, index, name, number, select,
};
use crate::ops::table::function_rows;
use std::collections::HashMap;

/// The parameters of the generated function.
pub(super) const VALUES: [&str; 4] = ["v0", "v1", "v2", "v3"];

/// Where the uniform has the bits of a call's numbers.
pub(super) const NUMBERS: [&str; 10] = [
    "dims.numbers.x",
    "dims.numbers.y",
    "dims.more_numbers.low.x",
    "dims.more_numbers.low.y",
    "dims.more_numbers.low.z",
    "dims.more_numbers.low.w",
    "dims.more_numbers.high.x",
    "dims.more_numbers.high.y",
    "dims.more_numbers.high.z",
    "dims.more_numbers.high.w",
];

/// The largest number of values in an expression.
const MAX_VALUES: usize = 1000;

/// A function of elements as WGSL: `result(v0, ..)`, for four elements of each operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Written {
    /// The text of the function, with its imports.
    pub(super) text: String,
    /// Floating-point operations for one element.
    pub(super) flops: usize,
    pub(super) operands: usize,
    /// The number of numbers of a call.
    pub(super) numbers: usize,
}

impl Written {
    /// The function of operands of these types with this body, without numbers.
    pub(super) fn of(body: Block, operands: impl Iterator<Item = &'static str>) -> Self {
        let function = FunctionDefinition {
            comment: "The function of four elements of each operand.",
            name: "result",
            parameters: VALUES.into_iter().zip(operands).collect(),
            result: Some("vec4<sum>"),
            body,
        };
        let operands = function.parameters.len();
        // The count is per element, so an operation on four elements counts once.
        let module = Module::from(function);
        Self { text: module.to_string(), flops: module.flops(), operands, numbers: 0 }
    }
}

/// A function in WGSL, and the numbers that this call passes to it.
pub(super) struct WrittenCall {
    pub(super) written: Written,
    /// The bits of each number.
    pub(super) numbers: Vec<u32>,
}

/// Writes an expression of these operands; its value is stored as kind `to`.
///
/// # Errors
/// Why the expression has no value of this kind, or too many numbers.
pub(super) fn write(expression: &Expr, operands: &[Expr], to: Kind) -> Result<WrittenCall, String> {
    let kind = expression.kind()?;
    let mut writer = Writer::default();
    for (operand, variable) in operands.iter().zip(VALUES) {
        let value = if operand.kind() == Ok(Kind::Integer) { index(variable) } else { name(variable) };
        writer.known.insert(operand.identity(), value);
    }
    let value = writer.value(expression);
    if writer.has_foreign_operand {
        return Err("it contains a value that another call of `map` made".to_owned());
    }
    let value = match (kind, to) {
        (Kind::Mask, Kind::Integer) => stored_mask(value),
        (Kind::Real, Kind::Real) | (Kind::Integer, Kind::Integer) => value,
        (Kind::Mask, _) => return Err("its value is a mask, which tensors of i8 and i32 hold".to_owned()),
        (Kind::Real, _) => {
            return Err("its value is a real: convert it with `to_integer`, or store it as one".to_owned());
        }
        (Kind::Integer, _) => {
            return Err("its value is an integer: convert it with `to_real`, or store it as one".to_owned());
        }
    };
    if writer.known.len() > MAX_VALUES {
        return Err(format!("it has more than {MAX_VALUES} values: call `map` twice"));
    }
    if writer.numbers.len() > NUMBERS.len() {
        return Err(format!(
            "it has {} numbers; at most {} are possible",
            writer.numbers.len(),
            NUMBERS.len()
        ));
    }
    let Writer { mut body, numbers, .. } = writer;
    body.returns(value);
    let written = Written { numbers: numbers.len(), ..Written::of(body, operands.iter().map(type_of)) };
    Ok(WrittenCall { written, numbers })
}

/// Writes a statement for each computed value, in the order of first use.
#[derive(Default)]
struct Writer {
    body: Block,
    /// The variables of values that were written.
    known: HashMap<usize, Expression>,
    numbers: Vec<u32>,
    has_foreign_operand: bool,
}

/// The WGSL type of an operand.
fn type_of(operand: &Expr) -> &'static str {
    operand.kind().unwrap_or(Kind::Real).wgsl()
}

impl Writer {
    /// The value as a variable or a number.
    fn value(&mut self, expression: &Expr) -> Expression {
        if let Some(known) = self.known.get(&expression.identity()) {
            return known.clone();
        }
        let value = match expression.content() {
            Content::Operand => {
                self.has_foreign_operand = true;
                name("unknown")
            }
            Content::Number(bits) => {
                let place = NUMBERS.get(self.numbers.len()).copied().unwrap_or_default();
                self.numbers.push(*bits);
                match expression.kind() {
                    Ok(Kind::Integer) => {
                        spread("vec4<i32>", Callee::without_flops("bitcast<i32>").call([name(place)]))
                    }
                    _ => spread("vec4<f32>", Callee::without_flops("bitcast<f32>").call([name(place)])),
                }
            }
            Content::IsSet(of) => {
                let of = self.value(of);
                self.define(own("is_set", 0, "comparisons").call([of]))
            }
            Content::Call(function, operands) => {
                let kind = operands[operands.len() - 1].kind();
                let operands: Vec<Expression> = operands.iter().map(|operand| self.value(operand)).collect();
                self.define(text(*function, kind.unwrap_or(Kind::Real), operands))
            }
        };
        self.known.insert(expression.identity(), value.clone());
        value
    }

    fn define(&mut self, value: Expression) -> Expression {
        self.body.define(format!("t{}", self.known.len()), value)
    }
}

fn spread(vector: &'static str, value: Expression) -> Expression {
    Callee::without_flops(vector).call([value])
}

/// 1 where a mask is set, and 0 elsewhere.
fn stored_mask(mask: Expression) -> Expression {
    own("one_or_zero", 0, "comparisons").call([mask])
}

/// A function of the shaders' files.
const fn own(name: &'static str, flops: usize, file: &'static str) -> Callee {
    Callee::new(name, flops).imported(file)
}

/// The call of a function of the shaders' files.
fn shader<const N: usize>(
    file: &'static str,
    name: &'static str,
    flops: usize,
    operands: [Expression; N],
) -> Expression {
    own(name, flops, file).call(operands)
}

/// The call of a built-in function of reals.
fn builtin<const N: usize>(name: &'static str, flops: usize, operands: [Expression; N]) -> Expression {
    Callee::new(name, flops).call(operands)
}

/// The call of a built-in function of integers.
fn of_integers<const N: usize>(name: &'static str, flops: usize, operands: [Expression; N]) -> Expression {
    Callee::new(name, flops).returning_index().call(operands)
}

/// Generates the code that writes the call of a function from the rows.
macro_rules! texts {
    ($y:ident $g:ident: $(
        $(#[$doc:meta])+
        $variant:ident: $name:ident($($operand:ident),+) takes $takes:ident, within $within:tt,
        wgsl [$($from:ident -> $to:ident: $text:expr),+],
        value $value:tt integers $integers:tt gradients $gradients:tt;
    )*) => {
        /// The function of these values, the last of which is of this kind.
        fn text(function: Function, kind: Kind, operands: Vec<Expression>) -> Expression {
            let mut operands = operands.into_iter();
            // `Expr::call` makes no call with fewer values, and none of other kinds.
            let mut next = || operands.next().unwrap_or_else(|| name("missing"));
            match function {
                $(Function::$variant => {
                    $(let $operand = next();)+
                    #[allow(unreachable_patterns, reason = "few functions have values of all kinds")]
                    match kind {
                        $(Kind::$from => $text,)+
                        _ => name("missing"),
                    }
                })*
            }
        }
    };
}

function_rows!(texts);
