//! A plan as text: its steps, its temporaries and constants, and the reasons for its choice.

use super::executable::{Content, Plan, TimeSource};
use super::step::{Arg, Buffer, Step};
use super::work::{Amount, Flops, Seconds};
use std::fmt;

/// Up to this many steps are listed by number; otherwise only the first and the last.
const LISTED: usize = 3;
/// Up to this many temporaries are listed one by one; otherwise only their number and total size.
const TEMPORARIES_LISTED: usize = 16;

/// ```text
/// matmul: 2 steps, predicted 52.5 us: 33.6 MFLOP, 2.16 MB read, 81.9 kB written, bound by latency
///   1. gemm/tiled 32x64x16 (4x4 per invocation), grid 8 x 1 x 1, 47.7 us: 33.6 MFLOP; reads A 1.05 MB, B 1.05 MB; writes the temporary 65.5 kB; bound by latency
///   2. gemm/reduce_splits 64 times 4 elements, grid 16 x 1 x 1, 4.8 us: 16.4 kFLOP; reads the temporary 65.5 kB; writes the output 16.4 kB; bound by latency
///   between steps: 65536 bytes, written by step 1, read by step 2
///   naive: slower here, predicted 656.9 us
///   gemv: needs m or n of at most 8
///   broadcast: needs a device that runs the invocations of a workgroup in turn
///   dot: needs operands of i8, not f32
///   coop: needs operands of f16, not f32
///   coop_khr: needs operands of f16, bf16, i8, e4m3 or e5m2, not f32
///   coop_nv2: needs operands of f16, bf16 or i8, not f32
/// ```
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Content { op, steps, reasons, .. } = &*self.0;
        if steps.is_empty() {
            return write!(f, "{op}: no steps: there is nothing to compute");
        }
        let launched = LaunchedStep::all(&self.0);
        let count =
            if launched.len() == 1 { "1 step".to_owned() } else { format!("{} steps", launched.len()) };
        write!(f, "{op}: {count}")?;
        if steps.len() > launched.len() {
            write!(f, " in {} launches", steps.len())?;
        }
        write!(f, ", {} {}: {}", self.time_source(), Seconds(self.seconds()), self.work())?;
        let lines: Vec<String> = launched.iter().map(LaunchedStep::to_string).collect();
        let mut number = 0;
        for alike in lines.chunk_by(PartialEq::eq) {
            let first = number + 1;
            number += alike.len();
            match (alike, lines.len()) {
                ([line], 1) => write!(f, "\n  {line}")?,
                ([line], _) => write!(f, "\n  {number}. {line}")?,
                ([line, ..], _) => write!(f, "\n  {first} to {number}, each: {line}")?,
                ([], _) => {}
            }
        }
        buffers(f, &self.0, &launched)?;
        reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

impl fmt::Display for TimeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Predicted => "predicted",
            Self::Measured => "measured",
        })
    }
}

/// Lists the temporaries and constants: sizes, and the steps that use them.
fn buffers(f: &mut fmt::Formatter<'_>, plan: &Content, launched: &[LaunchedStep<'_>]) -> fmt::Result {
    let (temporaries, constants) = (&plan.temporaries, &plan.constants);
    let mut listed = &temporaries[..];
    if listed.len() > TEMPORARIES_LISTED {
        let bytes: u64 = listed.iter().sum();
        write!(f, "\n  between steps: {} temporaries, {bytes} bytes in all", listed.len())?;
        listed = &[];
    }
    for (i, bytes) in listed.iter().enumerate() {
        let name = if temporaries.len() > 1 { format!(", temporary {}", i + 1) } else { String::new() };
        write!(
            f,
            "\n  between steps{name}: {bytes} bytes{}",
            Uses { launched, buffer: Buffer::Temporary(i) }
        )?;
    }
    for (i, constant) in constants.iter().enumerate() {
        let name = if constants.len() > 1 { format!(" {}", i + 1) } else { String::new() };
        let uses = Uses { launched, buffer: Buffer::Constant(i) };
        write!(f, "\n  constant{name}: {} bytes{uses}", constant.bytes())?;
    }
    Ok(())
}

/// A step with all of its pieces.
struct LaunchedStep<'a> {
    plan: &'a Content,
    pieces: &'a [Step],
}

impl<'a> LaunchedStep<'a> {
    fn all(plan: &'a Content) -> Vec<Self> {
        let steps = plan.steps.chunk_by(|_, next| next.first_block > 0);
        steps.map(|pieces| Self { plan, pieces }).collect()
    }

    /// The name of a buffer.
    fn name(&self, buffer: Buffer) -> String {
        let numbered = |what: &str, i: usize, of: usize| {
            if of > 1 { format!("{what} {}", i + 1) } else { format!("the {what}") }
        };
        match buffer {
            Buffer::Operand(i) => self.plan.parameters[i].name.to_owned(),
            Buffer::Temporary(i) => numbered("temporary", i, self.plan.temporaries.len()),
            Buffer::Constant(i) => numbered("constant", i, self.plan.constants.len()),
        }
    }

    /// The buffers that all pieces together read (or write), with the bytes. `bytes` selects the direction. The access of a single
    /// piece cannot be used: a piece has update access to an output, because the other pieces write the rest. A constant that is
    /// bound several times counts once.
    fn moved(&self, bytes: impl Fn(&Step) -> &[u64]) -> impl Iterator<Item = (Buffer, u64)> {
        let args = &self.pieces[0].args;
        let is_counted = |(i, arg): &(usize, &Arg)| {
            !matches!(arg.buffer, Buffer::Constant(_))
                || args[..*i].iter().all(|before| before.buffer != arg.buffer)
        };
        let of_arg = move |(i, arg): (usize, &Arg)| {
            (arg.buffer, self.pieces.iter().map(|piece| bytes(piece)[i]).sum::<u64>())
        };
        args.iter().enumerate().filter(is_counted).map(of_arg).filter(|(_, bytes)| *bytes > 0)
    }

    fn moves(&self, buffer: Buffer, bytes: impl Fn(&Step) -> &[u64]) -> bool {
        self.moved(bytes).any(|(moved, _)| moved == buffer)
    }

    /// The same as text that begins with a verb; `None` if nothing is moved.
    fn moved_text(&self, verb: &str, bytes: impl Fn(&Step) -> &[u64]) -> Option<String> {
        let moved = self.moved(bytes);
        let words =
            moved.map(|(buffer, bytes)| format!("{} {}", self.name(buffer), Amount(bytes as f64, "B")));
        words.reduce(|all, one| format!("{all}, {one}")).map(|all| format!("{verb} {all}"))
    }
}

/// `gemm/tiled 64x64x16 (4x4 per invocation), grid 8 x 4 x 1, 12.1 us: 33.6 MFLOP; reads A 1.05 MB; ..; bound by memory`
impl fmt::Display for LaunchedStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { kernel, tile, work, .. } = &self.pieces[0];
        write!(f, "{} {tile}, ", kernel.shader())?;
        match self.pieces {
            [Step { grid: [x, y, z], .. }] => write!(f, "grid {x} x {y} x {z}")?,
            pieces => {
                let blocks = pieces.iter().map(|piece| piece.grid.iter().product::<u32>());
                let most = blocks.max().unwrap_or_default();
                write!(f, "in {} pieces of at most {most} workgroups", pieces.len())?;
            }
        }
        let seconds = self.pieces.iter().fold(0.0, |seconds, piece| seconds + piece.seconds);
        write!(f, ", {}: ", Seconds(seconds))?;
        let flops = self.pieces.iter().fold(Flops::default(), |flops, piece| flops.plus(&piece.work.flops));
        if flops.sum() > 0.0 {
            write!(f, "{flops}; ")?;
        }
        let moved = [
            self.moved_text("reads", |step| &step.work.read),
            self.moved_text("writes", |step| &step.work.written),
        ];
        moved.iter().flatten().try_for_each(|text| write!(f, "{text}; "))?;
        write!(f, "bound by {}", work.bound)
    }
}

/// The steps that write and read a buffer, if the plan has several steps.
struct Uses<'a> {
    launched: &'a [LaunchedStep<'a>],
    buffer: Buffer,
}

impl fmt::Display for Uses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.launched.len() == 1 {
            return Ok(());
        }
        let written: fn(&Step) -> &[u64] = |step| &step.work.written;
        let read: fn(&Step) -> &[u64] = |step| &step.work.read;
        for (verb, bytes) in [("written", written), ("read", read)] {
            let steps = self.launched.iter().enumerate();
            let steps = steps.filter(|(_, step)| step.moves(self.buffer, bytes));
            let steps: Vec<String> = steps.map(|(i, _)| (i + 1).to_string()).collect();
            match &steps[..] {
                [] => {}
                [step] => write!(f, ", {verb} by step {step}")?,
                [steps @ .., last] if steps.len() < LISTED => {
                    write!(f, ", {verb} by steps {} and {last}", steps.join(", "))?;
                }
                [first, .., last] => write!(f, ", {verb} by {} steps from {first} to {last}", steps.len())?,
            }
        }
        Ok(())
    }
}

/// `gemm/tiled 64x64x16 (4x4 per invocation), grid 8 x 4 x 1, 12.1 us: 33.6 MFLOP, 1.57 MB read, 524 kB written, bound by memory`
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, tile, grid: [x, y, z], first_block, work, seconds, .. } = self;
        write!(f, "{} {tile}, grid {x} x {y} x {z}", kernel.shader())?;
        if *first_block > 0 {
            write!(f, " from workgroup {first_block} on")?;
        }
        write!(f, ", {}: {work}", Seconds(*seconds))
    }
}

#[cfg(test)]
mod tests {
    use crate::caps::fixtures;
    use crate::gemm::{GemmProblem, GemmTypes, SplitK};
    use crate::layout::{DType, Layout};
    use crate::plan::{Plan, Problem};

    fn product([m, n, k]: [usize; 3], split: SplitK) -> Plan {
        let of = |shape: [usize; 2]| Layout::contiguous("test", &shape).unwrap();
        let types = GemmTypes::new(DType::F32, DType::F32);
        let problem = GemmProblem::new(&of([m, k]), &of([k, n]), &of([m, n]), types).unwrap();
        problem.split_k(split).explain(&fixtures::apple_m2()).unwrap()
    }

    /// The example in the documentation is real output.
    #[test]
    fn the_example_is_what_the_code_prints() {
        let text = include_str!("display.rs");
        let example = text.split("/// ```text\n").nth(1).and_then(|rest| rest.split("/// ```\n").next());
        let lines = example.expect("it is there").lines().map(|line| line.strip_prefix("/// ").unwrap());
        let printed = product([64, 64, 4096], SplitK::Splits(4)).to_string();
        assert!(lines.eq(printed.lines()), "{printed}");
    }
}
