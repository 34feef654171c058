//! The capabilities of an open device. Its rows of cooperative matrices can be tested and fenced off later.

use crate::caps::{Caps, CoopRow, Matrices, Verdict};
use std::sync::OnceLock;

/// The capabilities of a device, with the later test results. An earlier version stays alive, because callers hold
/// references to it.
pub(in crate::gpu) struct KnownCaps {
    caps: Caps,
    next: OnceLock<Box<Self>>,
}

impl KnownCaps {
    pub(in crate::gpu) fn new(caps: Caps) -> Self {
        Self { caps, next: OnceLock::new() }
    }

    /// The latest version.
    pub(in crate::gpu) fn latest(&self) -> &Caps {
        &self.last().caps
    }

    fn last(&self) -> &Self {
        let mut last = self;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last
    }

    /// Fences off the row of these matrices: its kernels have subgroups of another size. None if
    /// the row was fenced off before, also by another thread.
    pub(in crate::gpu) fn fence_off(&self, matrices: &Matrices) -> Option<CoopRow> {
        self.update(|rows| {
            let is_meant = |row: &&mut CoopRow| matrices.are_of(row);
            let row = rows.iter_mut().find(is_meant).filter(|row| !row.is_fenced_off())?;
            row.verdict = Verdict::OtherSubgroups;
            Some(*row)
        })
    }

    /// Adds the verdicts of tests to the rows that have none.
    #[cfg(any(test, not(target_arch = "wasm32")))]
    pub(in crate::gpu) fn add_verdicts(&self, tested: &[CoopRow]) {
        self.update(|rows| {
            let mut added = None;
            for row in rows.iter_mut().filter(|row| row.verdict == Verdict::Untested) {
                let is_meant =
                    |known: &&CoopRow| known.verdict != Verdict::Untested && untested(**known) == *row;
                if let Some(known) = tested.iter().find(is_meant) {
                    *row = *known;
                    added = Some(());
                }
            }
            added
        });
    }

    /// Adds a version whose rows `change` has changed. None, and no version, if it has changed nothing.
    fn update<R>(&self, change: impl Fn(&mut [CoopRow]) -> Option<R>) -> Option<R> {
        loop {
            let last = self.last();
            let mut caps = last.caps.clone();
            let changed = change(&mut caps.rows)?;
            // Fails if another thread has added a version since.
            if last.next.set(Box::new(Self::new(caps))).is_ok() {
                return Some(changed);
            }
        }
    }
}

/// The row without its verdict and its speed.
pub(in crate::gpu) fn untested(row: CoopRow) -> CoopRow {
    CoopRow { verdict: Verdict::Untested, speed: None, ..row }
}

#[cfg(test)]
mod tests {
    use super::KnownCaps;
    use crate::caps::{CoopScalar, Matrices, Verdict, fixtures};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Squares of f16 of this size, with sums of f32.
    fn matrices(size: u32) -> Matrices {
        Matrices::of_subgroup([size; 3], CoopScalar::F16, CoopScalar::F32)
    }

    #[test]
    fn verdicts_are_added_to_rows_without_one_and_change_no_other() {
        let known = KnownCaps::new(fixtures::radv_rdna3());
        let before = known.latest();
        let mut rows = before.rows.clone();
        rows[0].verdict = Verdict::Verified;
        known.add_verdicts(&rows);
        let verdicts = || known.latest().rows[..2].iter().map(|row| row.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(), [Verdict::Verified, Verdict::Untested]);
        rows.iter_mut().for_each(|row| row.verdict = Verdict::Wrong);
        known.add_verdicts(&rows);
        assert_eq!(verdicts(), [Verdict::Verified, Verdict::Wrong]);
        let last: *const _ = known.latest();
        known.add_verdicts(&rows);
        assert!(std::ptr::eq(last, known.latest()), "nothing is new");
        assert!(before.rows.iter().all(|row| row.verdict == Verdict::Untested), "what was returned stays");
    }

    #[test]
    fn a_row_is_fenced_off_once_and_what_was_handed_out_stays() {
        let known = KnownCaps::new(fixtures::radv_rdna3());
        let before = known.latest();
        assert!(known.fence_off(&matrices(8)).is_none(), "there is no such row");
        let fenced = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    fenced.fetch_add(usize::from(known.fence_off(&matrices(16)).is_some()), Ordering::Relaxed)
                });
            }
        });
        assert_eq!(fenced.load(Ordering::Relaxed), 1);
        let lacks = |caps: &crate::Caps| caps.coop(16, CoopScalar::F16, CoopScalar::F32).err();
        assert_eq!(lacks(before), None);
        let why = lacks(known.latest()).expect("it is fenced off");
        assert!(why.ends_with(&Verdict::OtherSubgroups.to_string()), "{why}");
        assert!(known.latest().coop(16, CoopScalar::F16, CoopScalar::F16).is_ok(), "another row");
    }
}
