//! What came of something that was to be measured.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What came of something that was to be measured: figures, or why there are none.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome<T> {
    Timed(T),
    /// It was not tried.
    LeftOut {
        left_out: String,
    },
    /// It ended with this error.
    Failed {
        error: String,
    },
}

impl<T> Outcome<T> {
    /// The figures, if there are any.
    pub fn timed(&self) -> Option<&T> {
        if let Self::Timed(figures) = self { Some(figures) } else { None }
    }
}

/// A row that has neither `left_out` nor `error` must have all figures: the error names the one that is missing.
impl<'a, T: DeserializeOwned> Deserialize<'a> for Outcome<T> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let text = |name| value.get(name).map(String::deserialize).transpose().map_err(D::Error::custom);
        if let Some(left_out) = text("left_out")? {
            return Ok(Self::LeftOut { left_out });
        }
        if let Some(error) = text("error")? {
            return Ok(Self::Failed { error });
        }
        T::deserialize(value).map(Self::Timed).map_err(D::Error::custom)
    }
}
