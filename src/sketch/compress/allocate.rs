//! Allocates one budget to many layers.

use crate::sketch::rank::sizes::Sizes;
use crate::sketch::rank::spectrum::Spectrum;
use crate::{Error, Result};

/// The parameters that sketched layers of these sizes may have together: this share of all parameters, minus the
/// `dense` ones of layers that stay dense.
///
/// # Errors
/// [`Error::Input`] if they are too few for rank 1 in each layer.
pub(super) fn room(sizes: &[Sizes], share: f64, dense: usize) -> Result<usize> {
    let total = dense + sizes.iter().map(|sizes| sizes.dense()).sum::<usize>();
    let needed: usize = sizes.iter().map(|sizes| sizes.per_rank()).sum();
    // NOTE: a share that was computed from a number of parameters must allow that number, even if the share was rounded
    // down.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded down, and not negative"
    )]
    let all = (share * total as f64 * (1.0 + 4.0 * f64::EPSILON)) as usize;
    let room = all.checked_sub(dense).filter(|room| *room >= needed);
    room.or(sizes.is_empty().then_some(0)).ok_or_else(|| {
        let why = format!(
            "{all} of {total} params are too few: layers of rank 1 need {needed}, layers that stay dense {dense}"
        );
        Error::input("the budget", why)
    })
}

/// The ranks with the least sum of squared relative errors within this share of all parameters, `dense` of which belong
/// to layers that stay dense.
///
/// From one rank to the next, the squared error of a layer falls by two squared singular values, and its parameters
/// grow by a constant. Singular values decrease, so the gain per parameter decreases too. Therefore the greedy choice
/// is optimal: always raise the rank with the largest gain per parameter, until the budget is used up. (It is the
/// solution of the Lagrange multiplier, found rank by rank.) The parameters left at the end are too few for one more
/// rank of any layer that still gains.
///
/// # Errors
/// As for [`room`].
pub(super) fn ranks(layers: &[(Sizes, &Spectrum)], share: f64, dense: usize) -> Result<Vec<usize>> {
    let sizes: Vec<Sizes> = layers.iter().map(|(sizes, _)| *sizes).collect();
    let mut room = room(&sizes, share, dense)?;
    let mut ranks = vec![1; layers.len()];
    room -= sizes.iter().map(|sizes| sizes.per_rank()).sum::<usize>();
    let gain = |at: usize, rank: usize| {
        let (sizes, spectrum) = layers[at];
        (spectrum.squared_error(rank) - spectrum.squared_error(rank + 1)) / sizes.per_rank() as f64
    };
    loop {
        let open = (0..layers.len()).filter(|&at| {
            let sizes = layers[at].0;
            ranks[at] < sizes.max_rank() && sizes.per_rank() <= room && gain(at, ranks[at]) > 0.0
        });
        let Some(best) = open.max_by(|&a, &b| gain(a, ranks[a]).total_cmp(&gain(b, ranks[b]))) else {
            return Ok(ranks);
        };
        ranks[best] += 1;
        room -= layers[best].0.per_rank();
    }
}

#[cfg(test)]
mod tests {
    use super::ranks;
    use crate::sketch::rank::sizes::Sizes;
    use crate::sketch::rank::spectrum::Spectrum;

    /// A spectrum in which each singular value is this factor times the previous one.
    fn falling(factor: f64, scale: f64) -> Spectrum {
        let s: Vec<f64> = (0..12).map(|i| scale * factor.powi(i)).collect();
        Spectrum::new(&s, 0.0)
    }

    #[test]
    fn no_other_ranks_have_a_smaller_error() {
        let spectra = [falling(0.9, 1.0), falling(0.5, 100.0), falling(0.99, 1e-3)];
        // All ranks cost the same, so the greedy choice uses up the budget.
        let layers = spectra.each_ref().map(|spectrum| (Sizes { rows: 24, cols: 24 }, spectrum));
        let (price, total) = (layers[0].0.per_rank(), 3.0 * 576.0);
        let error = |ranks: &[usize]| -> f64 {
            ranks.iter().zip(&spectra).map(|(&rank, spectrum)| spectrum.squared_error(rank)).sum()
        };
        for steps in 3..=15 {
            // A layer that stays dense takes its share.
            let found =
                ranks(&layers, (steps * price + 5 + 10) as f64 / (total + 10.0), 10).expect("there is room");
            assert!(found.iter().sum::<usize>() <= steps);
            let mut best = f64::INFINITY;
            for a in 1..=5usize {
                for b in 1..=5usize {
                    let rest = steps.saturating_sub(a + b).min(5);
                    if rest >= 1 {
                        best = best.min(error(&[a, b, rest]));
                    }
                }
            }
            assert!(error(&found) <= best * (1.0 + 1e-12), "{steps}: {found:?}");
        }
        assert!(ranks(&layers, (3 * price) as f64 / total, 0).is_ok());
        let few = ranks(&layers, (3 * price - 1) as f64 / total, 0).expect_err("there is too little room");
        assert!(few.to_string().contains("287 of 1728 params"), "{few}");
        assert!(ranks(&[], 0.1, 10).is_ok_and(|ranks| ranks.is_empty()));
    }

    #[test]
    fn a_layer_without_gain_stays_at_rank_one() {
        let [zeros, some] = [Spectrum::new(&[0.0; 12], 0.0), falling(0.9, 1.0)];
        let sizes = Sizes { rows: 24, cols: 24 };
        let found = ranks(&[(sizes, &zeros), (sizes, &some)], 9.0, 0).expect("there is room");
        assert_eq!(found, [1, sizes.max_rank()]);
    }
}
