//! A case: one operation, of one size and one type.

use clap::ValueEnum;
use std::fmt;
use tilewise::clifford::Signature;
use tilewise::gemm::GemmKernel;
use tilewise::sketch::SketchKind;
use tilewise::{DType, Precision};

/// Heads of attention.
pub(crate) const HEADS: usize = 8;
/// Height and width of the kernel of a convolution.
pub(crate) const TAPS: usize = 3;

/// An operation that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Op {
    Gemm,
    Gemv,
    Sketch,
    Clifford,
    Attention,
    Conv,
}

impl Op {
    /// Whether it is a matrix product, which has kernels to choose and takes types of 8 bits.
    pub(crate) fn is_product(self) -> bool {
        matches!(self, Self::Gemm | Self::Gemv)
    }
}

/// A sketch that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Gaussian,
    Sjlt,
    Hadamard,
}

impl Operator {
    pub(crate) const ALL: [Self; 3] = [Self::Gaussian, Self::Sjlt, Self::Hadamard];

    pub(crate) fn kind(self) -> SketchKind {
        match self {
            Self::Gaussian => SketchKind::Gaussian,
            Self::Sjlt => SketchKind::Sjlt { nonzeros: 2 },
            Self::Hadamard => SketchKind::Hadamard,
        }
    }
}

/// One operation, of one size and one type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) op: Op,
    /// Which sketch it is.
    pub(crate) operator: Option<Operator>,
    /// m, n, k.
    ///
    /// - gemm, gemv: A (m, k) by B (k, n).
    /// - sketch: an operator of m rows and k columns, applied to an operand (k, n).
    /// - clifford: the geometric product of m x n pairs of multivectors of k blades.
    /// - attention: m queries, n keys, k features of a head, 8 heads.
    /// - conv: an image of m x m pixels with n channels, and k output channels.
    pub(crate) shape: [usize; 3],
    pub(crate) dtype: DType,
    /// For products of f32.
    pub(crate) precision: Option<Precision>,
    /// The kernel, if it is pinned.
    pub(crate) pin: Option<GemmKernel>,
}

impl Case {
    /// `gemm`, `sketch sjlt`.
    pub(crate) fn operation(&self) -> String {
        let op = format!("{:?}", self.op).to_lowercase();
        match self.operator {
            Some(operator) => format!("{op} {operator:?}").to_lowercase(),
            None => op,
        }
    }

    /// The algebra of a Clifford product: that with this number of blades.
    pub(crate) fn algebra(&self) -> Option<Signature> {
        match self.shape[2] {
            4 => Some(Signature::CL2),
            8 => Some(Signature::CL3),
            16 => Some(Signature::PGA3D),
            32 => Some(Signature::CGA3D),
            _ => None,
        }
    }
}

/// `512`, `64x4096x1024`.
pub(crate) fn size([m, n, k]: [usize; 3]) -> String {
    if m == n && n == k { m.to_string() } else { format!("{m}x{n}x{k}") }
}

/// `gemm 512 f32 strict tiled`: what identifies its row in every run.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.operation(), size(self.shape), self.dtype)?;
        if let Some(precision) = self.precision {
            write!(f, " {precision}")?;
        }
        match self.pin {
            Some(kernel) => write!(f, " {kernel}"),
            None => Ok(()),
        }
    }
}
