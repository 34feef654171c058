//! What a call reports to the callback of `with_progress`, and what is true of every call that reports.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use tilewise::{Error, Gpu, Progress, Result, matmul, with_progress};

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub call: &'static str,
    pub what: String,
    pub done: u64,
    pub total: u64,
    pub fraction: f64,
}

impl Told {
    fn of(progress: Progress<'_>) -> Self {
        let Progress { call, what, done, total, fraction, .. } = progress;
        Self { call, what: what.to_owned(), done, total, fraction }
    }

    /// Whether all parts are done.
    pub fn is_last(&self) -> bool {
        self.done == self.total
    }
}

/// Runs `work` and returns what it reported. `react` answers each report.
pub fn told<R>(
    work: impl FnOnce() -> R,
    mut react: impl FnMut(&Told) -> ControlFlow<()> + 'static,
) -> (R, Vec<Told>) {
    let all = Rc::new(RefCell::new(Vec::new()));
    let kept = all.clone();
    let report = move |progress: Progress<'_>| {
        let told = Told::of(progress);
        let answer = react(&told);
        kept.borrow_mut().push(told);
        answer
    };
    let result = with_progress(report, work);
    let all = all.take();
    (result, all)
}

/// Runs `work`, and cancels it at the first report of this kind.
pub fn cancelled_at<R>(work: impl FnOnce() -> R, is_it: impl Fn(&Told) -> bool + 'static) -> (R, Vec<Told>) {
    told(work, move |told| if is_it(told) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
}

/// Runs `work` and returns what it reported.
pub fn recorded<R>(work: impl FnOnce() -> R) -> (R, Vec<Told>) {
    cancelled_at(work, |_| false)
}

/// Asserts that each call among these reports never goes back, and ends with its total.
pub fn assert_whole(all: &[Told]) {
    assert!(!all.is_empty(), "nothing is reported");
    for told in all {
        assert!(told.done <= told.total && told.total > 0, "{told:?}");
        assert!((0.0..=1.0).contains(&told.fraction), "{told:?}");
        assert!(told.fraction >= told.done as f64 / told.total as f64, "{told:?}");
    }
    for pair in all.windows(2) {
        let [before, after] = pair else { unreachable!() };
        if before.is_last() && !after.is_last() {
            continue; // another call begins
        }
        assert_eq!((before.call, before.total), (after.call, after.total), "{all:#?}");
        assert!(before.done <= after.done && before.fraction <= after.fraction, "{all:#?}");
    }
    assert!(all.last().is_some_and(Told::is_last), "{all:#?}");
}

/// Asserts of a call of `call` what is true of every one that reports: the reports are whole and change nothing; cancelled at
/// the first, a middle or the last report it says so, submits nothing more, keeps no memory, and can be called again; a
/// callback may panic, and may use the device. `run` is the call with all its reads.
pub fn assert_cancellable<R: PartialEq + Debug>(gpu: &Gpu, call: &'static str, run: impl Fn() -> Result<R>) {
    let settled = || {
        gpu.wait().unwrap();
        gpu.stats().bytes_in_use
    };
    let expected = run().unwrap();
    let (found, all) = recorded(&run);
    assert_eq!(found.unwrap(), expected, "{call}: reports change nothing");
    assert!(all.iter().any(|told| told.call == call), "{call}: {all:#?}");
    assert_whole(&all);
    let bytes = settled();

    let kinds: [fn(&Told) -> bool; 3] = [|_| true, |told| told.fraction >= 0.4, Told::is_last];
    for (at, is_it) in kinds.into_iter().enumerate() {
        let submits = Rc::new(Cell::new(None));
        let (noted, of) = (submits.clone(), gpu.clone());
        let (result, told) = cancelled_at(&run, move |told| {
            let stops = told.call == call && is_it(told);
            if stops {
                noted.set(Some((of.stats().submits, of.stats().launches)));
            }
            stops
        });
        let after = (gpu.stats().submits, gpu.stats().launches);
        match result {
            Err(Error::Cancelled { op, .. }) => assert_eq!(op, call),
            other => panic!("{call}, report {at}: {other:?} after {told:#?}"),
        }
        assert_eq!(submits.get(), Some(after), "{call}: launches after report {at}");
        assert_eq!(settled(), bytes, "{call}: memory after report {at}");
        assert_eq!(run().unwrap(), expected, "{call}: after report {at}");
    }

    let panicking = |told: &Told| -> ControlFlow<()> {
        if told.fraction >= 0.4 { panic!("of the callback") } else { ControlFlow::Continue(()) }
    };
    let caught = catch_unwind(AssertUnwindSafe(|| told(&run, panicking))).expect_err("it panics");
    assert_eq!(caught.downcast_ref::<&str>(), Some(&"of the callback"), "{call}");
    assert_eq!(settled(), bytes, "{call}: memory after a panic");
    assert_eq!(run().unwrap(), expected, "{call}: after a panic");

    let other = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let uses = move |_: &Told| {
        let product = matmul(&other, &other).unwrap();
        assert_eq!(product.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
        ControlFlow::Continue(())
    };
    let (found, again) = told(&run, uses);
    assert_eq!(found.unwrap(), expected, "{call}: with a callback that uses the device");
    assert_whole(&again);
}
