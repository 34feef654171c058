//! Norms, by definition. Every element belongs to a unit and to a channel: the elements of a unit are normalised together, and
//! the channel's gamma and beta apply to the element.

use super::bounded::{BoundedNumber, BoundedSum, divided, exact, minus, plus};
use super::elements::{Definition, NORMAL};
use super::norm_statistics::{Centre, Statistics, of_unit, over_root};
use crate::layout::Element;

/// A norm and its statistics, each with the error bound of an f32 computation.
///
/// The bounds follow the computation step by step, as those of [`BoundedValues`](super::BoundedValues). They do not grow if the
/// mean is large compared with the deviation. A kernel takes distances to one of the $n$ elements, which is at most $r = \max |x -
/// m|$ away from the mean $m$. Their mean is within $d = \gamma_{n + 5}\\,(\overline{|x - m|} + r)$. This error and a rounding of
/// $r$ are those of each distance to the mean, so the variance is within about $2 d\\,\overline{|x - m|} + \gamma_{n + 8} v$. One
/// over its root has half of that relative error. The bounds hold for sums in any order, and for means and variances of parts that
/// are joined with the weights of their sizes, the larger part first. The mean itself is stored in f32. A backward pass reads it,
/// and corrects its rounding error if that exceeds $2^{-20}$ of a deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct NormDefinition {
    /// The results.
    pub y: Definition,
    /// The mean of each unit; 0 for an RMS norm.
    pub mean: Definition,
    /// The variance of each unit, divided by the number of its elements; for an RMS norm the mean square.
    pub variance: Definition,
    /// One over the root of the variance plus epsilon.
    pub rstd: Definition,
}

/// The gradients of a norm's operands, each with the error bound of an f32 computation that starts from the statistics of the
/// forward pass.
#[derive(Clone, Debug, PartialEq)]
pub struct NormGradientDefinitions {
    /// The gradient of the operand.
    pub x: Definition,
    /// The gradient of gamma, per channel.
    pub gamma: Definition,
    /// The gradient of beta, per channel.
    pub beta: Definition,
}

/// The unit and the channel of an element.
#[derive(Clone, Copy)]
enum Units {
    /// Consecutive elements of this length are a unit. The channel is the position in the unit.
    Rows { length: usize },
    /// The elements are (outer, inner, channels), and consecutive channels of this number are a group; a unit has the elements
    /// of a group with one outer index.
    Groups { inner: usize, channels: usize, of_group: usize },
}

impl Units {
    fn of_groups([_, inner, channels]: [usize; 3], groups: usize) -> Self {
        Self::Groups { inner, channels, of_group: channels / groups }
    }

    fn unit(self, at: usize) -> usize {
        match self {
            Self::Rows { length } => at / length,
            Self::Groups { inner, channels, of_group } => {
                at / (inner * channels) * (channels / of_group) + at % channels / of_group
            }
        }
    }

    fn channel(self, at: usize) -> usize {
        match self {
            Self::Rows { length } => at % length,
            Self::Groups { channels, .. } => at % channels,
        }
    }

    fn channels(self) -> usize {
        match self {
            Self::Rows { length } => length,
            Self::Groups { channels, .. } => channels,
        }
    }
}

/// The layer norm of consecutive rows of `length` elements.
///
/// # Panics
/// If the number of elements is not a multiple of the length, or gamma or beta has another number.
#[must_use]
pub fn layer_norm<T: Element>(
    x: &[T],
    length: usize,
    [gamma, beta]: [Option<&[T]>; 2],
    eps: f64,
) -> NormDefinition {
    forward(x, Units::Rows { length }, Centre::Mean, [gamma, beta], eps)
}

/// The gradients of [`layer_norm`], from the gradient of its result.
///
/// # Panics
/// As [`layer_norm`].
#[must_use]
pub fn layer_norm_backward<T: Element>(
    x: &[T],
    length: usize,
    gamma: Option<&[T]>,
    eps: f64,
    grad: &[T],
) -> NormGradientDefinitions {
    backward(x, Units::Rows { length }, Centre::Mean, gamma, eps, grad)
}

/// The RMS norm of consecutive rows of `length` elements.
///
/// # Panics
/// As [`layer_norm`].
#[must_use]
pub fn rms_norm<T: Element>(x: &[T], length: usize, gamma: Option<&[T]>, eps: f64) -> NormDefinition {
    forward(x, Units::Rows { length }, Centre::Nothing, [gamma, None], eps)
}

/// The gradients of [`rms_norm`], from the gradient of its result.
///
/// # Panics
/// As [`layer_norm`].
#[must_use]
pub fn rms_norm_backward<T: Element>(
    x: &[T],
    length: usize,
    gamma: Option<&[T]>,
    eps: f64,
    grad: &[T],
) -> NormGradientDefinitions {
    backward(x, Units::Rows { length }, Centre::Nothing, gamma, eps, grad)
}

/// The group norm of a contiguous (outer, inner, channels) tensor: of the elements of consecutive channels for each outer index.
/// With one group per channel it is an instance norm, and with one outer index besides a batch norm in training.
///
/// # Panics
/// If the number of elements is not that of the shape, the groups do not divide the channels, or gamma or beta has another
/// number than the channels.
#[must_use]
pub fn group_norm<T: Element>(
    x: &[T],
    shape: [usize; 3],
    groups: usize,
    [gamma, beta]: [Option<&[T]>; 2],
    eps: f64,
) -> NormDefinition {
    assert_eq!(x.len(), shape.iter().product::<usize>(), "the number of elements");
    forward(x, Units::of_groups(shape, groups), Centre::Mean, [gamma, beta], eps)
}

/// The gradients of [`group_norm`], from the gradient of its result.
///
/// # Panics
/// As [`group_norm`].
#[must_use]
pub fn group_norm_backward<T: Element>(
    x: &[T],
    shape: [usize; 3],
    groups: usize,
    gamma: Option<&[T]>,
    eps: f64,
    grad: &[T],
) -> NormGradientDefinitions {
    assert_eq!(x.len(), shape.iter().product::<usize>(), "the number of elements");
    backward(x, Units::of_groups(shape, groups), Centre::Mean, gamma, eps, grad)
}

/// The batch norm in evaluation of rows of channels, by means and variances of the channels.
///
/// # Panics
/// If the number of elements is not a multiple of that of the channels, or there are other numbers of statistics or weights.
#[must_use]
pub fn batch_norm<T: Element>(
    x: &[T],
    [means, variances]: [&[f32]; 2],
    [gamma, beta]: [Option<&[T]>; 2],
    eps: f64,
) -> Definition {
    let of_channels = given(means, variances, eps);
    assert!(x.len().is_multiple_of(means.len()), "the number of elements");
    let channels = means.len();
    let units = Units::Groups { inner: x.len() / channels.max(1), channels, of_group: 1 };
    results(x, units, &of_channels, [gamma, beta])
}

/// The gradients of [`batch_norm`], from the gradient of its result. The statistics are constants.
///
/// # Panics
/// As [`batch_norm`].
#[must_use]
pub fn batch_norm_backward<T: Element>(
    x: &[T],
    [means, variances]: [&[f32]; 2],
    gamma: Option<&[T]>,
    eps: f64,
    grad: &[T],
) -> NormGradientDefinitions {
    let of_channels = given(means, variances, eps);
    assert!(x.len() == grad.len() && x.len().is_multiple_of(means.len()), "the number of elements");
    let mut sums = vec![[BoundedSum::default(); 2]; means.len()];
    let of_x = x.iter().zip(grad).enumerate().map(|(at, (x, grad))| {
        let (channel, g) = (at % means.len(), exact(grad.to_f64()));
        let [of_gamma, of_beta] = &mut sums[channel];
        of_gamma.add(g.times(normed(x.to_f64(), of_channels[channel])));
        of_beta.add(g);
        let all = scaled(g, [gamma, None], channel).times(of_channels[channel].rstd).rounded();
        [all.value, all.bound + 8.0 * NORMAL]
    });
    let x = Definition::of(of_x);
    NormGradientDefinitions { x, gamma: summed(&sums, 0, 2), beta: summed(&sums, 1, 0) }
}

/// The given statistics of channels.
fn given(means: &[f32], variances: &[f32], eps: f64) -> Vec<Statistics> {
    assert_eq!(means.len(), variances.len(), "the number of statistics");
    let of = |(&mean, &variance): (&f32, &f32)| {
        let variance = exact(f64::from(variance));
        let mean = exact(f64::from(mean));
        Statistics { mean, centre: mean, centre_again: mean, variance, rstd: over_root(variance, eps) }
    };
    means.iter().zip(variances).map(of).collect()
}

/// The normalised elements, with their weights.
fn results<T: Element>(
    x: &[T],
    units: Units,
    statistics: &[Statistics],
    weights: [Option<&[T]>; 2],
) -> Definition {
    for weights in weights.into_iter().flatten() {
        assert_eq!(weights.len(), units.channels(), "the number of weights");
    }
    Definition::of(x.iter().enumerate().map(|(at, x)| {
        let y = scaled(normed(x.to_f64(), statistics[units.unit(at)]), weights, units.channel(at));
        [y.value, y.bound + 4.0 * NORMAL]
    }))
}

fn forward<T: Element>(
    x: &[T],
    units: Units,
    centre: Centre,
    [gamma, beta]: [Option<&[T]>; 2],
    eps: f64,
) -> NormDefinition {
    let statistics = statistics(x, units, centre, eps);
    let y = results(x, units, &statistics, [gamma, beta]);
    let all = |of: fn(&Statistics) -> BoundedNumber| {
        Definition::of(statistics.iter().map(|unit| [of(unit).value, of(unit).bound]))
    };
    NormDefinition {
        y,
        mean: all(|unit| unit.mean),
        variance: all(|unit| unit.variance),
        rstd: all(|unit| unit.rstd),
    }
}

fn backward<T: Element>(
    x: &[T],
    units: Units,
    centre: Centre,
    gamma: Option<&[T]>,
    eps: f64,
    grad: &[T],
) -> NormGradientDefinitions {
    assert_eq!(x.len(), grad.len(), "the number of gradients");
    let statistics = statistics(x, units, centre, eps);
    let normed = |at: usize| {
        let of = statistics[units.unit(at)];
        normed(x[at].to_f64(), Statistics { centre: of.centre_again, ..of })
    };
    let weighted = |at: usize| {
        let g = exact(grad[at].to_f64());
        gamma.map_or(g, |gamma| g.times(exact(gamma[units.channel(at)].to_f64())).rounded())
    };
    let mut of_units = vec![[BoundedSum::default(); 2]; statistics.len()];
    let mut counts = vec![0usize; statistics.len()];
    let mut of_channels = vec![[BoundedSum::default(); 2]; units.channels()];
    for at in 0..x.len() {
        let [sum, product] = &mut of_units[units.unit(at)];
        sum.add(weighted(at));
        product.add(weighted(at).times(normed(at)));
        counts[units.unit(at)] += 1;
        let [of_gamma, of_beta] = &mut of_channels[units.channel(at)];
        of_gamma.add(exact(grad[at].to_f64()).times(normed(at)));
        of_beta.add(exact(grad[at].to_f64()));
    }
    let of_x = (0..x.len()).map(|at| {
        let unit = units.unit(at);
        let mean = |sum: BoundedSum, factors: usize| divided(sum.done(factors), counts[unit]);
        let [sum, product] = of_units[unit];
        let shift = if centre == Centre::Mean { mean(sum, 0) } else { BoundedNumber::default() };
        let less = normed(at).times(mean(product, 2)).rounded();
        let apart = minus(minus(weighted(at), shift), less);
        let all = apart.times(statistics[unit].rstd).rounded();
        [all.value, all.bound + 8.0 * NORMAL]
    });
    let x = Definition::of(of_x);
    NormGradientDefinitions { x, gamma: summed(&of_channels, 0, 2), beta: summed(&of_channels, 1, 0) }
}

/// The statistics of every unit.
fn statistics<T: Element>(x: &[T], units: Units, centre: Centre, eps: f64) -> Vec<Statistics> {
    let count = (0..x.len()).map(|at| units.unit(at) + 1).max().unwrap_or(0);
    let mut elements = vec![Vec::new(); count];
    for (at, x) in x.iter().enumerate() {
        elements[units.unit(at)].push(x.to_f64());
    }
    elements.iter().map(|elements| of_unit(elements, centre, eps)).collect()
}

/// An element times gamma plus beta.
fn scaled<T: Element>(of: BoundedNumber, [gamma, beta]: [Option<&[T]>; 2], channel: usize) -> BoundedNumber {
    let of = gamma.map_or(of, |gamma| of.times(exact(gamma[channel].to_f64())).rounded());
    beta.map_or(of, |beta| plus(of, exact(beta[channel].to_f64())))
}

/// The sums of each channel.
fn summed(sums: &[[BoundedSum; 2]], which: usize, factors: usize) -> Definition {
    Definition::of(sums.iter().map(|sums| {
        let sum = sums[which].done(factors);
        [sum.value, sum.bound + NORMAL]
    }))
}

/// An element, normalised.
fn normed(x: f64, of: Statistics) -> BoundedNumber {
    minus(exact(x), of.centre).times(of.rstd).rounded()
}
