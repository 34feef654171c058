//! The runtime's mutex, and its rule: a thread holds no lock of this crate while wgpu may run foreign code.
//!
//! wgpu runs callbacks, the application's among them, inside `submit`, `poll` and the last drop of an object, and this
//! crate runs wakers. This foreign code may call back into this crate (re-entrancy), so a held lock would be a
//! deadlock. So calls of `submit`, `poll`, `map_async` and `finish` go through [`foreign`]. In builds with debug
//! assertions it panics if the calling thread holds a lock of this crate. Nothing checks that objects are dropped and
//! wakers woken without a lock; reviewers must.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A mutex. In builds with debug assertions, each thread counts the locks that it holds.
///
/// Poisoning is ignored: every critical section leaves its data consistent, even if it panics.
#[derive(Default)]
pub(in crate::gpu) struct Lock<T>(Mutex<T>);

/// Access to the data. Its drop unlocks.
pub(in crate::gpu) struct Locked<'a, T> {
    guard: MutexGuard<'a, T>,
    held: HeldLock,
}

impl<T> Lock<T> {
    pub(in crate::gpu) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(in crate::gpu) fn lock(&self) -> Locked<'_, T> {
        let held = HeldLock::new();
        Locked { guard: self.0.lock().unwrap_or_else(PoisonError::into_inner), held }
    }
}

impl<'a, T> Locked<'a, T> {
    /// Unlocks, waits until `condition` is notified or `limit` has passed, and locks again.
    pub(in crate::gpu) fn wait(self, condition: &Condvar, limit: Duration) -> Self {
        let Self { guard, held } = self;
        let (guard, _) = condition.wait_timeout(guard, limit).unwrap_or_else(PoisonError::into_inner);
        Locked { guard, held }
    }
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Makes a call that may run foreign code. The calling thread must hold no [`Lock`].
pub(in crate::gpu) fn foreign<R>(call: impl FnOnce() -> R) -> R {
    #[cfg(debug_assertions)]
    HELD.with(|held| assert_eq!(held.get(), 0, "a lock is held while wgpu may run foreign code"));
    call()
}

#[cfg(debug_assertions)]
thread_local! {
    /// Number of locks that this thread holds.
    static HELD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts a lock as held until it is dropped. Does nothing without debug assertions.
struct HeldLock;

impl HeldLock {
    fn new() -> Self {
        #[cfg(debug_assertions)]
        HELD.with(|held| held.set(held.get() + 1));
        Self
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        HELD.with(|held| held.set(held.get() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(debug_assertions)]
    fn foreign_code_under_a_lock_is_caught() {
        let lock = Lock::new(1);
        assert_eq!(foreign(|| *lock.lock()), 1, "locking inside is allowed");
        let locked = lock.lock();
        let called = std::panic::catch_unwind(|| foreign(|| ()));
        assert!(called.is_err(), "a lock is held");
        drop(locked);
        foreign(|| ());
    }

    #[test]
    fn a_lock_outlives_the_panic_of_its_holder() {
        let lock = Lock::new(1);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            *lock.lock() = 2;
            let _held = lock.lock_is_free_after_this_panic();
        }));
        assert!(panicked.is_err());
        assert_eq!(*lock.lock(), 2);
    }

    impl Lock<i32> {
        fn lock_is_free_after_this_panic(&self) -> Locked<'_, i32> {
            let locked = self.lock();
            assert_eq!(*locked, 0, "the panic under test");
            locked
        }
    }
}
