//! One budget for many layers.

use crate::sketch::budget::Sizes;
use crate::sketch::spectrum::Spectrum;
use crate::{Error, Result};

/// The parameters that there are for sketched layers of these sizes, beside `kept` ones of layers that stay dense: of
/// all of them, this share.
///
/// # Errors
/// [`Error::Input`] if there are too few for a rank of 1 each.
pub(super) fn room(sizes: &[Sizes], share: f64, kept: usize) -> Result<usize> {
    let total = kept + sizes.iter().map(|sizes| sizes.dense()).sum::<usize>();
    let least: usize = sizes.iter().map(|sizes| sizes.per_rank()).sum();
    // A share that was made from a number of parameters is that number again, whichever way it was rounded.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded down, and not negative"
    )]
    let all = (share * total as f64 * (1.0 + 4.0 * f64::EPSILON)) as usize;
    let room = all.checked_sub(kept).filter(|room| *room >= least);
    room.or(sizes.is_empty().then_some(0)).ok_or_else(|| {
        let why = format!(
            "{all} of {total} params are too few: layers of rank 1 have {least}, and those that stay dense {kept}"
        );
        Error::input("the budget", why)
    })
}

/// The ranks that leave the least sum of squared relative errors, with no more than this share of all parameters, of
/// which `kept` are those of layers that stay dense.
///
/// From one rank to the next a layer's squared error falls by two squares of singular values, which are smaller and
/// smaller, and its parameters grow by the same number. So what is gained for each parameter falls, and the best that
/// so many parameters can do is to take the largest gains that there are, one after another, until the room is used up
/// (which is what a Lagrange multiplier says, found by a walk). What is left is less than a step of every layer that has
/// any to gain.
///
/// # Errors
/// As [`room`].
pub(super) fn ranks(layers: &[(Sizes, &Spectrum)], share: f64, kept: usize) -> Result<Vec<usize>> {
    let sizes: Vec<Sizes> = layers.iter().map(|(sizes, _)| *sizes).collect();
    let mut room = room(&sizes, share, kept)?;
    let mut ranks = vec![1; layers.len()];
    room -= sizes.iter().map(|sizes| sizes.per_rank()).sum::<usize>();
    let gain = |at: usize, rank: usize| {
        let (sizes, spectrum) = layers[at];
        (spectrum.squared_error(rank) - spectrum.squared_error(rank + 1)) / sizes.per_rank() as f64
    };
    loop {
        let open = (0..layers.len()).filter(|&at| {
            let sizes = layers[at].0;
            ranks[at] < sizes.most() && sizes.per_rank() <= room && gain(at, ranks[at]) > 0.0
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
    use crate::sketch::budget::Sizes;
    use crate::sketch::spectrum::Spectrum;

    /// A spectrum that falls by this factor from one singular value to the next.
    fn falling(factor: f64, scale: f64) -> Spectrum {
        let s: Vec<f64> = (0..12).map(|i| scale * factor.powi(i)).collect();
        Spectrum::new(&s, 0.0)
    }

    #[test]
    fn no_other_ranks_leave_less() {
        let spectra = [falling(0.9, 1.0), falling(0.5, 100.0), falling(0.99, 1e-3)];
        // Steps of the same price, of which greed leaves nothing.
        let layers = spectra.each_ref().map(|spectrum| (Sizes { rows: 24, cols: 24 }, spectrum));
        let (price, total) = (layers[0].0.per_rank(), 3.0 * 576.0);
        let error = |ranks: &[usize]| -> f64 {
            ranks.iter().zip(&spectra).map(|(&rank, spectrum)| spectrum.squared_error(rank)).sum()
        };
        for steps in 3..=15 {
            // A layer that stays dense takes its part.
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
    fn what_gains_nothing_gets_nothing() {
        let [zeros, some] = [Spectrum::new(&[0.0; 12], 0.0), falling(0.9, 1.0)];
        let sizes = Sizes { rows: 24, cols: 24 };
        let found = ranks(&[(sizes, &zeros), (sizes, &some)], 9.0, 0).expect("there is room");
        assert_eq!(found, [1, sizes.most()]);
    }
}
