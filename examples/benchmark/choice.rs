//! How the plan of a case was chosen.

use crate::case::Case;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a plan was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Choice {
    /// By predicted times.
    Predicted,
    /// By the user, who pinned the kernel.
    Pinned,
}

/// How the plan of a case was chosen.
pub(crate) fn choice(case: &Case) -> Choice {
    match case.pin {
        Some(_) => Choice::Pinned,
        None => Choice::Predicted,
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Predicted => "predicted",
            Self::Pinned => "pinned",
        })
    }
}
