//! A tensor of some type, and its values on the host.

use crate::model::Model;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tilewise::{DType, Element, Gpu, Result, Tensor, f16};

/// A tensor of one of the types that the walk computes with.
pub(crate) enum Held {
    F32(Tensor<f32>),
    F16(Tensor<f16>),
    I8(Tensor<i8>),
    I32(Tensor<i32>),
}

/// An expression of whatever tensor is held.
macro_rules! each {
    ($held:expr, $tensor:ident => $value:expr) => {
        match $held {
            $crate::held::Held::F32($tensor) => $value,
            $crate::held::Held::F16($tensor) => $value,
            $crate::held::Held::I8($tensor) => $value,
            $crate::held::Held::I32($tensor) => $value,
        }
    };
}
pub(crate) use each;

macro_rules! held_of {
    ($($variant:ident $element:ty),*) => {$(
        impl From<Tensor<$element>> for Held {
            fn from(tensor: Tensor<$element>) -> Self {
                Self::$variant(tensor)
            }
        }
    )*};
}
held_of!(F32 f32, F16 f16, I8 i8, I32 i32);

/// A read under way, which gives integers.
pub(crate) type Reading = Pin<Box<dyn Future<Output = Result<Vec<i32>>> + Send>>;

impl Held {
    pub(crate) fn upload(gpu: &Gpu, dtype: DType, model: &Model) -> Result<Self> {
        Ok(match dtype {
            DType::F16 => Self::F16(gpu.tensor(&elements(&model.values), &model.shape)?),
            DType::I8 => Self::I8(gpu.tensor(&elements(&model.values), &model.shape)?),
            DType::I32 => Self::I32(gpu.tensor(&elements(&model.values), &model.shape)?),
            _ => Self::F32(gpu.tensor(&elements(&model.values), &model.shape)?),
        })
    }

    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::F16(_) => DType::F16,
            Self::I8(_) => DType::I8,
            Self::I32(_) => DType::I32,
        }
    }

    pub(crate) fn cast(&self, dtype: DType) -> Result<Self> {
        each!(self, t => Ok(match dtype {
            DType::F16 => Self::F16(t.cast()?),
            DType::I8 => Self::I8(t.cast()?),
            DType::I32 => Self::I32(t.cast()?),
            _ => Self::F32(t.cast()?),
        }))
    }

    pub(crate) fn to_vec(&self) -> Result<Vec<i32>> {
        each!(self, t => t.to_vec().map(|values| integers(&values)))
    }

    pub(crate) fn read(&self) -> Reading {
        each!(self, t => {
            let read = t.read();
            Box::pin(async move { read.await.map(|values| integers(&values)) })
        })
    }

    /// As [`to_vec`](Self::to_vec), without a vector of the library's.
    pub(crate) fn read_into(&self) -> Result<Vec<i32>> {
        each!(self, t => {
            let mut out = elements(&vec![1; t.len()]);
            t.read_into(&mut out)?;
            Ok(integers(&out))
        })
    }

    /// As [`to_vec`](Self::to_vec), without a vector.
    pub(crate) fn read_with(&self) -> Result<Vec<i32>> {
        each!(self, t => crate::api::finish(t.read_with(integers)))
    }

    /// Writes through staging memory.
    pub(crate) fn write_from(&mut self, values: &[i32]) -> Result<()> {
        each!(self, t => t.write_from(|to| to.write(0, &elements(values))))
    }

    pub(crate) fn write(&mut self, values: &[i32]) -> Result<()> {
        each!(self, t => t.write(&elements(values)))
    }

    /// Whether the tensor is its whole buffer, as what is written must be.
    pub(crate) fn is_plain(&self) -> bool {
        each!(self, t => t.layout().offset() == 0 && t.layout().is_contiguous())
    }

    /// Whether elements overlap, as those of a view that repeats them do.
    pub(crate) fn overlaps(&self) -> bool {
        each!(self, t => t.shape().iter().zip(t.strides()).any(|(&extent, &stride)| extent > 1 && stride == 0))
    }
}

/// Integers as elements that hold them.
pub(crate) fn elements<T: Element>(values: &[i32]) -> Vec<T> {
    values.iter().map(|&v| T::from_f64(v.into())).collect()
}

/// Elements as the integers that they should be; what is none is a number that no model has.
pub(crate) fn integers<T: Element>(values: &[T]) -> Vec<i32> {
    let values: Vec<f64> = values.iter().map(|v| v.to_f64()).collect();
    integers_of(&values)
}

/// The same of numbers, such as those of a definition.
#[expect(clippy::cast_possible_truncation, reason = "it is compared")]
pub(crate) fn integers_of(values: &[f64]) -> Vec<i32> {
    let integer = |v: f64| if f64::from(v as i32) == v { v as i32 } else { i32::MIN };
    values.iter().map(|&v| integer(v)).collect()
}

/// A tensor, what it holds, and a token that all tensors on its buffer share.
pub(crate) struct Item {
    pub(crate) tensor: Held,
    pub(crate) model: Model,
    pub(crate) buffer: Arc<()>,
    /// The step that made it.
    pub(crate) made: u64,
}

impl Item {
    /// Whether another tensor shares the buffer.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.buffer) > 1
    }

    /// Reads the tensor, which must hold what the model does.
    pub(crate) fn check(&self) -> Result<()> {
        assert_eq!(self.tensor.to_vec()?, self.model.values, "{}", self.name());
        Ok(())
    }

    /// Another handle of the same tensor, for one step.
    pub(crate) fn whole(&self) -> Held {
        each!(&self.tensor, t => t.clone().into())
    }

    /// A transposed view, for one step.
    pub(crate) fn transposed(&self) -> Held {
        each!(&self.tensor, t => t.t().into())
    }

    pub(crate) fn name(&self) -> String {
        let shared = if self.is_shared() { ", shared" } else { "" };
        format!("#{} {} {:?}{shared}", self.made, self.tensor.dtype(), self.model.shape)
    }
}
