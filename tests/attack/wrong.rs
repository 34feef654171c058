//! Calls of operations with operands that they do not take.

use tilewise::gemm::linear_backward;
use tilewise::ops::{self, BatchNorm, CrossEntropy, GroupNorm, LayerNorm, Reduction, Targets};
use tilewise::{Activation, Error, Fill, Result, Tensor};

/// A mistake with a tensor (5, 7), and whether an error is that of the mistake.
type Wrong = (&'static str, fn(&Error) -> bool, fn(&Tensor<f32>) -> Result<()>);

fn shape(error: &Error) -> bool {
    matches!(error, Error::Shape { .. })
}

fn input(error: &Error) -> bool {
    matches!(error, Error::Input { .. })
}

fn large(error: &Error) -> bool {
    matches!(error, Error::Shape { .. } | Error::Limit { .. } | Error::OutOfMemory { .. })
}

/// Integers, where there is room for them.
fn ids(a: &Tensor<f32>) -> Result<Tensor<i32>> {
    a.gpu().tensor(&[0, 1], [2])
}

pub(crate) const WRONG: &[Wrong] = &[
    ("sum of an axis that is not there", shape, |a| ops::sum(a, [0, 2]).map(drop)),
    ("mean of an axis twice", shape, |a| ops::mean(a, [1, 1]).map(drop)),
    ("largest of nothing", shape, |a| ops::max(&a.slice(0, 0..0)?, 0).map(drop)),
    ("place of the smallest of nothing", shape, |a| ops::argmin(&a.slice(1, 0..0)?, 1).map(drop)),
    ("softmax of an axis that is not there", shape, |a| ops::softmax(a, 2).map(drop)),
    ("gradient of softmax of another shape", shape, |a| ops::softmax_backward(a, &a.t(), 0).map(drop)),
    ("a position that the host knows not to be there", input, |a| ops::index_select(a, 1, &[0, 7]).map(drop)),
    ("positions along an axis that is not there", shape, |a| ops::index_select(a, 2, &[0]).map(drop)),
    ("elements by too few indices", shape, |a| ops::gather(a, 0, &ids(a)?).map(drop)),
    ("rows of a table of one axis", shape, |a| ops::embedding(&a.reshape([35])?, &ids(a)?).map(drop)),
    ("gradient of rows of another number", shape, |a| {
        ops::embedding_backward(&ids(a)?, a, 9, None).map(drop)
    }),
    ("addition to what is shared", input, |a| {
        let values = a.gpu().tensor(&[1.0f32; 14], [2, 7])?;
        ops::index_add(&mut a.clone(), 0, &ids(a)?, &values)
    }),
    ("addition of elements to themselves", input, |a| ops::index_add(&mut a.clone(), 0, &[0, 1, 2, 3, 4], a)),
    ("concatenation of other extents", shape, |a| ops::concat(&[a, &a.t()], 0).map(drop)),
    ("stack of other shapes", shape, |a| ops::stack(&[a, &a.t()], 0).map(drop)),
    ("padding of one axis of two", shape, |a| ops::pad(a, &[(1, 1)], 0.0).map(drop)),
    ("repetition along an axis that is not there", shape, |a| ops::repeat(a, 2, 3).map(drop)),
    ("more classes than a device counts", large, |a| ops::one_hot::<f32>(&ids(a)?, usize::MAX).map(drop)),
    ("removal of an axis of more than one", shape, |a| a.squeeze(0).map(drop)),
    ("an axis behind the next", shape, |a| a.unsqueeze(3).map(drop)),
    ("an extent that does not broadcast", shape, |a| a.broadcast_to([5, 8]).map(drop)),
    ("gamma of another shape", shape, |a| {
        let gamma = a.slice(0, ..1)?;
        LayerNorm::new().gamma(&gamma).run(a).map(drop)
    }),
    ("groups that do not divide the channels", shape, |a| GroupNorm::new(3).run(a).map(drop)),
    ("a batch of one row", shape, |a| BatchNorm::new().training(&a.slice(0, ..1)?, None).map(drop)),
    ("a loss of another shape", shape, |a| ops::mse(a, &a.t(), Reduction::Mean).map(drop)),
    ("a distance below zero", input, |a| ops::huber(a, a, -1.0, Reduction::Sum).map(drop)),
    ("too few targets", shape, |a| ops::cross_entropy(a, &ids(a)?).map(drop)),
    ("smoothing by more than one", input, |a| {
        CrossEntropy::new().label_smoothing(1.5).run(a, Targets::Probabilities(a)).map(drop)
    }),
    ("a gradient of another shape", shape, |a| linear_backward(a, a, None, Activation::None, a).map(drop)),
    ("normal numbers without end", large, |a| {
        a.gpu().random::<f32>([1 << 20, 1 << 20], Fill::Normal, 1).map(drop)
    }),
];
