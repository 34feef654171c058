//! When a plan needs its buffers: each is allocated for the first step that binds it, and a temporary goes back to the pool
//! behind the last. So the memory that a plan takes is known before anything is recorded.

use crate::plan::{Access, Buffer, Plan};

/// What the operands that a plan writes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outputs {
    /// Buffers that the call passes.
    Supplied,
    /// Buffers that are allocated as temporaries are, and then the call's.
    New,
}

/// How long a plan's temporaries are needed, and how much memory its new buffers take.
pub(super) struct Lifetimes {
    /// Of each temporary, the last step that binds it.
    last: Vec<Option<usize>>,
    /// Where all outputs are held.
    temporaries: MemoryNeed,
    /// Where all outputs are new.
    with_outputs: MemoryNeed,
}

/// Memory for some buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryNeed {
    /// At most this many bytes at one time, as the pool counts them.
    pub(super) peak: u64,
    /// No buffer has more bytes than this, as they were asked for.
    pub(super) largest: u64,
}

/// A buffer of these bytes, the step that binds it first, and the one behind which it is given back, if it is.
#[derive(Clone, Copy)]
struct Lifetime {
    bytes: u64,
    first: usize,
    last: Option<usize>,
}

impl Lifetimes {
    /// Those of `plan` on a device whose pool gives a buffer of `class(bytes)` to whom asks for `bytes`. Plans may have tens of
    /// thousands of steps and temporaries: this goes through them once.
    pub(super) fn of(plan: &Plan, class: impl Fn(u64) -> u64) -> Self {
        let steps = plan.steps().len();
        let mut first = vec![None; plan.temporaries().len()];
        let mut last = first.clone();
        // What no step binds is allocated behind all.
        let mut first_of_operand = vec![steps; plan.parameters().len()];
        for (at, step) in plan.steps().iter().enumerate() {
            for arg in &step.args {
                match arg.buffer {
                    Buffer::Temporary(index) => {
                        first[index].get_or_insert(at);
                        last[index] = Some(at);
                    }
                    Buffer::Operand(index) => first_of_operand[index] = at.min(first_of_operand[index]),
                    Buffer::Constant(_) => {}
                }
            }
        }
        let temporary =
            |((&bytes, first), &last)| Option::map(first, |first| Lifetime { bytes, first, last });
        let temporaries = plan.temporaries().iter().zip(first).zip(&last).filter_map(temporary);
        let mut lifetimes: Vec<Lifetime> = temporaries.collect();
        let temporaries = MemoryNeed::of(&lifetimes, steps, &class);
        let outputs = plan.parameters().iter().zip(first_of_operand);
        let outputs = outputs.filter(|(to, _)| to.access == Access::Write);
        lifetimes.extend(outputs.map(|(to, first)| Lifetime { bytes: to.new_bytes(), first, last: None }));
        Self { last, temporaries, with_outputs: MemoryNeed::of(&lifetimes, steps, &class) }
    }

    /// The memory that the plan's new buffers take.
    pub(super) fn memory(&self, outputs: Outputs) -> MemoryNeed {
        match outputs {
            Outputs::Supplied => self.temporaries,
            Outputs::New => self.with_outputs,
        }
    }

    /// Whether no step behind this one binds the temporary with this index.
    pub(super) fn ends_after(&self, temporary: usize, step: usize) -> bool {
        self.last[temporary] == Some(step)
    }
}

impl MemoryNeed {
    /// What buffers with these lifetimes take in a plan of so many steps.
    fn of(lifetimes: &[Lifetime], steps: usize, class: impl Fn(u64) -> u64) -> Self {
        let (mut begin, mut end) = (vec![0; steps + 1], vec![0; steps + 1]);
        for life in lifetimes {
            begin[life.first] += class(life.bytes);
            if let Some(last) = life.last {
                end[last] += class(life.bytes);
            }
        }
        let (mut held, mut peak) = (0, 0);
        for (begin, end) in begin.into_iter().zip(end) {
            held += begin;
            peak = peak.max(held);
            held -= end;
        }
        Self { peak, largest: lifetimes.iter().map(|life| life.bytes).max().unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(bytes: u64, first: usize, last: Option<usize>) -> Lifetime {
        Lifetime { bytes, first, last }
    }

    #[test]
    fn together_is_the_most_at_one_time() {
        // A small one, then a large one, and one that meets both.
        let lifetimes = [life(8, 0, Some(1)), life(100, 2, Some(3)), life(20, 1, Some(2))];
        assert_eq!(MemoryNeed::of(&lifetimes, 4, |bytes| bytes), MemoryNeed { peak: 120, largest: 100 });
        // What one step reads and another writes, both are there.
        let lifetimes = [life(8, 0, Some(1)), life(8, 1, Some(2))];
        assert_eq!(MemoryNeed::of(&lifetimes, 3, |bytes| bytes).peak, 16);
        // Each is as large as what the pool gives.
        assert_eq!(MemoryNeed::of(&lifetimes, 3, |_| 256), MemoryNeed { peak: 512, largest: 8 });
    }

    #[test]
    fn outputs_stay() {
        let lifetimes = [life(50, 1, None), life(60, 0, Some(0)), life(70, 2, Some(2))];
        assert_eq!(MemoryNeed::of(&lifetimes, 3, |bytes| bytes).peak, 120);
        // Of a plan of nothing there is only the output.
        assert_eq!(
            MemoryNeed::of(&[life(40, 0, None)], 0, |bytes| bytes),
            MemoryNeed { peak: 40, largest: 40 }
        );
        assert_eq!(MemoryNeed::of(&[], 2, |bytes| bytes), MemoryNeed::default());
    }
}
