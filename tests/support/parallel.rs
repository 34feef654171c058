//! Work of one test on all cores: tests that look at many kernels outlast the others.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `check` with every item, on as many threads as there are cores. A panic is the caller's.
pub fn for_each<T: Sync>(items: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            check(item);
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores.min(items.len())).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

#[test]
fn every_item_is_looked_at_once_and_a_panic_is_passed_on() {
    let seen: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
    let items: Vec<usize> = (0..100).collect();
    for_each(&items, |&item| {
        seen[item].fetch_add(1, Ordering::Relaxed);
    });
    assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    for_each(&[], |_: &usize| unreachable!("there is none"));
    let passed_on = std::panic::catch_unwind(|| for_each(&items, |&item| assert_ne!(item, 50, "the item")));
    let panic = passed_on.expect_err("one panics");
    assert!(panic.downcast_ref::<String>().is_some_and(|text| text.contains("the item")));
}
