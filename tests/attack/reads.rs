//! Steps of reads under way: begun, polled once, completed in another order or on another thread, given up.

use crate::actor::Actor;
use crate::api;
use crate::held::Reading;
use crate::model::Model;
use std::task::{Context, Poll, Waker};
use support::watchdog::doing;
use tilewise::Result;

/// Reads that a thread has under way at most.
const READS: usize = 6;

impl Actor {
    pub(crate) fn start_read(&mut self) {
        let Some(at) = self.find(|_| true) else { return };
        let (read, model) = (self.items[at].tensor.read(), self.items[at].model.clone());
        let name = self.items[at].name();
        self.say(name);
        // The read sees what was there when it began, whatever becomes of the tensor.
        if self.random.chance(20) {
            self.items.swap_remove(at);
        }
        self.reads.push((read, model));
        if self.reads.len() > READS {
            self.drop_read();
        }
    }

    pub(crate) fn finish_read(&mut self) {
        if let Some((read, model)) = self.take_read() {
            let read = api::finish(read);
            self.compare(read, &model);
        }
    }

    pub(crate) fn finish_elsewhere(&mut self) {
        if let Some((read, model)) = self.take_read() {
            let place = format!("a read of {} on a thread of its own", self.world.name);
            let finish = move || {
                let _doing = doing(place);
                api::finish(read)
            };
            let read = std::thread::spawn(finish).join().expect("the read does not panic");
            self.compare(read, &model);
        }
    }

    /// Polls a read once; it may be done.
    pub(crate) fn poll_read(&mut self) {
        let Some((mut read, model)) = self.take_read() else { return };
        match read.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(read) => self.compare(read, &model),
            Poll::Pending => self.reads.push((read, model)),
        }
    }

    pub(crate) fn drop_read(&mut self) {
        drop(self.take_read());
    }

    fn take_read(&mut self) -> Option<(Reading, Model)> {
        if self.reads.is_empty() {
            return None;
        }
        let at = self.random.below(self.reads.len());
        let read = self.reads.swap_remove(at);
        self.say(format!("the read of {:?}", read.1.shape));
        Some(read)
    }

    pub(crate) fn compare(&mut self, read: Result<Vec<i32>>, model: &Model) {
        match read {
            Ok(values) => assert_eq!(values, model.values, "an asynchronous read of {:?}", model.shape),
            Err(error) => self.excuse(error),
        }
    }
}
