//! Types of operands as users name them.

use clap::ValueEnum;
use tilewise::DType;

/// A type of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Type {
    F32,
    F16,
    Bf16,
    I8,
    E4m3,
    E5m2,
}

impl From<Type> for DType {
    fn from(dtype: Type) -> Self {
        match dtype {
            Type::F32 => Self::F32,
            Type::F16 => Self::F16,
            Type::Bf16 => Self::Bf16,
            Type::I8 => Self::I8,
            Type::E4m3 => Self::F8E4M3,
            Type::E5m2 => Self::F8E5M2,
        }
    }
}
