//! The ring of uploads, and the slots in use.

use super::staging_ring::StagingRing;
use super::staging_slot::StagingSlot;
use crate::gpu::driver::lock::Lock;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// The ring of uploads. Its free buffers are mapped, so that the host may fill them.
pub(in crate::gpu) struct Uploads {
    pub(in crate::gpu) ring: Arc<StagingRing>,
    /// Slots in use, in the order in which they were taken. Some may be gone.
    in_use: Lock<VecDeque<Weak<StagingSlot>>>,
}

impl Uploads {
    pub(in crate::gpu) fn new(limit: Option<u64>, largest: u64) -> Self {
        Self { ring: Arc::new(StagingRing::new(limit, largest)), in_use: Lock::default() }
    }

    /// The largest piece of an upload in pieces, in bytes: a multiple of 4. Two of them fit, so that the host fills one
    /// while the device copies the other.
    pub(in crate::gpu) fn piece(&self) -> u64 {
        self.ring.limit / 2 / 4 * 4
    }

    /// Counts a slot as in use.
    pub(in crate::gpu) fn add(&self, slot: &Arc<StagingSlot>) {
        let mut in_use = self.in_use.lock();
        if in_use.len() == in_use.capacity() {
            in_use.retain(|slot| slot.strong_count() > 0);
        }
        in_use.push_back(Arc::downgrade(slot));
    }

    /// The oldest slot whose copy is submitted, with its submission. Frees the bytes of the slots that no submission
    /// will copy.
    pub(in crate::gpu) fn oldest(&self) -> Option<(Arc<StagingSlot>, wgpu::SubmissionIndex)> {
        // NOTE: the last drop of a slot takes locks, so none is dropped under this one.
        let in_use = self.in_use.lock();
        let slots: Vec<Arc<StagingSlot>> = in_use.iter().filter_map(Weak::upgrade).collect();
        drop(in_use);
        for slot in slots {
            match slot.outcome() {
                Some(Ok(index)) if !slot.is_given_back.load(Ordering::Acquire) => {
                    let index = index.clone();
                    return Some((slot, index));
                }
                Some(Err(_)) => slot.give_back(),
                Some(Ok(_)) | None => {}
            }
        }
        None
    }
}
