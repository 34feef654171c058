//! The proofs of subgroup sizes so far, and those of earlier runs.

use crate::gpu::rows::verdicts::Verdicts;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The proofs on a device.
pub(in crate::gpu) struct Proofs {
    /// The results of earlier runs. Empty if nothing is cached, or until they are needed.
    verdicts: OnceLock<Verdicts>,
    launched: AtomicU64,
    /// Whether a kernel has had the size that it is written for.
    has_agreed: AtomicBool,
}

impl Proofs {
    pub(in crate::gpu) fn new(verdicts: Option<Verdicts>) -> Self {
        let verdicts = verdicts.map_or_else(OnceLock::new, OnceLock::from);
        Self { verdicts, launched: AtomicU64::new(0), has_agreed: AtomicBool::new(false) }
    }

    /// The results of earlier runs. None if nothing is cached, or if none was needed so far.
    pub(in crate::gpu) fn verdicts(&self) -> Option<&Verdicts> {
        self.verdicts.get()
    }

    /// Keeps the results of earlier runs that were read, unless another thread has read them too, and logs why they are
    /// not used.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn read(&self, verdicts: Verdicts) {
        if self.verdicts.set(verdicts).is_ok() {
            self.verdicts().into_iter().for_each(Verdicts::log_problem);
        }
    }

    /// Number of proofs launched so far.
    pub(in crate::gpu) fn launched(&self) -> u64 {
        self.launched.load(Ordering::Relaxed)
    }

    /// Counts a proof, and caches the size that it found for a kernel that is written for `expected`.
    pub(in crate::gpu) fn add(&self, name: &str, size: u32, expected: u32) {
        self.launched.fetch_add(1, Ordering::Relaxed);
        self.has_agreed.fetch_or(size == expected, Ordering::Relaxed);
        if let Some(verdicts) = self.verdicts() {
            verdicts.store_subgroup_size(name, size);
        }
    }

    /// The size that an earlier run found for a kernel. NOTE: it is only used once this run has proven another kernel,
    /// because the environment can change what the same driver chooses (RADV's `RADV_PERFTEST=cswave32`).
    pub(in crate::gpu) fn known(&self, name: &str) -> Option<u32> {
        self.verdicts().filter(|_| self.has_agreed.load(Ordering::Relaxed))?.subgroup_size(name)
    }
}
