//! Progress and cancellation: the callback to which the long calls of a thread report.
//!
//! A long call counts its parts with [`Steps`], and reports before each part. If the callback returns `Break`, the report
//! is an error, which the call returns. At a report no lock is held and no operation is incomplete, so a callback may do
//! anything: call this crate, drop tensors, panic.
//!
//! NOTE: the scope belongs to a thread, not to a `Gpu`: reading a file needs no device, and callbacks of JavaScript cannot
//! move to another thread.

use crate::{Error, Result};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;

/// The progress of a long call: the argument of the callback of [`with_progress`].
///
/// A call may consist of others, as a compression consists of decompositions. Then this is the progress of the outermost
/// one; the inner ones only advance [`fraction`](Self::fraction).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The function that was called, as errors name it: `rsvd`, `Compress::run`.
    pub call: &'static str,
    /// The next part, or the part that has just ended.
    pub what: &'a str,
    /// Number of parts that are done. It never decreases, and is `total` in the last report.
    pub done: u64,
    /// Number of parts, at least 1. A call that ends early leaves some out.
    pub total: u64,
    /// The share that is done, from 0 to 1. It never decreases, and advances within a part too.
    pub fraction: f64,
}

impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:.0}%, {}", self.call, 100.0 * self.fraction, self.what)
    }
}

/// Runs `work`, whose long calls report their progress to `report` and end with [`Error::Cancelled`] if it returns
/// [`ControlFlow::Break`].
///
/// Long calls are factorisations, fits, advice on ranks, compressions, tuning, measurements of the device,
/// [`Gpu::warm_up`](crate::Gpu::warm_up), reading and writing files, operations of many launches, such as products of
/// operands larger than a binding, and waiting for the device.
///
/// A cancelled call submits no further work and leaves no file and no result. Work that it has already submitted still
/// runs. If it should have overwritten an output, the output has no contents until it is written again. Once `report` has
/// returned `Break`, every other long call of `work` is cancelled at its first report, and `report` is not called again.
/// After `with_progress` has returned, nothing is cancelled any more.
///
/// `report` runs on the calling thread, which holds no lock meanwhile. It may call any function of this crate; these
/// calls report nothing. If it panics, the reporting call ends as by a cancellation, and the panic continues.
///
/// Only calls of the calling thread report, while `work` is running. Calls of other threads, and of futures that are awaited
/// elsewhere, do not. Scopes may be nested: a call reports to all of them, the innermost first. The closures of
/// [`capture`](crate::Gpu::capture), [`record_into`](crate::Gpu::record_into) and [`Gpu::time`](crate::Gpu) report nothing:
/// they only record, and a callback would become part of the recording. Opening a device reports nothing either.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use tilewise::{Error, Fill, sketch, with_progress};
///
/// let stop = Arc::new(AtomicBool::new(false)); // another thread sets it
/// let asked = stop.clone();
/// let report = move |progress: tilewise::Progress<'_>| {
///     println!("{progress}");
///     if asked.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
/// };
/// let a = gpu.random::<f32>([300, 200], Fill::Uniform, 1)?;
/// let svd = with_progress(report.clone(), || sketch::rsvd(&a, 10))?;
/// assert_eq!(svd.rank, 10);
///
/// stop.store(true, Ordering::Relaxed);
/// let cancelled = with_progress(report, || sketch::rsvd(&a, 10));
/// assert!(matches!(cancelled, Err(Error::Cancelled { op: "rsvd", .. })));
/// # Ok(())
/// # }
/// ```
pub fn with_progress<R>(
    report: impl FnMut(Progress<'_>) -> ControlFlow<()> + 'static,
    work: impl FnOnce() -> R,
) -> R {
    let scope = ProgressScope {
        report: RefCell::new(Box::new(report)),
        cancelled: Cell::new(false),
        tasks: RefCell::default(),
        fraction: Cell::new(0.0),
        outer: current(),
    };
    let _current = Current::replaced_by(Some(Rc::new(scope)));
    work()
}

/// Runs `work` without reports.
pub(crate) fn unreported<R>(work: impl FnOnce() -> R) -> R {
    let _current = Current::replaced_by(None);
    work()
}

/// Whether the long calls of this thread report to a callback.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn is_reported() -> bool {
    current().is_some()
}

thread_local! {
    /// The innermost scope of this thread. None in its callback.
    static CURRENT: RefCell<Option<Rc<ProgressScope>>> = const { RefCell::new(None) };
}

/// NOTE: a thread that ends may still run destructors that call this crate.
fn current() -> Option<Rc<ProgressScope>> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// Another current scope. Its drop restores the previous one.
struct Current(Option<Rc<ProgressScope>>);

impl Current {
    fn replaced_by(scope: Option<Rc<ProgressScope>>) -> Self {
        Self(CURRENT.try_with(|current| current.replace(scope)).ok().flatten())
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        // The scope is dropped outside the cell, because the drop of its callback may run destructors.
        let ended = CURRENT.try_with(|current| current.replace(self.0.take()));
        drop(ended);
    }
}

type Callback = dyn FnMut(Progress<'_>) -> ControlFlow<()>;

/// A `with_progress` that is running.
struct ProgressScope {
    report: RefCell<Box<Callback>>,
    cancelled: Cell<bool>,
    /// The calls that count their parts now, the outermost first.
    tasks: RefCell<Vec<Task>>,
    /// The largest share of the outermost call that was reported.
    fraction: Cell<f64>,
    outer: Option<Rc<Self>>,
}

struct Task {
    call: &'static str,
    what: String,
    done: u64,
    total: u64,
    counted: Counted,
}

/// Whether the parts of an inner call advance the outer call's current part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Yes,
    No,
}

impl ProgressScope {
    /// This scope and those around it.
    fn chain(self: &Rc<Self>) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(&**self), |scope| scope.outer.as_deref())
    }

    /// Calls the callback with the progress of the outermost call.
    fn tell(&self) -> ControlFlow<()> {
        let tasks = self.tasks.borrow();
        let Some(Task { call, what, done, total, .. }) = tasks.first() else {
            return ControlFlow::Continue(());
        };
        let counted = tasks.iter().rev().filter(|task| task.counted == Counted::Yes);
        let share =
            counted.fold(0.0, |inner, task| f64::min(1.0, (task.done as f64 + inner) / task.total as f64));
        let fraction = share.max(self.fraction.get());
        self.fraction.set(fraction);
        let (call, what, done, total) = (*call, what.clone(), *done, *total);
        drop(tasks);
        (self.report.borrow_mut())(Progress { call, what: &what, done, total, fraction })
    }
}

/// The parts of a running call. Its drop ends the call, after a panic too.
pub(crate) struct Steps {
    call: &'static str,
    total: u64,
    /// None if there is no callback.
    scope: Option<Rc<ProgressScope>>,
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "waits ask, which a browser forbids"))]
    is_outermost: bool,
}

impl Steps {
    /// A call of `total` parts. If it is a part of another call, its own parts count as shares of that part.
    pub(crate) fn of(call: &'static str, total: usize) -> Self {
        Self::counted(call, total, Counted::Yes)
    }

    /// Like [`of`](Self::of), for work that any call may need, such as waiting. Within another call it allows
    /// cancellation, but does not advance that call.
    #[cfg_attr(
        all(target_arch = "wasm32", not(any(feature = "npy", feature = "safetensors"))),
        expect(dead_code, reason = "files ask, and waits, which a browser forbids")
    )]
    pub(crate) fn aside(call: &'static str, total: usize) -> Self {
        Self::counted(call, total, Counted::No)
    }

    fn counted(call: &'static str, total: usize, counted: Counted) -> Self {
        let (total, scope) = (total.max(1) as u64, current());
        let mut is_outermost = true;
        for scope in scope.iter().flat_map(ProgressScope::chain) {
            let mut tasks = scope.tasks.borrow_mut();
            let is_first = tasks.is_empty();
            if is_first {
                scope.fraction.set(0.0);
            }
            is_outermost &= is_first;
            let counted = if is_first { Counted::Yes } else { counted };
            tasks.push(Task { call, what: String::new(), done: 0, total, counted });
        }
        Self { call, total, scope, is_outermost }
    }

    /// Reports that `done` parts are done, and what comes next.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if a callback has returned `Break`.
    pub(crate) fn at(&self, done: usize, what: impl fmt::Display) -> Result<()> {
        let Some(scope) = &self.scope else { return Ok(()) };
        for scope in scope.chain() {
            if let Some(task) = scope.tasks.borrow_mut().last_mut() {
                task.done = task.done.max(done as u64).min(self.total);
                task.what = what.to_string();
            }
        }
        let cancelled = || Err(Error::Cancelled { op: self.call });
        if scope.chain().any(|scope| scope.cancelled.get()) {
            return cancelled();
        }
        let _unreported = Current::replaced_by(None);
        for scope in scope.chain() {
            if scope.tell().is_break() {
                scope.cancelled.set(true);
                return cancelled();
            }
        }
        Ok(())
    }

    /// Reports that all parts are done.
    ///
    /// # Errors
    /// As for [`at`](Self::at).
    pub(crate) fn end(&self) -> Result<()> {
        self.at(usize::try_from(self.total).unwrap_or(usize::MAX), "done")
    }

    /// Whether this call is not a part of another one.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn is_outermost(&self) -> bool {
        self.is_outermost
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        for scope in self.scope.iter().flat_map(ProgressScope::chain) {
            scope.tasks.borrow_mut().pop();
        }
    }
}
