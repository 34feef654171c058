//! What came out of the training.

use crate::TESTED;
use crate::check::{TURNED, TURNS};
use crate::support::significant;
use serde_json::{Value, json};
use std::fmt;

/// What the equivariant network's error of the test may be, and what of a perceptron's.
const ERROR_AT_MOST: f64 = 0.05;
const RATIO_AT_MOST: f64 = 0.1;

/// What became of one network; losses and errors as shares of the mean square of what is to be told.
pub(crate) struct Learnt {
    pub(crate) parameters: usize,
    /// Some of the steps, and the loss before each.
    pub(crate) losses: Vec<(usize, f64)>,
    /// Of tetrahedra in the pose of those that were learnt from.
    pub(crate) error_unturned: f64,
    /// Of the same, turned and mirrored.
    pub(crate) test_error: f64,
}

impl Learnt {
    /// The first loss and the last.
    fn ends(&self) -> [f64; 2] {
        [self.losses.first(), self.losses.last()].map(|loss| loss.map_or(f64::NAN, |&(_, loss)| loss))
    }
}

/// What came out.
pub(crate) struct Report {
    pub(crate) device: String,
    pub(crate) steps: usize,
    pub(crate) hidden: usize,
    pub(crate) samples: usize,
    pub(crate) equivariant: Learnt,
    pub(crate) perceptron: Learnt,
    /// The perceptron that has learnt from turned tetrahedra.
    pub(crate) perceptron_turned: Learnt,
    /// Of the network of what was turned, against what was turned of the network.
    pub(crate) bound_ratio: f64,
    pub(crate) seconds: f64,
}

impl Report {
    pub(crate) fn ok(&self) -> bool {
        // What is NaN is not at most anything.
        self.equivariant.test_error <= ERROR_AT_MOST
            && self.ratio() <= RATIO_AT_MOST
            && self.bound_ratio <= 1.0
    }

    /// The equivariant network's error of the test, of the better perceptron's.
    fn ratio(&self) -> f64 {
        self.equivariant.test_error / self.perceptron.test_error.min(self.perceptron_turned.test_error)
    }

    /// All networks: how they are called and drawn.
    pub(crate) fn learners(&self) -> [(&'static str, &Learnt, &'static str); 3] {
        [
            ("perceptron, one pose", &self.perceptron, "#c33"),
            ("perceptron, all poses", &self.perceptron_turned, "#37a"),
            ("equivariant, one pose", &self.equivariant, "#292"),
        ]
    }

    pub(crate) fn json(&self) -> Value {
        let of_each = |value: fn(&Learnt) -> Value| {
            json!({
                "equivariant": value(&self.equivariant),
                "perceptron": value(&self.perceptron),
                "perceptron_turned": value(&self.perceptron_turned),
            })
        };
        json!({
            "device": self.device,
            "steps": self.steps,
            "hidden": self.hidden,
            "samples": self.samples,
            "parameters": of_each(|learnt| learnt.parameters.into()),
            "loss": of_each(|learnt| {
                let [first, last] = learnt.ends();
                json!({ "first": first, "last": last })
            }),
            "error_unturned": of_each(|learnt| learnt.error_unturned.into()),
            "test_error": of_each(|learnt| learnt.test_error.into()),
            "ratio": self.ratio(),
            "equivariance": { "bound_ratio": self.bound_ratio },
            "seconds": self.seconds,
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "device     {}", self.device)?;
        writeln!(
            f,
            "data       {} tetrahedra in one pose to learn from; tests on {TESTED} others, as they lie and turned",
            self.samples
        )?;
        writeln!(
            f,
            "training   {} steps of gradient descent each, {:.1} s in all",
            self.steps, self.seconds
        )?;
        writeln!(
            f,
            "                         parameters  first loss   last loss  test as they lie  test turned"
        )?;
        for (name, learnt, _) in self.learners() {
            let [first, last] = learnt.ends().map(significant);
            let [lying, turned] = [learnt.error_unturned, learnt.test_error].map(significant);
            let parameters = learnt.parameters;
            writeln!(f, "  {name:<23}{parameters:>10}{first:>12}{last:>12}{lying:>18}{turned:>13}")?;
        }
        writeln!(
            f,
            "turned     {TURNED} tetrahedra by {TURNS} turns: the network's differ by {} of the bound at most",
            significant(self.bound_ratio)
        )?;
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        writeln!(
            f,
            "check      {verdict} (an error of the test of at most {ERROR_AT_MOST}, and {} of the better perceptron's, at most {RATIO_AT_MOST})",
            significant(self.ratio())
        )
    }
}
