//! Scopes: nested, of several threads, with callbacks that do anything.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use support::progress::{Told, cancelled_at, recorded, told};
use tilewise::{Error, Gpu, Plan, Result, Tensor, ops, with_progress};

fn plans(gpu: &Gpu) -> Vec<Plan> {
    let x = gpu.zeros::<f32>([3]).unwrap();
    gpu.plans_of(|| (ops::exp(&x).unwrap(), ops::sum(&x, 0).unwrap())).1
}

fn go_on(_: &Told) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn a_call_reports_to_every_scope_around_it() {
    let gpu = support::noop();
    let plans = plans(&gpu);
    let ((inner, inner_told), outer_told) = recorded(|| recorded(|| gpu.warm_up(&plans)));
    inner.unwrap();
    assert_eq!(inner_told, outer_told);
    assert_eq!(inner_told.len(), 6, "{inner_told:#?}");

    // The outer one cancels: the inner one may go on with other work.
    let ((inner, inner_told), outer_told) =
        cancelled_at(|| recorded(|| gpu.warm_up(&plans)), |told| told.done > 1);
    assert!(matches!(inner, Err(Error::Cancelled { op: "warm_up", .. })));
    assert_eq!(inner_told.len(), outer_told.len());
    // The inner one cancels: the outer one hears nothing of it, and goes on.
    let ((inner, next), outer_told) = recorded(|| {
        let (inner, _) = cancelled_at(|| gpu.warm_up(&plans), |told| told.done > 1);
        (inner, gpu.warm_up(&plans))
    });
    assert!(inner.is_err() && next.is_ok());
    assert!(outer_told.last().is_some_and(Told::is_last), "{outer_told:#?}");
}

#[test]
fn other_threads_report_nothing() {
    let gpu = support::noop();
    let plans = plans(&gpu);
    let (_, all) = recorded(|| {
        std::thread::scope(|scope| scope.spawn(|| gpu.warm_up(&plans)).join().expect("no panic")).unwrap();
    });
    assert!(all.is_empty(), "{all:#?}");
    let (_, all) = recorded(|| gpu.stats());
    assert!(all.is_empty());
    let before = recorded(|| gpu.warm_up(&plans)).1;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(recorded(|| gpu.warm_up(&plans)).1, before)));
        }
    });
}

/// The callback compiles, opens a scope of its own, drops the last handle of a tensor, and panics.
#[test]
fn a_callback_may_do_anything() -> Result<()> {
    let gpu = support::noop();
    let plans = plans(&gpu);
    let (device, kept) = (gpu.clone(), plans.clone());
    let mut tensors: Vec<Tensor<f32>> = (0..4).map(|_| gpu.zeros([4])).collect::<Result<_>>()?;
    let inner = Rc::new(RefCell::new(Vec::new()));
    let heard = inner.clone();
    let react = move |_: &Told| {
        tensors.pop();
        device.warm_up(&kept).unwrap();
        let (again, all) = told(|| device.warm_up(&kept), go_on);
        again.unwrap();
        heard.borrow_mut().push(all.len());
        let stopped = cancelled_at(|| device.warm_up(&kept), |_| true).0;
        assert!(stopped.is_err(), "a scope of its own cancels its own");
        device.wait().unwrap();
        ControlFlow::Continue(())
    };
    let (warm, all) = told(|| gpu.warm_up(&plans), react);
    warm?;
    assert_eq!(*inner.borrow(), vec![6; all.len()]);

    // A panic that is caught inside the scope: the scope goes on.
    let mut reports = 0;
    let (result, all) = told(
        || {
            let caught = catch_unwind(AssertUnwindSafe(|| gpu.warm_up(&plans)));
            assert!(caught.is_err());
            gpu.warm_up(&plans)
        },
        move |_| {
            reports += 1;
            assert_ne!(reports, 3, "the panic under test");
            ControlFlow::Continue(())
        },
    );
    result?;
    assert!(all.last().is_some_and(Told::is_last) && all[2].done == 0, "{all:#?}");

    // The scope ends with a panic of the work too.
    let caught = catch_unwind(|| with_progress(|_| ControlFlow::Break(()), || panic!("of the work")));
    assert!(caught.is_err());
    gpu.warm_up(&plans)
}

#[test]
fn a_report_prints_as_a_line() {
    let gpu = support::noop();
    let plans = plans(&gpu);
    let lines = Rc::new(RefCell::new(Vec::new()));
    let kept = lines.clone();
    let print = move |progress: tilewise::Progress<'_>| {
        kept.borrow_mut().push(progress.to_string());
        ControlFlow::Continue(())
    };
    with_progress(print, || gpu.warm_up(&plans)).unwrap();
    let lines = lines.take();
    assert_eq!(lines.first().map(String::as_str), Some("warm_up: 0%, compiling kernels"));
    assert_eq!(lines.last().map(String::as_str), Some("warm_up: 100%, done"));
    let error = with_progress(|_| ControlFlow::Break(()), || gpu.warm_up(&plans)).unwrap_err();
    assert_eq!(error.to_string(), "warm_up: cancelled by the callback of `with_progress`");
}
