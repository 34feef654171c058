//! The threads that are inside of work that runs foreign code, such as an application's logger. Foreign code may start the same
//! work again, which would log again, and so on in an infinite recursion.

use super::lock::Lock;
use std::thread::{self, ThreadId};

/// The threads that are inside of one piece of work.
#[derive(Default)]
pub(in crate::gpu) struct Inside(Lock<Vec<ThreadId>>);

/// The calling thread is inside until this is dropped.
pub(in crate::gpu) struct Entered<'a>(&'a Inside);

impl Inside {
    /// Begins the work, which other threads may do at the same time: nobody waits. None if the calling thread is inside already.
    pub(in crate::gpu) fn enter(&self) -> Option<Entered<'_>> {
        let (mut inside, this) = (self.0.lock(), thread::current().id());
        if inside.contains(&this) {
            return None;
        }
        inside.push(this);
        Some(Entered(self))
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let this = thread::current().id();
        self.0.0.lock().retain(|thread| *thread != this);
    }
}

#[cfg(test)]
mod tests {
    use super::Inside;

    #[test]
    fn a_thread_enters_once_and_waits_for_no_other() {
        let inside = Inside::default();
        let entered = inside.enter();
        assert!(entered.is_some() && inside.enter().is_none());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| inside.enter().is_some());
            assert!(other.join().expect("no panic"));
        });
        assert!(inside.enter().is_none(), "the other thread has left, this one has not");
        drop(entered);
        assert!(inside.enter().is_some());
    }
}
