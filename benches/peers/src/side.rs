//! A side: a library that computes the products of a case, once its result is checked.

use crate::error::{Error, Result};
use crate::rows::{Checked, SideRow, Timed};
use bench::definition::Definition;
use bench::repetitions;
use bench::rows::Outcome;
use bench::statistics::{Spread, ratios};

/// Seconds that one timing should take at least, and products of one timing at most.
const ENOUGH: f64 = 0.01;
const MAX_PRODUCTS: u64 = 4096;

/// Computes products and returns the seconds that they took on the host's clock.
pub(crate) type Time<'a> = Box<dyn FnMut(u64) -> Result<f64> + 'a>;

/// What a first result is compared with.
pub(crate) trait Check {
    /// How the result compares, or what is wrong with it.
    fn check(&self, result: &[f32]) -> Result<Checked, String>;
}

impl Check for Definition {
    fn check(&self, result: &[f32]) -> Result<Checked, String> {
        let compared = self.compare(result);
        if !compared.ok() {
            return Err(format!(
                "the result is wrong: its largest error is {:.2e}, {:.1} times the bound",
                compared.max_abs_err, compared.bound_ratio
            ));
        }
        Ok(Checked {
            check: Self::check(self),
            max_abs_err: compared.max_abs_err,
            bound_ratio: compared.bound_ratio,
        })
    }
}

/// A library that is ready to be timed, or what went wrong with it.
pub(crate) struct Side<'a> {
    name: String,
    /// The kernel or strategy.
    kernel: String,
    state: Result<Ready<'a>>,
}

struct Ready<'a> {
    checked: Checked,
    time: Time<'a>,
    /// Products in one timing.
    products: u64,
    /// Seconds of one product, round by round.
    seconds: Vec<f64>,
}

impl<'a> Side<'a> {
    /// Checks the first result that a library computed, and warms it up. `prepare` returns that result and the timing.
    pub(crate) fn new(
        name: &str,
        kernel: String,
        definition: &impl Check,
        prepare: impl FnOnce() -> Result<(Vec<f32>, Time<'a>)>,
    ) -> Self {
        let state = prepare().and_then(|(c, time)| Ready::new(name, &c, time, definition));
        Self { name: name.into(), kernel, state }
    }

    /// Times it once. After an error it is not timed again.
    pub(crate) fn round(&mut self) {
        if let Ok(ready) = &mut self.state
            && let Err(error) = ready.round()
        {
            self.state = Err(error);
        }
    }

    /// Seconds of one product, round by round.
    pub(crate) fn seconds(&self) -> &[f64] {
        self.state.as_ref().map_or(&[], |ready| &ready.seconds)
    }

    /// What went wrong with it.
    pub(crate) fn error(&self) -> Option<String> {
        match &self.state {
            Ok(_) => None,
            Err(Error::Side { why, .. }) => Some(why.clone()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// What came of it. `ours` are the rounds of the library.
    pub(crate) fn row(&self, flops: f64, ours: &[f64]) -> SideRow {
        let outcome = match &self.state {
            Err(_) => Outcome::Failed { error: self.error().unwrap_or_default() },
            Ok(ready) => ready.outcome(flops, ours),
        };
        SideRow { name: self.name.clone(), kernel: self.kernel.clone(), outcome }
    }
}

impl<'a> Ready<'a> {
    fn new(name: &str, c: &[f32], mut time: Time<'a>, definition: &impl Check) -> Result<Self> {
        let checked = definition.check(c).map_err(|why| Error::Side { side: name.into(), why })?;
        let products = repetitions::doubled(ENOUGH, MAX_PRODUCTS, &mut time)?;
        Ok(Self { checked, time, products, seconds: Vec::new() })
    }

    fn round(&mut self) -> Result<()> {
        self.seconds.push((self.time)(self.products)? / self.products as f64);
        Ok(())
    }

    fn outcome(&self, flops: f64, ours: &[f64]) -> Outcome<Timed> {
        let Some(spread) = Spread::of(&self.seconds) else {
            return Outcome::Failed { error: "it was not timed".into() };
        };
        Outcome::Timed(Timed {
            rounds: self.seconds.len(),
            products_per_round: self.products,
            seconds: spread.median,
            seconds_min: spread.least,
            seconds_max: spread.most,
            gflops: flops / spread.median * 1e-9,
            ratios: ratios(&self.seconds, ours),
            checked: self.checked.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn definition() -> Definition {
        Definition::new(&[2.0f32], &[3.0f32], [1; 3], 1)
    }

    #[test]
    fn a_wrong_result_is_an_error_and_is_not_timed() {
        let timed = std::cell::Cell::new(0);
        let mut side = Side::new("peer", "kernel".into(), &definition(), || {
            Ok((vec![7.0], Box::new(|_| Ok(f64::from(timed.replace(timed.get() + 1))))))
        });
        side.round();
        assert_eq!(timed.get(), 0);
        let Outcome::Failed { error } = side.row(2.0, &[1.0]).outcome else { panic!("it was timed") };
        assert!(error.starts_with("the result is wrong: its largest error is 1.00e0"), "{error}");
    }

    #[test]
    fn a_side_is_timed_in_products_of_enough_seconds() {
        let mut side = Side::new("peer", "kernel".into(), &definition(), || {
            Ok((vec![6.0], Box::new(|count| Ok(0.002 * count as f64))))
        });
        side.round();
        side.round();
        let Outcome::Timed(timed) = side.row(4e6, &[0.001, 0.001]).outcome else { panic!("it failed") };
        assert_eq!((timed.rounds, timed.products_per_round), (2, 8));
        assert!((timed.seconds - 0.002).abs() < 1e-12 && (timed.gflops - 2.0).abs() < 1e-9);
        assert!(timed.ratios.iter().all(|ratio| (ratio - 2.0).abs() < 1e-12) && timed.ratios.len() == 2);
    }

    #[test]
    fn a_side_that_fails_in_a_round_has_no_times() {
        let mut rounds = 0;
        let mut side = Side::new("peer", "kernel".into(), &definition(), || {
            let time = move |_| {
                rounds += 1;
                if rounds > 2 { Err(Error::side("peer", "lost")) } else { Ok(1.0) }
            };
            Ok((vec![6.0], Box::new(time)))
        });
        (0..3).for_each(|_| side.round());
        assert!(side.seconds().is_empty());
        assert!(matches!(side.row(1.0, &[]).outcome, Outcome::Failed { error } if error == "\"lost\""));
    }
}
