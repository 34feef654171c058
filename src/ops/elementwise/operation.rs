//! The operation of an elementwise kernel: a function or an activation of tensors, or an expression.

use super::expr::Expr;
use super::function::Function;
use super::kind::Kind;
use super::written::{Written, WrittenCall, write};
use crate::kernel::wgsl::{Block, Callee, Expression, name};
use crate::layout::DType;
use crate::ops::activation::Activation;
use crate::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// An elementwise function, without the types of its operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Elementwise {
    /// $c = f(a)$.
    Activate(Activation),
    /// $c = f'(a)\\,b$.
    ActivateBackward(Activation),
    /// A function of tensors and numbers.
    Apply(Function, Arguments),
    /// A function of C and an operand, in place: $c = f(c, a)$.
    Update(Function),
    /// An expression of the operands, stored as elements of a type.
    Map(Arc<Written>),
}

/// Which arguments of a function are tensors, and which are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arguments {
    is_number: [bool; 3],
}

impl Arguments {
    /// Tensors only.
    pub const TENSORS: Self = Self { is_number: [false; 3] };

    /// Numbers in these places, tensors in the others.
    pub(super) fn with_numbers(is_number: [bool; 3]) -> Self {
        Self { is_number }
    }
}

impl From<Function> for Elementwise {
    /// The function of tensors.
    fn from(function: Function) -> Self {
        Self::Apply(function, Arguments::TENSORS)
    }
}

impl Elementwise {
    /// $a + b$ of tensors.
    pub const ADD: Self = Self::Apply(Function::Add, Arguments::TENSORS);
    /// $c = c + a$.
    pub const ADD_ASSIGN: Self = Self::Update(Function::Add);

    /// Every function of tensors.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let activations =
            Activation::ALL.into_iter().flat_map(|f| [Self::Activate(f), Self::ActivateBackward(f)]);
        activations.chain(Function::ALL.map(Self::from)).chain([Self::ADD_ASSIGN]).collect()
    }

    /// The name in errors and plans.
    pub(super) fn op(&self) -> &'static str {
        match self {
            Self::Activate(_) => "activate",
            Self::ActivateBackward(_) => "activate_backward",
            Self::Apply(function, _) => function.name(),
            Self::Update(Function::Sub) => "sub_assign",
            Self::Update(Function::Mul) => "mul_assign",
            Self::Update(Function::Add) => "add_assign",
            Self::Update(function) => function.name(),
            Self::Map(_) => "map",
        }
    }

    /// The number of operands that are only read.
    #[must_use]
    pub fn operands(&self) -> usize {
        match self {
            Self::Activate(_) | Self::Update(_) => 1,
            Self::ActivateBackward(_) => 2,
            Self::Apply(function, arguments) => {
                let arguments = &arguments.is_number[..function.operands()];
                arguments.iter().filter(|is_number| !**is_number).count()
            }
            Self::Map(written) => written.operands,
        }
    }

    /// The kind of the value of operands of these types; None if there is no such function.
    fn value_kind(&self, operands: &[DType], to: DType) -> Option<Kind> {
        let kinds: Vec<Kind> = operands.iter().copied().map(Kind::of).collect();
        match self {
            Self::Activate(_) | Self::ActivateBackward(_) => {
                kinds.iter().all(|kind| *kind == Kind::Real).then_some(Kind::Real)
            }
            Self::Update(function) => kinds.first().and_then(|&kind| function.result(&[kind; 2])),
            Self::Map(_) => Some(Kind::of(to)),
            Self::Apply(function, _) => function.result(&self.arguments(
                operands,
                to,
                |at| kinds.get(at).copied(),
                |number| number,
            )?),
        }
    }

    /// The arguments of a function: `tensor` gives those of the operands, and `number` those of the numbers, from their
    /// kind.
    fn arguments<A>(
        &self,
        operands: &[DType],
        to: DType,
        tensor: impl Fn(usize) -> Option<A>,
        number: impl Fn(Kind) -> A,
    ) -> Option<Vec<A>> {
        let Self::Apply(function, arguments) = self else { return None };
        let of_numbers = self.number_kind(operands, to);
        let mut at = 0;
        let arguments = arguments.is_number[..function.operands()].iter().map(|&is_number| {
            if is_number {
                return Some(number(of_numbers));
            }
            at += 1;
            tensor(at - 1)
        });
        arguments.collect()
    }

    /// Whether there is a function of operands of this type.
    #[must_use]
    pub fn takes(&self, dtype: DType) -> bool {
        let operands = vec![dtype; self.operands()];
        self.check(&operands, self.result_type(dtype)).is_ok()
    }

    /// The type of the results for operands of this type: i8 for masks.
    #[must_use]
    pub fn result_type(&self, operands: DType) -> DType {
        let all = vec![operands; self.operands()];
        if self.value_kind(&all, operands) == Some(Kind::Mask) { DType::I8 } else { operands }
    }

    /// Checks that the function exists for operands of these types and results of this type.
    pub(super) fn check(&self, operands: &[DType], to: DType) -> Result<()> {
        operands.iter().chain([&to]).try_for_each(|dtype| dtype.check_computed(self.op()))?;
        let value = self.value_kind(operands, to);
        let is_stored = |value| value == Kind::of(to) || (value == Kind::Mask && !to.is_real());
        if value.is_some_and(is_stored) {
            return Ok(());
        }
        let given: Vec<String> = operands.iter().map(DType::to_string).collect();
        let why = format!("there is no {} of {} with results of {to}", self.op(), given.join(" and "));
        Err(Error::input(format!("{}: the types", self.op()), why))
    }

    /// The function in WGSL, for operands of these types and a result of this type.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such function.
    pub(super) fn written(&self, operands: &[DType], to: DType) -> Result<Written> {
        let kinds: Vec<Kind> = operands.iter().copied().map(Kind::of).collect();
        match self {
            Self::Map(written) => Ok(Written::clone(written)),
            Self::Activate(activation) => {
                Ok(of_activation(Callee::new("activate", 0).call([name("v0")]), 1, *activation))
            }
            Self::ActivateBackward(activation) => {
                let slope = Callee::new("slope", 0).call([name("v0")]);
                Ok(of_activation(slope * name("v1"), 2, *activation))
            }
            Self::Update(function) => {
                let operands = [Expr::operand(kinds[0]), Expr::operand(kinds[0])];
                let value = Expr::call(*function, operands.to_vec());
                self.of(write(&value, &operands, Kind::of(to)))
            }
            Self::Apply(function, _) => {
                let tensors: Vec<Expr> = kinds.iter().copied().map(Expr::operand).collect();
                let tensor = |at: usize| tensors.get(at).cloned();
                let arguments = self.arguments(operands, to, tensor, |kind| Expr::number(0, kind));
                let value = Expr::call(*function, arguments.unwrap_or_default());
                self.of(write(&value, &tensors, Kind::of(to)))
            }
        }
    }

    /// The kind of the numbers of a call with operands of these types: reals with reals.
    pub(super) fn number_kind(&self, operands: &[DType], to: DType) -> Kind {
        match self {
            // The first operand is a mask, so its kind is not that of the values.
            Self::Apply(Function::Select, _) => Kind::of(to),
            _ => operands.last().copied().map_or(Kind::Integer, Kind::of),
        }
    }

    fn of(&self, written: std::result::Result<WrittenCall, String>) -> Result<Written> {
        let written = written.map_err(|why| Error::input(self.op(), why))?;
        Ok(written.written)
    }
}

impl fmt::Display for Elementwise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Activate(activation) => write!(f, "{activation}"),
            Self::ActivateBackward(activation) => write!(f, "slope of {activation}"),
            Self::Map(written) => write!(f, "an expression of {} operations", written.flops),
            _ => f.write_str(self.op()),
        }
    }
}

/// A function that calls an activation's functions. The kernel imports these through a slot.
fn of_activation(value: Expression, operands: usize, activation: Activation) -> Written {
    let mut body = Block::default();
    body.returns(value);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small whole number")]
    let flops = activation.flops() as usize;
    Written { flops, ..Written::of(body, std::iter::repeat_n(Kind::Real.wgsl(), operands)) }
}
