//! Where the kernels of a random operator find its seed.

use crate::kernel::Kernel;
use crate::layout::{DType, Layout, dim};
use crate::plan::{Dims, Draft, Operand, Scalar, ScalarParameter};
use crate::{Error, Result};

pub(super) const SEED_LOW: ScalarParameter = ScalarParameter::u32("seed_low");
const SEED_HIGH: ScalarParameter = ScalarParameter::u32("seed_high");

/// The name of random operators in errors.
const OP: &str = "sketch";

/// The name of the tensor in plans and errors.
const NAME: &str = "the seed";

/// Where the kernels of a random operator find its seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SeedSource {
    /// Each call passes it, as two scalars.
    #[default]
    Scalars,
    /// In a tensor of i32: the offsets of its low and its high word, from the start of the tensor's aligned window.
    /// Each launch reads the current words.
    Tensor([u32; 2]),
}

impl SeedSource {
    /// A seed in a tensor of i32 with this layout: two elements, the low word and the high word.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shape is not (2); [`Error::Limit`] if the stride is $2^{31}$ or more.
    pub fn tensor(layout: &Layout) -> Result<Self> {
        let (&[2], &[step]) = (layout.shape(), layout.strides()) else {
            let rule = "the seed must be a tensor of two elements: its low and its high word";
            return Err(Error::shapes(OP, rule, layout.shape(), &[2]));
        };
        let low = layout.offset_in_window(DType::I32);
        Ok(Self::Tensor([low, low + dim(OP, step)?]))
    }

    /// The scalars that a call passes.
    pub(crate) fn scalars(self) -> &'static [ScalarParameter] {
        match self {
            Self::Scalars => &[SEED_LOW, SEED_HIGH],
            Self::Tensor(_) => &[],
        }
    }

    /// The values of these scalars for a seed of these words, the low one first.
    pub(crate) fn numbers(self, words: [u32; 2]) -> Vec<Scalar> {
        match self {
            Self::Scalars => words.map(Scalar::from).to_vec(),
            Self::Tensor(_) => Vec::new(),
        }
    }

    /// The words that a plan writes into the dims: the offsets in the tensor. If the call passes the seed, they are
    /// zeros, which the call replaces by its scalars.
    pub(crate) fn words(self) -> [u32; 2] {
        match self {
            Self::Scalars => [0; 2],
            Self::Tensor(places) => places,
        }
    }

    /// These dims with the call's scalars at the offsets of the low and the high word, if it passes them.
    pub(crate) fn put(dims: Dims, [low, high]: [usize; 2], draft: &Draft<'_>) -> Dims {
        draft.put(draft.put(dims, SEED_LOW, low), SEED_HIGH, high)
    }

    /// The layout of the tensor, from the start of its aligned window.
    pub(crate) fn layout(self) -> Result<Option<Layout>> {
        match self {
            Self::Scalars => Ok(None),
            Self::Tensor([low, high]) => {
                Layout::new(OP, &[2], &[(high - low) as usize], low as usize, usize::MAX).map(Some)
            }
        }
    }

    /// The tensor, as an operand.
    pub(crate) fn operand(self) -> Result<Option<Operand>> {
        Ok(self.layout()?.map(|layout| Operand::read(NAME, DType::I32, layout).whole()))
    }

    /// The number of storage bindings.
    pub(crate) fn bindings(self) -> u32 {
        match self {
            Self::Scalars => 0,
            Self::Tensor(_) => 1,
        }
    }

    /// Fills the slot of a kernel that draws from the seed. The tensor has this binding.
    pub(crate) fn bind(self, kernel: Kernel, binding: u32) -> Kernel {
        match self {
            Self::Scalars => kernel,
            Self::Tensor(_) => kernel.slot("seed", "tensor").param("SEED_BINDING", binding),
        }
    }
}
