//! One budget for many layers.

use crate::sketch::budget::Sizes;
use crate::sketch::spectrum::Spectrum;

/// The ranks that leave the least sum of squared relative errors, with no more parameters in all than there is room
/// for. None if there is no room for a rank of 1 each.
///
/// From one rank to the next a layer's squared error falls by two squares of singular values, which are smaller and
/// smaller, and its parameters grow by the same number. So what is gained for each parameter falls, and the best that
/// so many parameters can do is to take the largest gains that there are, one after another, until the room is used up
/// (which is what a Lagrange multiplier says, found by a walk). What is left is less than a step of every layer that has
/// any to gain.
pub(super) fn ranks(layers: &[(Sizes, &Spectrum)], room: usize) -> Option<Vec<usize>> {
    let mut ranks = vec![1; layers.len()];
    let least: usize = layers.iter().map(|(sizes, _)| sizes.per_rank()).sum();
    let mut room = room.checked_sub(least)?;
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
            return Some(ranks);
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
        let price = layers[0].0.per_rank();
        let error = |ranks: &[usize]| -> f64 {
            ranks.iter().zip(&spectra).map(|(&rank, spectrum)| spectrum.squared_error(rank)).sum()
        };
        for steps in 3..=15 {
            let found = ranks(&layers, steps * price + 5).expect("there is room");
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
        assert_eq!(ranks(&layers, 3 * price - 1), None);
        assert_eq!(ranks(&[], 0), Some(vec![]));
    }

    #[test]
    fn what_gains_nothing_gets_nothing() {
        let [zeros, some] = [Spectrum::new(&[0.0; 12], 0.0), falling(0.9, 1.0)];
        let sizes = Sizes { rows: 24, cols: 24 };
        assert_eq!(ranks(&[(sizes, &zeros), (sizes, &some)], 10_000), Some(vec![1, sizes.most()]));
    }
}
