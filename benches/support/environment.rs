//! Numbers from environment variables.

use std::str::FromStr;
use tilewise::{Error, Result};

/// A variable that is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The numbers that a variable lists, if it is set.
pub fn list(name: &str) -> Result<Option<Vec<usize>>> {
    variable(name).map(|value| parsed_list(name, &value)).transpose()
}

/// The number that a variable holds, if it is set.
pub fn number<T: FromStr>(name: &str) -> Result<Option<T>> {
    variable(name).map(|value| parsed(name, &value)).transpose()
}

fn parsed_list(name: &str, value: &str) -> Result<Vec<usize>> {
    let numbers: Result<Vec<usize>, _> = value.split(',').map(|number| number.trim().parse()).collect();
    numbers.map_err(|_| invalid(name, value, "a list of numbers such as 256,512"))
}

fn parsed<T: FromStr>(name: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| invalid(name, value, "a number such as 5"))
}

fn invalid(name: &str, value: &str, wanted: &str) -> Error {
    Error::Input { what: name.into(), why: format!("`{value}` is not {wanted}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_numbers_are_read_or_refused() {
        assert_eq!(parsed_list("TILEWISE_SIZES", "16, 32").ok(), Some(vec![16, 32]));
        assert_eq!(parsed::<u32>("TILEWISE_LIMIT", "60").ok(), Some(60));
        for (refused, words) in [
            (parsed_list("TILEWISE_SIZES", "16,x").err(), "`16,x` is not a list of numbers such as 256,512"),
            (parsed::<u32>("TILEWISE_LIMIT", "-1").err(), "`-1` is not a number such as 5"),
        ] {
            assert!(refused.is_some_and(|error| error.to_string().contains(words)), "{words}");
        }
    }
}
