//! What can go wrong, always with the values that made it go wrong.
//!
//! An error names the call that the user made: every public function that can fail passes what it does through [`call`] or
//! [`Named::named`], so that what it calls itself is not what the user is told of. Functions, and methods of `Gpu`, `Tensor`
//! and `Multivectors`, go by their name alone, methods of other types by both (`SkLinear::forward`), and what has options by
//! the function without (`Gemm::run` is `matmul`). Shapes are those of the operands as the user gave them, so a function that
//! hands on a view of an operand checks its shape first.

use std::borrow::Cow;
use std::fmt;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate. It leaves the operands and the device usable, except
/// for [`Error::Device`] after the device is lost.
///
/// `Debug` prints the message too, so that a `main` that returns an error says it in words.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A shape that is not allowed, or two that do not go together: the caller's mistake.
    #[error("{op}: {rule}; got {}{remedy}", Shapes(lhs, rhs.as_deref()))]
    #[non_exhaustive]
    Shape {
        /// The call that was made.
        op: &'static str,
        /// The rule that was broken.
        rule: Cow<'static, str>,
        /// What to do about it, where there is a guess; else empty.
        remedy: &'static str,
        /// The first shape.
        lhs: Vec<usize>,
        /// The second shape (or range, or length), where there are two.
        rhs: Option<Vec<usize>>,
    },
    /// Something that this device cannot do, in any size.
    #[error("{op} cannot run on {device}: it needs {needs}")]
    Unsupported {
        /// The call that was made.
        op: &'static str,
        /// What it needs.
        needs: String,
        /// The device that lacks it.
        device: String,
    },
    /// Something too large for this device.
    #[error("{op}: {what} is {needed}, but this device allows {allowed}")]
    Limit {
        /// The call that was made.
        op: &'static str,
        /// The quantity, with its unit.
        what: String,
        /// How much the operation needs.
        needed: u64,
        /// How much the device allows.
        allowed: u64,
    },
    /// The memory budget or the device's memory is used up.
    #[error("{op}: no room for {needed} more bytes{}", Left(*available))]
    OutOfMemory {
        /// The call that was made.
        op: &'static str,
        /// Bytes that were asked for.
        needed: u64,
        /// Bytes left of the memory budget. None where that is not what is used up: the device or the host has no more
        /// memory.
        available: Option<u64>,
    },
    /// Operands of different [`Gpu`](crate::Gpu)s.
    #[error("{op}: {apart}")]
    #[non_exhaustive]
    Gpu {
        /// The call that was made.
        op: &'static str,
        /// What keeps the operands apart.
        apart: Apart,
    },
    /// A value from outside (a file, an environment variable, an argument) that makes no sense.
    #[error("{what}: {why}")]
    Input {
        /// What was read.
        what: String,
        /// Why it cannot be used.
        why: String,
    },
    /// The device or its driver failed: a shader that does not compile, a lost device.
    #[error("the GPU failed: {0}")]
    Device(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why operands of two [`Gpu`](crate::Gpu)s do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Apart {
    /// They are two devices.
    Devices,
    /// They are one device of an application, adopted twice.
    Adoptions,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Devices => "the operands live on different devices; upload both through the same Gpu",
            Self::Adoptions => {
                "the operands belong to two Gpus, though both adopted the same device; adopt it once, and clone that Gpu"
            }
        })
    }
}

/// The shapes of an error: one or two.
struct Shapes<'a>(&'a [usize], Option<&'a [usize]>);

impl fmt::Display for Shapes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(lhs, rhs) = self;
        write!(f, "{lhs:?}")?;
        rhs.map_or(Ok(()), |rhs| write!(f, " and {rhs:?}"))
    }
}

/// What is left of the memory budget, if that is what is used up.
struct Left(Option<u64>);

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |left| write!(f, " ({left} of the memory budget are free)"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Runs what a public function does. Its errors name that function.
pub(crate) fn call<T>(op: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    work().named(op)
}

/// A result whose error names the call that the user made.
pub(crate) trait Named {
    /// Names this call, whatever is named.
    fn named(self, op: &'static str) -> Self;

    /// As [`named`](Self::named), but for [`Error::Input`], which names a file.
    #[cfg(feature = "safetensors")]
    fn named_beside_files(self, op: &'static str) -> Self;
}

impl<T> Named for Result<T> {
    fn named(self, op: &'static str) -> Self {
        self.map_err(|error| error.of(op))
    }

    #[cfg(feature = "safetensors")]
    fn named_beside_files(self, op: &'static str) -> Self {
        self.map_err(|error| if matches!(error, Error::Input { .. }) { error } else { error.of(op) })
    }
}

/// Whether what an error is about begins with this call.
fn is_of(what: &str, call: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    what.strip_prefix(call).is_some_and(|rest| !goes_on(rest))
}

impl Error {
    /// The same error of another call. What [`Error::Input`] is about is the call, the call and an argument behind a
    /// colon, or an argument in several words.
    fn of(mut self, call: &'static str) -> Self {
        match &mut self {
            Self::Shape { op, .. }
            | Self::Unsupported { op, .. }
            | Self::Limit { op, .. }
            | Self::OutOfMemory { op, .. }
            | Self::Gpu { op, .. } => *op = call,
            Self::Input { what, .. } if is_of(what, call) => {}
            Self::Input { what, .. } => {
                let argument = match what.split_once(": ") {
                    Some((_, argument)) => Some(argument),
                    None => what.contains(' ').then_some(what.as_str()),
                };
                *what = argument.map_or(call.to_owned(), |argument| format!("{call}: {argument}"));
            }
            Self::Device(_) => {}
        }
        self
    }

    pub(crate) fn shape(op: &'static str, rule: &'static str, shape: &[usize]) -> Self {
        Self::Shape { op, rule: rule.into(), remedy: "", lhs: shape.to_vec(), rhs: None }
    }

    pub(crate) fn shapes(op: &'static str, rule: &'static str, lhs: &[usize], rhs: &[usize]) -> Self {
        Self::Shape { op, rule: rule.into(), remedy: "", lhs: lhs.to_vec(), rhs: Some(rhs.to_vec()) }
    }

    pub(crate) fn input(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Input { what: what.into(), why: why.into() }
    }

    pub(crate) fn device(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Device(why.into())
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Named, Result};

    #[test]
    fn an_error_prints_its_message_in_both_ways() {
        let error = Error::shapes("add", "extents must be equal", &[2, 3], &[4]);
        assert_eq!(error.to_string(), "add: extents must be equal; got [2, 3] and [4]");
        assert_eq!(format!("{error:?}"), error.to_string());
        let failed: Result<()> = Err(Error::device("it is lost"));
        assert_eq!(format!("{failed:?}"), "Err(the GPU failed: it is lost)");
    }

    #[test]
    fn what_is_left_of_a_budget_is_said_where_a_budget_is_used_up() {
        let full = |available| Error::OutOfMemory { op: "zeros", needed: 512, available }.to_string();
        assert_eq!(full(Some(256)), "zeros: no room for 512 more bytes (256 of the memory budget are free)");
        assert_eq!(full(None), "zeros: no room for 512 more bytes");
    }

    #[test]
    fn an_error_names_the_call_that_was_made() {
        let named = |error: Error| Err::<(), _>(error).named("linear").unwrap_err().to_string();
        assert_eq!(named(Error::shapes("matmul", "a rule", &[1], &[2])), "linear: a rule; got [1] and [2]");
        assert_eq!(
            named(Error::input("matmul: the output", "it is shared")),
            "linear: the output: it is shared"
        );
        assert_eq!(named(Error::input("matmul", "no")), "linear: no");
        assert_eq!(named(Error::input("the budget of params", "no")), "linear: the budget of params: no");
        assert_eq!(named(Error::device("it is lost")), "the GPU failed: it is lost");
    }

    #[test]
    #[cfg(feature = "safetensors")]
    fn an_error_of_a_file_goes_on_naming_the_file() {
        let named =
            |error: Error| Err::<(), _>(error).named_beside_files("SkLinear::load").unwrap_err().to_string();
        assert_eq!(named(Error::input("a: b.npy", "no")), "a: b.npy: no");
        assert_eq!(named(Error::shape("tensor", "a rule", &[1])), "SkLinear::load: a rule; got [1]");
    }
}
