//! The statistics of a norm's units by definition, with the error bounds of an f32 computation.

use super::bounded::{BoundedNumber, BoundedSum, DIVIDED, divided, exact};
use super::bounds::gamma;
use super::elements::{NORMAL, U};

/// The mean that a norm subtracts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Centre {
    Mean,
    Nothing,
}

/// The statistics of a unit.
#[derive(Clone, Copy, Default)]
pub(super) struct Statistics {
    /// The stored mean.
    pub(super) mean: BoundedNumber,
    /// The number that a forward pass subtracts from elements.
    pub(super) centre: BoundedNumber,
    /// The number that a backward pass subtracts from elements.
    pub(super) centre_again: BoundedNumber,
    pub(super) variance: BoundedNumber,
    pub(super) rstd: BoundedNumber,
}

/// The statistics of these elements.
pub(super) fn of_unit(elements: &[f64], centre: Centre, eps: f64) -> Statistics {
    match centre {
        Centre::Mean => about_mean(elements, eps),
        Centre::Nothing => {
            let mut squares = BoundedSum::default();
            elements.iter().for_each(|&x| squares.add(exact(x).times(exact(x))));
            let square = divided(squares.done(4), elements.len());
            let variance = BoundedNumber { bound: square.bound + NORMAL, ..square };
            Statistics { variance, rstd: over_root(variance, eps), ..Statistics::default() }
        }
    }
}

/// The statistics of a unit whose mean is subtracted; see [`NormDefinition`](super::NormDefinition).
fn about_mean(elements: &[f64], eps: f64) -> Statistics {
    let n = elements.len();
    let average = |of: &dyn Fn(f64) -> f64| elements.iter().map(|&x| of(x)).sum::<f64>() / n.max(1) as f64;
    let m = average(&|x| x);
    let (apart, square) = (average(&|x| (x - m).abs()), average(&|x| (x - m) * (x - m)));
    let farthest = elements.iter().fold(0.0f64, |most, x| most.max((x - m).abs()));
    let off = gamma(n + 5) * (apart + farthest) + NORMAL;
    let of_squares = 2.0 * off * apart + off * off + gamma(n + 8) * square;
    let variance = BoundedNumber { value: square, bound: of_squares + 4.0 * NORMAL };
    let rstd = over_root(variance, eps);
    // The rounding error of the stored mean shifts normalised elements. Their mean, which should be 0, is this shift.
    let moved = U * (m.abs() + off);
    let left = moved.min(2f64.powi(-20) / rstd.value) + gamma(n + 4) * (apart + moved);
    let number = |bound: f64| BoundedNumber { value: m, bound };
    Statistics {
        mean: number(off + moved),
        centre: number(off + U * farthest),
        centre_again: number(off + left + U * moved),
        variance,
        rstd,
    }
}

/// One over the root of a variance plus epsilon.
pub(super) fn over_root(variance: BoundedNumber, eps: f64) -> BoundedNumber {
    let over = |variance: f64| 1.0 / (variance.max(0.0) + eps).sqrt();
    let value = over(variance.value);
    let most = over(variance.value - variance.bound) * (1.0 + DIVIDED + U);
    BoundedNumber { value, bound: most - value }
}
