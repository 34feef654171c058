//! Report on the training.

use crate::TESTED;
use crate::check::{TURNED, TURNS};
use plotters::style::RGBColor;
use serde_json::{Value, json};
use std::fmt;
use support::significant;

/// Largest test error of the equivariant network.
const MAX_ERROR: f64 = 0.05;
/// Largest ratio of that error to the better perceptron's.
const MAX_RATIO: f64 = 0.1;

/// Result of training one network. Losses and errors are relative to the mean square of the values to predict.
pub(crate) struct Learnt {
    pub(crate) parameters: usize,
    /// Some of the training steps, and the loss before each of them.
    pub(crate) losses: Vec<(usize, f64)>,
    /// Error on other tetrahedra in the pose of the training.
    pub(crate) error_unturned: f64,
    /// Error on the same tetrahedra, turned and mirrored.
    pub(crate) test_error: f64,
}

impl Learnt {
    /// The first loss and the last.
    fn ends(&self) -> [f64; 2] {
        [self.losses.first(), self.losses.last()].map(|loss| loss.map_or(f64::NAN, |&(_, loss)| loss))
    }
}

/// Results of all networks.
pub(crate) struct Report {
    pub(crate) device: String,
    pub(crate) steps: usize,
    pub(crate) hidden: usize,
    pub(crate) samples: usize,
    pub(crate) equivariant: Learnt,
    pub(crate) perceptron: Learnt,
    /// The perceptron that was trained on turned tetrahedra.
    pub(crate) perceptron_turned: Learnt,
    /// Largest error of equivariance over its bound.
    pub(crate) bound_ratio: f64,
    pub(crate) seconds: f64,
}

impl Report {
    pub(crate) fn ok(&self) -> bool {
        // A NaN fails every comparison.
        self.equivariant.test_error <= MAX_ERROR && self.ratio() <= MAX_RATIO && self.bound_ratio <= 1.0
    }

    /// The equivariant network's test error over that of the better perceptron.
    fn ratio(&self) -> f64 {
        self.equivariant.test_error / self.perceptron.test_error.min(self.perceptron_turned.test_error)
    }

    /// Names, results and colours of all networks.
    pub(crate) fn learners(&self) -> [(&'static str, &Learnt, RGBColor); 3] {
        [
            ("perceptron, one pose", &self.perceptron, RGBColor(0xcc, 0x33, 0x33)),
            ("perceptron, all poses", &self.perceptron_turned, RGBColor(0x33, 0x77, 0xaa)),
            ("equivariant, one pose", &self.equivariant, RGBColor(0x22, 0x99, 0x22)),
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
            "data       {} tetrahedra in one pose for training; {TESTED} others for tests, in that pose and turned",
            self.samples
        )?;
        writeln!(
            f,
            "training   {} steps of gradient descent for each network, {:.1} s in total",
            self.steps, self.seconds
        )?;
        writeln!(
            f,
            "                         parameters  first loss   last loss    test in pose  test turned"
        )?;
        for (name, learnt, _) in self.learners() {
            let [first, last] = learnt.ends().map(significant);
            let [in_pose, turned] = [learnt.error_unturned, learnt.test_error].map(significant);
            let parameters = learnt.parameters;
            writeln!(f, "  {name:<23}{parameters:>10}{first:>12}{last:>12}{in_pose:>16}{turned:>13}")?;
        }
        writeln!(
            f,
            "turned     {TURNED} tetrahedra by {TURNS} turns: largest error of equivariance {} of its bound",
            significant(self.bound_ratio)
        )?;
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        writeln!(
            f,
            "check      {verdict} (test error {}, at most {MAX_ERROR}; {} of the better perceptron's, at most {MAX_RATIO})",
            significant(self.equivariant.test_error),
            significant(self.ratio())
        )
    }
}
