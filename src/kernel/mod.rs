//! A kernel: a shader from `shaders/`, with its parameters and slots filled in. A plan: a kernel and a grid.

mod library;
mod limits;
mod memory;
mod signature;
mod specialize;
mod unroll;

pub use library::{FRAGMENTS, SHADERS};
pub use limits::Needs;
pub(crate) use limits::{check_binding, check_scratch, lanes, own_bytes};
pub(crate) use memory::Memory;
pub(crate) use signature::{Signature, signature};
pub(crate) use unroll::unroll;

use crate::gpu::Caps;
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::fmt;

/// A shader with everything decided that changes its code. Two equal kernels share one pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    shader: &'static str,
    params: Vec<(&'static str, String)>,
    slots: Vec<(&'static str, Fragment)>,
}

/// What a slot is filled with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Fragment {
    /// A file of `shaders/common/`.
    Named(&'static str),
    /// Text that was made, and what it is, in words.
    Generated { what: String, text: String },
}

impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Generated { what, .. } => write!(f, "({what})"),
        }
    }
}

impl Kernel {
    /// The kernel in `shaders/<shader>.wgsl`, with its defaults.
    #[must_use]
    pub fn new(shader: &'static str) -> Self {
        Self { shader, params: Vec::new(), slots: Vec::new() }
    }

    /// Sets the `const` or `alias` called `name` in a `//#param` block of the shader.
    #[must_use]
    pub fn param(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.params.push((name, value.to_string()));
        self
    }

    /// Pastes `shaders/common/<fragment>.wgsl` where the shader imports `name`.
    #[must_use]
    pub fn slot(mut self, name: &'static str, fragment: &'static str) -> Self {
        self.slots.push((name, Fragment::Named(fragment)));
        self
    }

    /// Pastes `text`, made for this kernel and described by `what`, where the shader imports `name`. It may import
    /// fragments itself.
    #[must_use]
    pub(crate) fn generated(mut self, name: &'static str, what: String, text: String) -> Self {
        self.slots.push((name, Fragment::Generated { what, text }));
        self
    }

    /// Chooses how the kernel gets `bytes` of dims: as immediates where the device has room for them, else from the
    /// recording's ring.
    #[must_use]
    pub(crate) fn dims(self, caps: &Caps, bytes: usize) -> Self {
        let immediates = usize::try_from(caps.limits.immediate_bytes).is_ok_and(|room| room >= bytes);
        if immediates { self } else { self.slot("dims", "dims_uniform") }
    }

    /// The shader's name: that of its file.
    #[must_use]
    pub fn shader(&self) -> &'static str {
        self.shader
    }

    /// The shader's text: imports pasted, parameters set, marked loops written out. Plain WGSL.
    ///
    /// # Errors
    /// [`Error::Input`] if the shader, a fragment or a parameter does not exist: a bug in the plan that made it.
    pub fn specialize(&self) -> Result<String> {
        specialize::specialize(self)
    }

    /// The fragments that the shader's text is made of: those that fill its slots, and those that these import.
    ///
    /// # Errors
    /// As [`specialize`](Self::specialize).
    pub fn fragments(&self) -> Result<BTreeSet<&'static str>> {
        specialize::fragments(self)
    }

    fn error(&self, why: impl Into<String>) -> Error {
        Error::input(format!("shader {}", self.shader), why)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shader)?;
        for (name, value) in &self.params {
            write!(f, " {name}={value}")?;
        }
        for (name, fragment) in &self.slots {
            write!(f, " {name}:{fragment}")?;
        }
        Ok(())
    }
}

/// How to compute a problem: a kernel, its grid, and why this one. Printable.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What runs in each workgroup.
    pub kernel: Kernel,
    /// The kernel's tile, in words.
    pub tile: String,
    /// Limits that one workgroup needs.
    pub needs: Needs,
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// Predicted seconds on the device: what candidates were compared by, and how much may be recorded
    /// before it is submitted. A coarse model, not a promise.
    pub seconds: f64,
    /// Parts of the problem that are computed on their own, and brought together by what comes `then`; 1 is none.
    pub parts: u32,
    /// Bytes of device memory that are needed between the launches, from the pool.
    pub scratch: u64,
    /// Words that the kernel reads beside the operands; none, unless the kernel says so.
    pub table: Vec<u32>,
    /// The launch behind this one.
    pub then: Option<Box<Plan>>,
    /// What is moved and computed, of some kernels, and why each other kernel was passed over, a line each, if the plan was
    /// asked to explain itself.
    pub reasons: Vec<String>,
}

/// The parts of a plan of one launch.
pub(crate) struct Launch {
    pub(crate) kernel: Kernel,
    /// A description of the kernel's tile.
    pub(crate) tile: String,
    pub(crate) needs: Needs,
    /// The number of workgroups.
    pub(crate) blocks: u64,
    pub(crate) seconds: f64,
}

impl Plan {
    /// A plan of one launch, checked against the device's limits.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the kernel needs more bindings, invocations or shared memory than the device has;
    /// [`Error::Limit`] if there are more workgroups than a grid may have.
    pub(crate) fn of_one_launch(op: &'static str, launch: Launch, caps: &Caps) -> Result<Self> {
        let Launch { kernel, tile, needs, blocks, seconds } = launch;
        needs.check(op, caps)?;
        let grid = fold(op, blocks, caps.limits.grid)?;
        Ok(Self {
            kernel,
            tile,
            needs,
            grid,
            seconds,
            parts: 1,
            scratch: 0,
            table: Vec::new(),
            then: None,
            reasons: Vec::new(),
        })
    }

    /// The plan with `then` launched after it, and buffers of `between` bytes that pass results from one to the other.
    ///
    /// # Errors
    /// [`Error::Limit`] if the device cannot create or bind one of these buffers.
    pub(crate) fn then(self, op: &'static str, then: Self, between: &[u64], caps: &Caps) -> Result<Self> {
        between.iter().try_for_each(|&bytes| check_scratch(op, caps, bytes))?;
        Ok(Self { then: Some(Box::new(then)), scratch: between.iter().sum(), ..self })
    }

    /// With a line in front that says what is moved and computed.
    pub(crate) fn moving(mut self, what: &str, bytes: f64, flops: f64) -> Self {
        self.reasons.insert(0, format!("{what}: {bytes:.0} bytes, {flops:.0} flops"));
        self
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.grid;
        write!(f, "{} {}, grid {x} x {y} x {z}", self.kernel.shader, self.tile)?;
        if self.parts > 1 {
            write!(f, ", {} parts with {} bytes of sums", self.parts, self.scratch)?;
        } else if self.scratch > 0 {
            write!(f, ", {} bytes between launches", self.scratch)?;
        }
        let mut behind = &self.then;
        while let Some(then) = behind {
            write!(f, ", then {} {}", then.kernel.shader, then.tile)?;
            behind = &then.then;
        }
        write!(f, ", predicted {}", Seconds(self.seconds))?;
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

/// Folds `blocks` workgroups over a grid of at most `limit` along each axis, as evenly as it goes; the last row of the
/// fold may run past the end, so kernels compare their block index with their own number of blocks.
///
/// # Errors
/// [`Error::Limit`] if they do not fit in three axes, or are more than 2^31.
pub fn fold(op: &'static str, blocks: u64, limit: u32) -> Result<[u32; 3]> {
    let limit = u64::from(limit.max(1));
    let blocks = blocks.max(1);
    // Half of what 32 bits count, so that the idle rest of the fold has an index too.
    let allowed = (limit * limit).saturating_mul(limit).min(1 << 31);
    if blocks > allowed {
        return Err(Error::Limit { op, what: "the number of workgroups".into(), needed: blocks, allowed });
    }
    let z = blocks.div_ceil(limit * limit);
    let y = blocks.div_ceil(z * limit);
    let x = blocks.div_ceil(z * y);
    let axis = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Ok([axis(x), axis(y), axis(z)])
}

/// Seconds, in a readable unit.
pub(crate) struct Seconds(pub(crate) f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s < 1e-3 => write!(f, "{:.1} us", s * 1e6),
            s if s < 1.0 => write!(f, "{:.2} ms", s * 1e3),
            s => write!(f, "{s:.2} s"),
        }
    }
}
