//! Which buffers hold the temporaries of a plan. Temporaries that no step needs at the same time share a buffer; a result that is
//! new holds temporaries until it is written.

use crate::plan::{Access, Buffer, Parameter, Plan};
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// What the operands that a plan writes held before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outputs {
    /// Anything: if the plan is not executed to its end, they hold it still.
    Held,
    /// Nothing, in buffers of their own that nobody else sees yet.
    Fresh,
}

/// The buffers of a plan's temporaries.
pub(super) struct Slots {
    /// Bytes of each buffer beside the operands.
    pub(super) bytes: Vec<u64>,
    /// Of each temporary, its place.
    pub(super) of: Vec<Slot>,
}

/// The place of a temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) place: Place,
    /// The step that writes it first, if the buffer held another temporary before.
    pub(super) begins: Option<usize>,
}

/// A buffer that holds temporaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The one with this index.
    Buffer(usize),
    /// That of the operand with this index.
    Operand(usize),
}

/// A result that may hold temporaries, before it is written itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Host {
    operand: usize,
    bytes: u64,
    /// The first step that binds it.
    from: usize,
}

/// The steps from the first to the last that bind a buffer.
type Life = RangeInclusive<usize>;

impl Slots {
    pub(super) fn of(plan: &Plan, outputs: Outputs) -> Self {
        let life = |buffer: Buffer| -> Option<Life> {
            let binds = |at: &usize| plan.steps()[*at].args.iter().any(|arg| arg.buffer == buffer);
            let mut steps = 0..plan.steps().len();
            let first = steps.find(binds)?;
            Some(first..=steps.rfind(binds).unwrap_or(first))
        };
        let lives: Vec<Life> =
            (0..plan.temporaries().len()).map(|at| life(Buffer::Temporary(at)).unwrap_or(0..=0)).collect();
        let host = |(operand, parameter): (usize, &Parameter)| {
            let layout = &parameter.layout;
            let is_host = parameter.access == Access::Write && layout.is_contiguous() && layout.offset() == 0;
            let from = *life(Buffer::Operand(operand)).filter(|_| is_host)?.start();
            Some(Host { operand, bytes: layout.bytes(parameter.dtype).end, from })
        };
        let hosts: Vec<Host> = match outputs {
            Outputs::Fresh if !lives.is_empty() => {
                plan.parameters().iter().enumerate().filter_map(host).collect()
            }
            Outputs::Fresh | Outputs::Held => Vec::new(),
        };
        Self::assign(plan.temporaries(), &lives, &hosts)
    }

    /// Places temporaries of these bytes that are needed for these steps, the largest first: a buffer is as large as the first that
    /// it gets.
    fn assign(sizes: &[u64], lives: &[Life], hosts: &[Host]) -> Self {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&temporary| Reverse(sizes[temporary]));
        let mut held: Vec<(Place, Vec<usize>)> =
            hosts.iter().map(|host| (Place::Operand(host.operand), Vec::new())).collect();
        let mut bytes = Vec::new();
        let meet =
            |a: usize, b: usize| lives[a].start() <= lives[b].end() && lives[b].start() <= lives[a].end();
        for temporary in order {
            let has_room = |at: usize| {
                hosts
                    .get(at)
                    .is_none_or(|host| sizes[temporary] <= host.bytes && *lives[temporary].end() < host.from)
            };
            let free = (0..held.len())
                .find(|&at| has_room(at) && held[at].1.iter().all(|&other| !meet(other, temporary)));
            match free {
                Some(at) => held[at].1.push(temporary),
                None => {
                    held.push((Place::Buffer(bytes.len()), vec![temporary]));
                    bytes.push(sizes[temporary]);
                }
            }
        }
        let mut of = vec![Slot { place: Place::Buffer(0), begins: None }; sizes.len()];
        for (place, temporaries) in held {
            let first = temporaries.iter().map(|&temporary| *lives[temporary].start()).min();
            for temporary in temporaries {
                let own = *lives[temporary].start();
                of[temporary] = Slot { place, begins: Some(own).filter(|_| first < Some(own)) };
            }
        }
        Self { bytes, of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporaries_share_a_buffer_where_no_step_needs_both() {
        // A small one, then a large one, then one that meets both.
        let slots = Slots::assign(&[8, 100, 20], &[0..=1, 2..=3, 1..=2], &[]);
        assert_eq!(slots.bytes, [100, 20]);
        assert_eq!(slots.of[0], Slot { place: Place::Buffer(0), begins: None });
        assert_eq!(slots.of[1], Slot { place: Place::Buffer(0), begins: Some(2) });
        assert_eq!(slots.of[2], Slot { place: Place::Buffer(1), begins: None });
    }

    #[test]
    fn what_one_step_reads_and_writes_lies_apart() {
        let slots = Slots::assign(&[8, 8], &[0..=1, 1..=2], &[]);
        assert_eq!((slots.bytes.len(), slots.of[0].place == slots.of[1].place), (2, false));
    }

    #[test]
    fn a_new_result_holds_what_is_needed_until_it_is_written() {
        let host = Host { operand: 3, bytes: 100, from: 2 };
        let slots = Slots::assign(&[100, 101, 50, 60], &[0..=1, 0..=1, 1..=2, 0..=0], &[host]);
        // Of its size and not later; too large; needed when it is written; at the same time as the first.
        assert_eq!(slots.of[0], Slot { place: Place::Operand(3), begins: None });
        assert_eq!(slots.of[1], Slot { place: Place::Buffer(0), begins: None });
        assert_eq!(slots.of[3], Slot { place: Place::Buffer(1), begins: None });
        assert_eq!(slots.of[2], Slot { place: Place::Buffer(1), begins: Some(1) });
        assert_eq!(slots.bytes, [101, 60]);
    }

    /// Random lives: none that meet share a buffer, a result holds none from the step on that binds it, and buffers take no more
    /// bytes than temporaries.
    #[test]
    fn no_two_temporaries_of_one_buffer_meet() {
        let mut state = 1_u32;
        let mut below = |n: u32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 16) % n
        };
        for _ in 0..200 {
            let count = 1 + below(12) as usize;
            let sizes: Vec<u64> = (0..count).map(|_| u64::from(1 + below(50))).collect();
            let lives: Vec<Life> = (0..count)
                .map(|_| {
                    let first = below(10) as usize;
                    first..=first + below(5) as usize
                })
                .collect();
            let hosts: Vec<Host> = (0..below(3) as usize)
                .map(|operand| Host { operand, bytes: below(60).into(), from: below(14) as usize })
                .collect();
            let slots = Slots::assign(&sizes, &lives, &hosts);
            for (i, a) in slots.of.iter().enumerate() {
                match a.place {
                    Place::Buffer(at) => assert!(slots.bytes[at] >= sizes[i]),
                    Place::Operand(at) => {
                        assert!(hosts[at].bytes >= sizes[i] && *lives[i].end() < hosts[at].from);
                    }
                }
                for (j, b) in slots.of.iter().enumerate().take(i) {
                    let apart = lives[i].end() < lives[j].start() || lives[j].end() < lives[i].start();
                    assert!(a.place != b.place || apart, "{lives:?}: {:?}", slots.of);
                }
            }
            assert!(slots.bytes.iter().sum::<u64>() <= sizes.iter().sum());
        }
    }
}
