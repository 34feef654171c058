//! Lifetimes of a plan's buffers. Each buffer is allocated for the first step that binds it, and a temporary returns to
//! the pool after the last one. So the memory that a plan needs is known before anything is recorded.

use crate::plan::{Access, Buffer, Plan};

/// Where the outputs of a plan come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum Outputs {
    /// The call supplies their buffers.
    Supplied,
    /// Their buffers are allocated as temporaries are, and then returned to the caller.
    New,
}

/// Lifetimes of a plan's temporaries, and the memory that its new buffers need.
pub(in crate::gpu) struct Lifetimes {
    /// Last step that binds each temporary.
    last: Vec<Option<usize>>,
    /// Memory for the temporaries, if all outputs are supplied.
    temporaries: MemoryNeed,
    /// Memory for temporaries and outputs, if all outputs are new.
    with_outputs: MemoryNeed,
}

/// Memory for several buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gpu) struct MemoryNeed {
    /// Maximum bytes at one time, in the pool's size classes.
    pub(in crate::gpu) peak: u64,
    /// Requested bytes of the largest buffer.
    pub(in crate::gpu) largest: u64,
}

/// The lifetime of a buffer: its bytes, the first step that binds it, and the step after which it is freed, if any.
#[derive(Clone, Copy)]
struct Lifetime {
    bytes: u64,
    first: usize,
    last: Option<usize>,
}

impl Lifetimes {
    /// The lifetimes of the buffers of `plan`, on a device whose pool allocates `class(bytes)` for a request of
    /// `bytes`. Runs in linear time, because plans may have tens of thousands of steps and temporaries.
    pub(in crate::gpu) fn of(plan: &Plan, class: impl Fn(u64) -> u64) -> Self {
        let steps = plan.steps().len();
        let mut first = vec![None; plan.temporaries().len()];
        let mut last = first.clone();
        // An operand that no step binds is allocated after the last step.
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

    /// Memory that the plan's new buffers need.
    pub(in crate::gpu) fn memory(&self, outputs: Outputs) -> MemoryNeed {
        match outputs {
            Outputs::Supplied => self.temporaries,
            Outputs::New => self.with_outputs,
        }
    }

    /// Whether `step` is the last one that binds this temporary.
    pub(in crate::gpu) fn ends_after(&self, temporary: usize, step: usize) -> bool {
        self.last[temporary] == Some(step)
    }
}

impl MemoryNeed {
    /// Memory that buffers with these lifetimes need in a plan with `steps` steps.
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
        // A small buffer, then a large one, and one whose lifetime overlaps with both.
        let lifetimes = [life(8, 0, Some(1)), life(100, 2, Some(3)), life(20, 1, Some(2))];
        assert_eq!(MemoryNeed::of(&lifetimes, 4, |bytes| bytes), MemoryNeed { peak: 120, largest: 100 });
        // The buffer that a step reads and the one that it writes exist at the same time.
        let lifetimes = [life(8, 0, Some(1)), life(8, 1, Some(2))];
        assert_eq!(MemoryNeed::of(&lifetimes, 3, |bytes| bytes).peak, 16);
        // Each buffer counts with its size class.
        assert_eq!(MemoryNeed::of(&lifetimes, 3, |_| 256), MemoryNeed { peak: 512, largest: 8 });
    }

    #[test]
    fn outputs_stay() {
        let lifetimes = [life(50, 1, None), life(60, 0, Some(0)), life(70, 2, Some(2))];
        assert_eq!(MemoryNeed::of(&lifetimes, 3, |bytes| bytes).peak, 120);
        // A plan without steps has only its output.
        assert_eq!(
            MemoryNeed::of(&[life(40, 0, None)], 0, |bytes| bytes),
            MemoryNeed { peak: 40, largest: 40 }
        );
        assert_eq!(MemoryNeed::of(&[], 2, |bytes| bytes), MemoryNeed::default());
    }
}
