//! Figures in JSON that may be infinite or no number, as those of a wrong result are: JSON has no numbers for them.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// A figure in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Figure {
    Number(f64),
    /// `inf`, `-inf`, `NaN`.
    Name(String),
}

pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.collect_str(value) }
}

pub(crate) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<f64, D::Error> {
    match Figure::deserialize(deserializer)? {
        Figure::Number(value) => Ok(value),
        Figure::Name(name) => match name.as_str() {
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            "NaN" => Ok(f64::NAN),
            _ => Err(D::Error::custom(format!("`{name}` is neither a number nor inf, -inf or NaN"))),
        },
    }
}
