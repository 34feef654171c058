//! Numbers from environment variables.

use std::str::FromStr;
use tilewise::{Error, Result};

/// The numbers that a variable lists, or the default if it is not set.
pub fn list(variable: &str, default: &[usize]) -> Result<Vec<usize>> {
    let Ok(value) = std::env::var(variable) else { return Ok(default.to_vec()) };
    let numbers: Result<Vec<usize>, _> = value.split(',').map(|number| number.trim().parse()).collect();
    numbers.map_err(|_| invalid(variable, &value, "a list of numbers such as 256,512"))
}

/// The number that a variable holds, or the default if it is not set.
pub fn number<T: FromStr>(variable: &str, default: T) -> Result<T> {
    let Ok(value) = std::env::var(variable) else { return Ok(default) };
    value.parse().map_err(|_| invalid(variable, &value, "a number such as 5"))
}

fn invalid(variable: &str, value: &str, wanted: &str) -> Error {
    Error::Input { what: variable.into(), why: format!("`{value}` is not {wanted}") }
}
