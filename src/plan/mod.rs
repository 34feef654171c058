//! Plans: everything that an operation launches, as plain data. What is printed is what runs.
//!
//! A [`Problem`] says what to compute. Its [`plan`](Problem::plan) for a device, whose [`Caps`] are all that it depends on,
//! is a [`Plan`]: steps, and the temporaries and constants between them. [`Gpu::execute`](crate::Gpu::execute) runs it.

mod display;
mod draft;
mod work;

pub(crate) use draft::{Dims, Draft, LONGEST, NewStep, Region, Time};
pub use work::{Bound, Flops, Work};
pub(crate) use work::{PHILOX, Prediction, Seconds};

use crate::Result;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// What an operation computes, checked: plain data, on which its plan for a device depends alone.
pub trait Problem: Clone + Eq + Hash + Send + 'static {
    /// How to compute it on a device.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if something is larger than the device allows;
    /// [`Error::Unsupported`](crate::Error::Unsupported) if the device lacks what every way to compute it needs.
    fn plan(&self, caps: &Caps) -> Result<Plan>;

    /// As [`plan`](Self::plan), with the reasons why no other way was taken, which take longer to find.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn explain(&self, caps: &Caps) -> Result<Plan> {
        self.plan(caps)
    }
}

/// Everything that an operation launches, in order. It is made without a device, and runs on any that allows what its steps
/// need. `Display` explains it.
///
/// What depends on the call is no part of it: the operands' buffers, and its scalars, such as the alpha of a product.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan(Arc<Content>);

/// What a plan says. Clones of a plan share it.
#[derive(Clone, Debug, PartialEq)]
struct Content {
    op: &'static str,
    parameters: Vec<Parameter>,
    scalars: Vec<ScalarParameter>,
    steps: Vec<Step>,
    temporaries: Vec<u64>,
    constants: Vec<Constant>,
    reasons: Vec<String>,
}

/// A launch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// What runs in each workgroup.
    pub kernel: Kernel,
    /// How the kernel cuts its work, in words.
    pub tile: String,
    /// What one workgroup needs of the device.
    pub needs: Needs,
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// The first of the kernel's workgroups that it runs: not 0 in all but the first of the pieces of what would keep the
    /// device for too long.
    pub first_block: u32,
    /// The kernel's uniform, without the scalars of the call. Of a piece, the first workgroup lies behind it.
    pub dims: Vec<u8>,
    /// Where the call's scalars lie in the uniform: offset in bytes, and which scalar.
    pub scalars: Vec<(usize, usize)>,
    /// What is bound, in the order in which the shader declares it.
    pub args: Vec<Arg>,
    /// What is computed and moved.
    pub work: Work,
    /// Predicted seconds on the device. A coarse model, not a promise.
    pub seconds: f64,
}

/// What a step binds: a window of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arg {
    /// The buffer.
    pub buffer: Buffer,
    /// Bytes of the buffer. Those of an operand count from the start of its own aligned window, not from that of the tensor's
    /// buffer.
    pub window: Range<u64>,
    /// What the kernel does with it.
    pub access: Access,
}

/// A buffer of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// The operand with this index: what the call passes.
    Operand(usize),
    /// The temporary with this index: allocated for the first step that binds it, and given back behind the last.
    Temporary(usize),
    /// The constant with this index.
    Constant(usize),
}

/// What an operation or a kernel does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes every element, and reads none that it has not written.
    Write,
    /// It reads and writes, or writes a part.
    Update,
}

/// What an operation expects in the place of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name, for errors.
    pub name: &'static str,
    /// The type of its elements.
    pub dtype: DType,
    /// Where its elements lie, counted from the start of the operand's aligned window. Axes that step as one may be one.
    pub layout: Layout,
    /// What the operation does with it.
    pub access: Access,
}

impl Parameter {
    /// Bytes of a new buffer in its place.
    pub(crate) fn new_bytes(&self) -> u64 {
        self.layout.bytes(self.dtype).end
    }
}

/// Words that a plan brings along, such as a table. Clones share them.
#[derive(Clone, Debug)]
pub struct Constant {
    words: Arc<[u32]>,
    /// A hash of the words, so that they are gone through once.
    digest: u64,
}

impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.words, &other.words);
        same || (self.digest == other.digest && self.words == other.words)
    }
}

impl Eq for Constant {}

impl Hash for Constant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl Constant {
    pub(crate) fn new(words: &[u32]) -> Self {
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        Self { words: Arc::from(words), digest: hasher.finish() }
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Their size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        size_of_val(self.words()) as u64
    }
}

impl Plan {
    /// What the plan computes, in a word: errors have it.
    #[must_use]
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// What operands the plan takes, in order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.0.parameters
    }

    /// What numbers the call passes, in order: those that some kernel of the plan reads.
    #[must_use]
    pub fn scalars(&self) -> &[ScalarParameter] {
        &self.0.scalars
    }

    /// The launches, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0.steps
    }

    /// The sizes in bytes of the buffers that only pass results from one step to another.
    #[must_use]
    pub fn temporaries(&self) -> &[u64] {
        &self.0.temporaries
    }

    /// What kernels read beside operands and temporaries.
    #[must_use]
    pub fn constants(&self) -> &[Constant] {
        &self.0.constants
    }

    /// Why the problem is computed so and not otherwise, if the plan was asked to explain itself.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        &self.0.reasons
    }

    /// Predicted seconds on the device for which it was made.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.0.steps.iter().fold(0.0, |seconds, step| seconds + step.seconds)
    }

    /// What all steps compute and move together.
    #[must_use]
    pub fn work(&self) -> Work {
        Work::sum(self.0.steps.iter().map(|step| (&step.work, step.seconds)))
    }

    /// What distinguishes this plan and its clones from all others that are alive.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// With further reasons, behind those that there are.
    pub(crate) fn because(mut self, reasons: impl IntoIterator<Item = String>) -> Self {
        Arc::make_mut(&mut self.0).reasons.extend(reasons);
        self
    }
}

/// What a plan expects in the place of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScalarParameter {
    /// Its name, such as `alpha`.
    pub name: &'static str,
    /// The type of the number.
    pub kind: ScalarKind,
}

impl ScalarParameter {
    /// A number of f32.
    pub(crate) const fn f32(name: &'static str) -> Self {
        Self { name, kind: ScalarKind::F32 }
    }

    /// A word, such as one of a seed.
    pub(crate) const fn u32(name: &'static str) -> Self {
        Self { name, kind: ScalarKind::U32 }
    }
}

/// The type of a number that a call passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// A real number.
    F32,
    /// A word.
    U32,
}

impl fmt::Display for ScalarKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::U32 => "u32",
        })
    }
}

/// A number that a call passes to a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A real number.
    F32(f32),
    /// A word.
    U32(u32),
}

impl Scalar {
    /// Its type.
    #[must_use]
    pub fn kind(self) -> ScalarKind {
        match self {
            Self::F32(_) => ScalarKind::F32,
            Self::U32(_) => ScalarKind::U32,
        }
    }

    /// Its bits, as the kernel's uniform has them.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::F32(x) => x.to_bits(),
            Self::U32(x) => x,
        }
    }
}

impl From<f32> for Scalar {
    fn from(x: f32) -> Self {
        Self::F32(x)
    }
}

impl From<u32> for Scalar {
    fn from(x: u32) -> Self {
        Self::U32(x)
    }
}
