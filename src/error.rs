//! What can go wrong, always with the values that made it go wrong.
//!
//! An error names the public function that the user called, not one that this calls in turn. So every public function that
//! can fail runs its work through [`call`] or renames its errors with [`Named::named`]. Functions, and methods of `Gpu`,
//! `Tensor` and `Multivectors`, are named by their name alone, methods of other types by type and name (`SkLinear::forward`),
//! and a builder by its plain function (`Gemm::run` is `matmul`). Shapes are those of the operands as the user gave them, so a
//! function that passes on a view of an operand checks its shape first.

use std::borrow::Cow;
use std::fmt;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate. It leaves the operands and the device usable, except
/// for [`Error::Device`] after the device is lost.
///
/// `Debug` prints the same message as `Display`: so does a `main` that returns an error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A shape that is not allowed, or two that do not go together: the caller's mistake.
    #[error("{op}: {rule}; got {}{remedy}", Shapes(lhs, rhs.as_deref()))]
    #[non_exhaustive]
    Shape {
        /// The public function that was called.
        op: &'static str,
        /// The rule that was broken.
        rule: Cow<'static, str>,
        /// A suggestion what to do about it, or empty.
        remedy: &'static str,
        /// The first shape.
        lhs: Vec<usize>,
        /// The second shape (or range, or length), where there are two.
        rhs: Option<Vec<usize>>,
    },
    /// Something that this device cannot do, in any size.
    #[error("{op} cannot run on {device}: it needs {needs}")]
    Unsupported {
        /// The public function that was called.
        op: &'static str,
        /// What it needs.
        needs: String,
        /// The device that lacks it.
        device: String,
    },
    /// Something too large for this device.
    #[error("{op}: {what} is {needed}, but this device allows {allowed}")]
    Limit {
        /// The public function that was called.
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
        /// The public function that was called.
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
        /// The public function that was called.
        op: &'static str,
        /// Why the operands do not go together.
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
    /// The two are on different devices.
    Devices,
    /// Both adopted the same device of an application.
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

/// Runs the work of the public function `op`. Errors name that function.
pub(crate) fn call<T>(op: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    work().named(op)
}

/// Renames the error of a result after the public function that the user called.
pub(crate) trait Named {
    /// The error names `op`, whatever it named before.
    fn named(self, op: &'static str) -> Self;

    /// As [`named`](Self::named), but leaves [`Error::Input`], which names a file, as it is.
    #[cfg(feature = "safetensors")]
    fn named_except_files(self, op: &'static str) -> Self;
}

impl<T> Named for Result<T> {
    fn named(self, op: &'static str) -> Self {
        self.map_err(|error| error.of(op))
    }

    #[cfg(feature = "safetensors")]
    fn named_except_files(self, op: &'static str) -> Self {
        self.map_err(|error| if matches!(error, Error::Input { .. }) { error } else { error.of(op) })
    }
}

/// Whether the text `what` of an error begins with the name `call`.
fn is_of(what: &str, call: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    what.strip_prefix(call).is_some_and(|rest| !goes_on(rest))
}

impl Error {
    /// The same error, named after another call. The text `what` of [`Error::Input`] is the call, the call and an argument
    /// after a colon, or an argument in several words.
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
            |error: Error| Err::<(), _>(error).named_except_files("SkLinear::load").unwrap_err().to_string();
        assert_eq!(named(Error::input("a: b.npy", "no")), "a: b.npy: no");
        assert_eq!(named(Error::shape("tensor", "a rule", &[1])), "SkLinear::load: a rule; got [1]");
    }
}
