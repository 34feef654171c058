//! How the plan of a case was chosen.

use crate::case::Case;
use serde::{Deserialize, Serialize};
use std::fmt;
use tilewise::Plan;
use tilewise::planning::TimeSource;

/// How a plan was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Choice {
    /// By predicted times.
    Predicted,
    /// By measured times, now or in an earlier run: `TILEWISE_TUNING`. The prediction is the measured time.
    Tuned,
    /// By the user, who pinned the kernel.
    Pinned,
}

/// How the plan of a case was chosen.
pub(crate) fn choice(case: &Case, plan: &Plan) -> Choice {
    match (case.pin, plan.time_source()) {
        (Some(_), _) => Choice::Pinned,
        (None, TimeSource::Measured) => Choice::Tuned,
        (None, TimeSource::Predicted) => Choice::Predicted,
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Predicted => "predicted",
            Self::Tuned => "tuned",
            Self::Pinned => "pinned",
        })
    }
}
