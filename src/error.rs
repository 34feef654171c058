//! Errors. Each contains the values that caused it.
//!
//! An error names the public function that the user called, not one that this function calls in turn. So every public
//! function that can fail runs its work through [`call`] or renames its errors with [`Named::named`]. Functions, and
//! methods of `Gpu`, `Tensor` and `Multivectors`, are named by their name alone; methods of other types by type and
//! name (`SkLinear::forward`); a builder by its plain function (`Gemm::run` is `matmul`). Shapes are those of the
//! operands as the user passed them. So a function that passes a view of an operand to another function checks the
//! operand's shape first.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate. The operands and the device remain usable, except for [`Error::Device`] after the device is
/// lost.
///
/// `Debug` prints the same message as `Display`, so a `main` that returns an error prints it too.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A mistake of the caller: a shape that is not allowed, or two shapes that do not match.
    #[error("{op}: {rule}; got {}{remedy}", Shapes(lhs, rhs.as_deref()))]
    #[non_exhaustive]
    Shape {
        /// The public function that was called.
        op: &'static str,
        /// The rule that was broken.
        rule: Cow<'static, str>,
        /// The remedy, or an empty text.
        remedy: &'static str,
        /// Shape of the first operand.
        lhs: Vec<usize>,
        /// Shape of the second operand (or a range, or a length), if there are two.
        rhs: Option<Vec<usize>>,
    },
    /// An operation that this device cannot run, at any size.
    #[error("{op} cannot run on {device}: it needs {needs}")]
    Unsupported {
        /// The public function that was called.
        op: &'static str,
        /// Features that the operation needs.
        needs: String,
        /// Name of the device that lacks them.
        device: String,
    },
    /// A size that exceeds a limit of this device.
    #[error("{op}: {what} is {needed}, but this device allows {allowed}")]
    Limit {
        /// The public function that was called.
        op: &'static str,
        /// Name of the quantity, with its unit.
        what: String,
        /// Value that the operation needs.
        needed: u64,
        /// Maximum that the device allows.
        allowed: u64,
    },
    /// The memory budget or the device's memory is used up.
    #[error("{op}: not enough memory for {needed} more bytes{}", UnusedBytes(*available))]
    OutOfMemory {
        /// The public function that was called.
        op: &'static str,
        /// Requested bytes.
        needed: u64,
        /// Unused bytes of the memory budget. None if the budget is not the cause: the device or the host is out of
        /// memory.
        available: Option<u64>,
    },
    /// Operands that belong to different [`Gpu`](crate::Gpu)s.
    #[error("{op}: {mismatch}")]
    #[non_exhaustive]
    Gpu {
        /// The public function that was called.
        op: &'static str,
        /// How the two `Gpu`s differ.
        mismatch: GpuMismatch,
    },
    /// An invalid value from outside: of a file, an environment variable or an argument.
    #[error("{what}: {why}")]
    Input {
        /// Name of the value.
        what: String,
        /// Reason why it is invalid.
        why: String,
    },
    /// The callback of [`with_progress`](crate::with_progress) has cancelled the call.
    #[error("{op}: cancelled by the callback of `with_progress`")]
    #[non_exhaustive]
    Cancelled {
        /// The public function that was called.
        op: &'static str,
    },
    /// A failure of the device or its driver, such as a shader that does not compile, or a lost device.
    #[error("the GPU failed: {0}")]
    Device(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// How the [`Gpu`](crate::Gpu)s of two operands differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuMismatch {
    /// They are different devices, or two adoptions of one Vulkan device by `Gpu::from_vulkan`. The adoptions appear as
    /// different devices because each has its own instance of wgpu.
    Devices,
    /// They are two adoptions of one `wgpu::Device` of an application.
    Adoptions,
    /// An application's buffer belongs to another device, or to another adoption of one Vulkan device.
    Buffer,
    /// An application's texture belongs to another device, or to another adoption of one Vulkan device.
    Texture,
}

impl fmt::Display for GpuMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Devices => "the operands live on different devices, or on one that was adopted twice; use one Gpu and its clones for both",
            Self::Adoptions => {
                "the operands belong to two Gpus, though both adopted the same device; adopt it once, and clone that Gpu"
            }
            Self::Buffer => "the buffer belongs to another device, or to another adoption of this one; create it on `Gpu::device` of this Gpu, \
                 or wrap it with this Gpu",
            Self::Texture => "the texture belongs to another device, or to another adoption of this one; create it on `Gpu::device` of this Gpu, \
                 or use it with tensors of its own Gpu",
        })
    }
}

/// One or two shapes, as the error prints them.
struct Shapes<'a>(&'a [usize], Option<&'a [usize]>);

impl fmt::Display for Shapes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(lhs, rhs) = self;
        write!(f, "{lhs:?}")?;
        rhs.map_or(Ok(()), |rhs| write!(f, " and {rhs:?}"))
    }
}

/// Unused bytes of the memory budget, if the budget is used up.
struct UnusedBytes(Option<u64>);

impl fmt::Display for UnusedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |left| write!(f, " ({left} of the memory budget are free)"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The number of public functions of this crate that this thread is in, one within another.
pub(crate) fn depth() -> u32 {
    DEPTH.try_with(Cell::get).unwrap_or(0)
}

/// Runs the work of the public function `op`, and renames its errors after that function.
pub(crate) fn call<T>(op: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let _level = Level::enter();
    work().named(op)
}

/// One function further in, until it is dropped.
struct Level;

impl Level {
    fn enter() -> Self {
        // NOTE: a thread that ends may still run destructors that call this crate.
        let _: std::result::Result<_, _> = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
        Self
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        let _: std::result::Result<_, _> = DEPTH.try_with(|depth| depth.set(depth.get() - 1));
    }
}

/// Renames the error of a result after the public function that the user called.
pub(crate) trait Named {
    /// Renames the error after `op`.
    fn named(self, op: &'static str) -> Self;

    /// As [`named`](Self::named), but leaves [`Error::Input`] unchanged, because it names a file.
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

/// Whether `what` of an error begins with the name `call`.
fn is_of(what: &str, call: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    what.strip_prefix(call).is_some_and(|rest| !goes_on(rest))
}

impl Error {
    /// Renames the error after the call `call`. The text `what` of [`Error::Input`] is one of: a call; a call and an
    /// argument after a colon; an argument of several words.
    fn of(mut self, call: &'static str) -> Self {
        match &mut self {
            Self::Shape { op, .. }
            | Self::Unsupported { op, .. }
            | Self::Limit { op, .. }
            | Self::OutOfMemory { op, .. }
            | Self::Gpu { op, .. }
            | Self::Cancelled { op } => *op = call,
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

    pub(crate) fn shape(op: &'static str, rule: impl Into<Cow<'static, str>>, shape: &[usize]) -> Self {
        Self::Shape { op, rule: rule.into(), remedy: "", lhs: shape.to_vec(), rhs: None }
    }

    pub(crate) fn shapes(
        op: &'static str,
        rule: impl Into<Cow<'static, str>>,
        lhs: &[usize],
        rhs: &[usize],
    ) -> Self {
        Self::Shape { op, rule: rule.into(), remedy: "", lhs: lhs.to_vec(), rhs: Some(rhs.to_vec()) }
    }

    /// [`Error::Limit`] if more is needed than is allowed.
    pub(crate) fn check_limit(op: &'static str, what: &str, needed: u64, allowed: u64) -> Result<()> {
        if needed <= allowed {
            Ok(())
        } else {
            Err(Self::Limit { op, what: what.to_owned(), needed, allowed })
        }
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
        assert_eq!(
            full(Some(256)),
            "zeros: not enough memory for 512 more bytes (256 of the memory budget are free)"
        );
        assert_eq!(full(None), "zeros: not enough memory for 512 more bytes");
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
