//! Writing a plan: parameters, buffers and steps, each checked against the device's limits as it is added.

use super::work::{Flops, Prediction, Seconds, Work};
use super::{Access, Arg, Buffer, Constant, Content, Parameter, Plan, ScalarParameter, Step};
use crate::caps::Caps;
use crate::kernel::{self, Kernel, Needs};
use crate::layout::WINDOW_ALIGNMENT;
use crate::layout::{DType, Layout};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Seconds that a step may be predicted to take: longer ones are launched in pieces. The watchdogs of systems reset a GPU that
/// does not answer for about two seconds, and one that draws a screen should answer sooner.
pub(crate) const LONGEST: f64 = 0.5;
/// Steps of a plan that is launched in pieces at most: of half a second each they take nine hours.
const STEPS_AT_MOST: u64 = 1 << 16;

/// A plan that is being written.
pub(crate) struct Draft<'a> {
    caps: &'a Caps,
    plan: Content,
}

/// A view of a buffer of a plan. Offsets count from the start of the operand's aligned window, or of the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    buffer: Buffer,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

/// A step before it is checked.
pub(crate) struct NewStep<'a> {
    pub(crate) kernel: Kernel,
    /// The kernel's tile, in words.
    pub(crate) tile: String,
    pub(crate) needs: Needs,
    /// The number of workgroups.
    pub(crate) blocks: u64,
    pub(crate) dims: Dims,
    /// What is bound, in the order in which the shader declares it.
    pub(crate) args: &'a [(Region, Access)],
    pub(crate) flops: Flops,
    pub(crate) time: Time,
}

/// How long a step is predicted to take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Time {
    /// As long as its arithmetic or its bytes take at the device's peak, whichever takes longer.
    Roofline,
    /// As long as the family's own model says.
    Predicted(Prediction),
}

/// A kernel's uniform, and where the call's scalars lie in it.
#[derive(Clone, Debug)]
pub(crate) struct Dims {
    bytes: Vec<u8>,
    scalars: Vec<(usize, usize)>,
}

impl Dims {
    /// These dims.
    pub(crate) fn of(dims: &impl bytemuck::Pod) -> Self {
        Self { bytes: bytemuck::bytes_of(dims).to_vec(), scalars: Vec::new() }
    }

    /// With the call's scalar of this index in the four bytes from `offset` on, which are zero in the plan.
    pub(crate) fn scalar(mut self, offset: usize, index: usize) -> Self {
        self.bytes[offset..offset + 4].fill(0);
        self.scalars.push((offset, index));
        self
    }
}

impl Region {
    /// The same buffer, seen so.
    pub(crate) fn seen_as(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// The bytes that a kernel binds of it.
    fn window(&self) -> Range<u64> {
        crate::layout::window(self.layout.bytes(self.dtype))
    }

    /// Bytes of its elements, each once however often it is repeated.
    fn distinct_bytes(&self) -> u64 {
        let steps = self.layout.shape().iter().zip(self.layout.strides());
        let extents = steps.map(|(&extent, &stride)| if stride == 0 { extent.min(1) } else { extent });
        let distinct =
            extents.fold(self.dtype.size() as u64, |bytes, extent| bytes.saturating_mul(extent as u64));
        // Where strides overlap, an element is counted once.
        let bytes = self.layout.bytes(self.dtype);
        distinct.min(bytes.end - bytes.start)
    }
}

impl<'a> Draft<'a> {
    /// A plan of `op` for a device, without steps, to which a call passes these scalars.
    pub(crate) fn new(op: &'static str, scalars: &[ScalarParameter], caps: &'a Caps) -> Self {
        let plan = Content {
            op,
            parameters: Vec::new(),
            scalars: scalars.to_vec(),
            steps: Vec::new(),
            temporaries: Vec::new(),
            constants: Vec::new(),
            reasons: Vec::new(),
        };
        Self { caps, plan }
    }

    /// The device.
    pub(crate) fn caps(&self) -> &'a Caps {
        self.caps
    }

    /// The place of the scalar of this name among those that a call passes, if it passes it.
    pub(crate) fn scalar(&self, name: &str) -> Option<usize> {
        self.plan.scalars.iter().position(|scalar| scalar.name == name)
    }

    /// The next operand.
    pub(crate) fn operand(
        &mut self,
        name: &'static str,
        dtype: DType,
        layout: Layout,
        access: Access,
    ) -> Region {
        let buffer = Buffer::Operand(self.plan.parameters.len());
        self.plan.parameters.push(Parameter { name, dtype, layout, access });
        Region { buffer, layout, dtype }
    }

    /// A buffer between steps, for elements without gaps.
    ///
    /// # Errors
    /// [`Error::Limit`] if the device cannot create and bind it as a whole.
    pub(crate) fn temporary(&mut self, shape: &[usize], dtype: DType) -> Result<Region> {
        let layout = Layout::contiguous(self.plan.op, shape)?;
        let bytes = (layout.len() as u64).saturating_mul(dtype.size() as u64);
        kernel::check_scratch(self.plan.op, self.caps, bytes)?;
        let buffer = Buffer::Temporary(self.plan.temporaries.len());
        self.plan.temporaries.push(bytes);
        Ok(Region { buffer, layout, dtype })
    }

    /// Words that the plan brings along, not none. The same words are one constant.
    pub(crate) fn constant(&mut self, words: &[u32]) -> Result<Region> {
        let layout = Layout::contiguous(self.plan.op, &[words.len()])?;
        Ok(Region { buffer: self.share(Constant::new(words)), layout, dtype: DType::I32 })
    }

    /// The buffer of a constant: that of the same words, if there is one.
    fn share(&mut self, constant: Constant) -> Buffer {
        let constants = &mut self.plan.constants;
        let known = constants.iter().position(|known| *known == constant);
        Buffer::Constant(known.unwrap_or_else(|| {
            constants.push(constant);
            constants.len() - 1
        }))
    }

    /// The next step; several, of a range of the workgroups each, if one would keep the device for too long.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the kernel needs more of the device than it has; [`Error::Limit`] if a window is larger than
    /// what it can bind, or there are more workgroups than a grid may have.
    pub(crate) fn step(&mut self, step: NewStep<'_>) -> Result<()> {
        let NewStep { kernel, tile, needs, blocks, dims, args, flops, time } = step;
        let (op, caps) = (self.plan.op, self.caps);
        needs.check(op, caps)?;
        let (limit, blocks) = (caps.limits.grid, blocks.max(1));
        let grid = kernel::fold(op, blocks, limit)?;
        let (mut read, mut written) = (Vec::new(), Vec::new());
        let mut bound = Vec::with_capacity(args.len());
        for &(region, access) in args {
            let window = region.window();
            // To behind the last element; limits are whole units, as windows are.
            let end = region.layout.bytes(region.dtype).end;
            let (needed, allowed) = (end.saturating_sub(window.start), caps.limits.binding_bytes);
            if needed > allowed {
                return Err(Error::Limit {
                    op,
                    what: "one operand's binding in bytes".into(),
                    needed,
                    allowed,
                });
            }
            let bytes = region.distinct_bytes();
            read.push(if access == Access::Write { 0 } else { bytes });
            written.push(if access == Access::Read { 0 } else { bytes });
            bound.push(Arg { buffer: region.buffer, window, access });
        }
        let prediction = match time {
            Time::Roofline => Prediction::roofline(&flops, read.iter().chain(&written).sum(), caps),
            Time::Predicted(prediction) => prediction,
        };
        let (seconds, bound_by) = (prediction.seconds, prediction.bound_on(caps));
        let work = Work { flops, read, written, bound: bound_by };
        let Dims { bytes: dims, scalars } = dims;
        let whole =
            Step { kernel, tile, needs, grid, first_block: 0, dims, scalars, args: bound, work, seconds };
        if seconds <= LONGEST || blocks == 1 {
            self.plan.steps.push(whole);
            return Ok(());
        }
        let kernel = whole.kernel.in_pieces(caps, whole.dims.len());
        // What a piece writes, the others have not.
        let access = |access| if access == Access::Write { Access::Update } else { access };
        let args: Vec<Arg> =
            whole.args.into_iter().map(|arg| Arg { access: access(arg.access), ..arg }).collect();
        let piece = of_a_piece(blocks, seconds, limit);
        let (needed, allowed) = (self.plan.steps.len() as u64 + blocks.div_ceil(piece), STEPS_AT_MOST);
        if needed > allowed {
            let what = format!("the number of launches of at most {}", Seconds(LONGEST));
            return Err(Error::Limit { op, what, needed, allowed });
        }
        for first in (0..blocks).step_by(usize::try_from(piece).unwrap_or(usize::MAX)) {
            let end = (first + piece).min(blocks);
            let mut dims = whole.dims.clone();
            let first_block = u32::try_from(first).unwrap_or(u32::MAX);
            dims.extend_from_slice(&first_block.to_ne_bytes());
            self.plan.steps.push(Step {
                kernel: kernel.clone(),
                tile: whole.tile.clone(),
                needs,
                grid: kernel::fold(op, end - first, limit)?,
                first_block,
                dims,
                scalars: whole.scalars.clone(),
                args: args.clone(),
                work: whole.work.of_blocks([first, end, blocks]),
                seconds: seconds * (end - first) as f64 / blocks as f64,
            });
        }
        Ok(())
    }

    /// All steps of another plan, whose operands are these regions and whose scalars are those of this plan with these indices.
    ///
    /// # Errors
    /// [`Error::Device`] if these are not what the other plan takes: a bug.
    pub(crate) fn call(&mut self, plan: Plan, operands: &[Region], scalars: &[usize]) -> Result<()> {
        let content = Arc::unwrap_or_clone(plan.0);
        let Content { op, parameters, scalars: numbers, steps, temporaries, constants, reasons } = content;
        let fits = |(parameter, region): (&Parameter, &Region)| {
            parameter.dtype == region.dtype && parameter.layout.lies_as(&region.layout, region.dtype)
        };
        let kind = |&index: &usize| self.plan.scalars.get(index).map(|scalar| scalar.kind);
        if parameters.len() != operands.len()
            || !parameters.iter().zip(operands).all(fits)
            || !numbers.iter().map(|number| Some(number.kind)).eq(scalars.iter().map(kind))
        {
            return Err(Error::device(format!("{op}, a part of {}, takes other operands", self.plan.op)));
        }
        let first = self.plan.temporaries.len();
        self.plan.temporaries.extend(temporaries);
        let shared: Vec<Buffer> = constants.into_iter().map(|constant| self.share(constant)).collect();
        for mut step in steps {
            for arg in &mut step.args {
                let (buffer, base) = match arg.buffer {
                    Buffer::Operand(index) => {
                        let Region { buffer, layout, dtype } = operands[index];
                        (buffer, layout.bytes(dtype).start / WINDOW_ALIGNMENT * WINDOW_ALIGNMENT)
                    }
                    Buffer::Temporary(index) => (Buffer::Temporary(first + index), 0),
                    Buffer::Constant(index) => (shared[index], 0),
                };
                *arg = Arg { buffer, window: arg.window.start + base..arg.window.end + base, ..*arg };
            }
            for (_, index) in &mut step.scalars {
                *index = scalars[*index];
            }
            self.plan.steps.push(step);
        }
        for reason in reasons {
            self.reason(reason);
        }
        Ok(())
    }

    /// Adds a reason, unless it was given before.
    pub(crate) fn reason(&mut self, reason: String) {
        if !self.plan.reasons.contains(&reason) {
            self.plan.reasons.push(reason);
        }
    }

    /// The plan.
    pub(crate) fn finish(self) -> Plan {
        Plan(Arc::new(self.plan))
    }
}

/// How many of a step's workgroups a piece has. A grid of so many has no idle rest, which would run what is another piece's.
fn of_a_piece(blocks: u64, seconds: f64, limit: u32) -> u64 {
    let limit = u64::from(limit.max(1));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "less than `blocks`, and not negative"
    )]
    let piece = (blocks as f64 * (LONGEST / seconds)) as u64;
    // Whole rows of the grid, and whole planes.
    let unit = [limit * limit, limit, 1].into_iter().find(|&unit| piece > unit).unwrap_or(1);
    (piece / unit * unit).max(1)
}
