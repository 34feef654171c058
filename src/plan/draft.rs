//! A plan under construction. Operands, buffers and steps are checked against the device's limits as they are added.

use super::constant::Constant;
use super::executable::{Content, Plan, TimeSource};
use super::operands::{Access, Operand, Parameter};
use super::scalars::ScalarParameter;
use super::step::{Arg, Buffer, Step};
use super::work::{Flops, Prediction, Seconds, Work};
use crate::caps::Caps;
use crate::kernel::{self, DimsMember, Kernel, Needs, ShaderDims};
use crate::layout::{DType, Layout, WINDOW_ALIGNMENT, dim};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Longest predicted time of one launch in seconds. A step that would take longer is cut into several launches. Operating systems
/// reset a GPU that does not respond for about two seconds, and a GPU that also draws the screen should respond sooner.
pub(crate) const MAX_STEP_SECONDS: f64 = 0.5;
/// The largest number of launches of a plan after cutting: a product of 65,536 panels may need four for each. A plan of
/// this length takes 400 MB of memory.
pub(crate) const MAX_STEPS: u64 = 1 << 18;

/// A plan under construction.
pub(crate) struct Draft<'a> {
    caps: &'a Caps,
    plan: Content,
}

/// A view of one of the plan's buffers, as a kernel sees it. The layout's offset counts from the start of the buffer; that of an
/// operand begins with the operand's aligned window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    buffer: Buffer,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
    /// The most elements that a kernel touches, if only the device knows which of `layout` they are.
    touched: Option<Layout>,
}

/// A step to be added.
pub(crate) struct NewStep<'a> {
    pub(crate) kernel: Kernel,
    /// The kernel's tile, in words.
    pub(crate) tile: String,
    /// Without the bindings of `args`.
    pub(crate) needs: Needs,
    /// Number of workgroups.
    pub(crate) blocks: u64,
    pub(crate) dims: Dims,
    /// The bindings, in the order in which the shader declares them.
    pub(crate) args: &'a [(Region, Access)],
    pub(crate) flops: Flops,
    pub(crate) time: Time,
}

impl<'a> NewStep<'a> {
    /// A step of one workgroup without dims, which computes nothing that counts as arithmetic.
    pub(crate) fn of(kernel: Kernel, needs: Needs, args: &'a [(Region, Access)]) -> Self {
        let (tile, dims) = (String::new(), Dims::of(&[0; 0]));
        Self { kernel, tile, needs, blocks: 1, dims, args, flops: Flops::default(), time: Time::Roofline }
    }
}

/// How to predict the time of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Time {
    /// By the roofline model: the longer of two times, arithmetic and bytes at the device's peaks.
    Roofline,
    /// The same, with arithmetic slower than the peak by this factor.
    SlowArithmetic { times: f64 },
    /// By the family's own model.
    Predicted(Prediction),
}

/// A kernel's uniform, and the offsets of the call's scalars in it.
#[derive(Clone, Debug)]
pub(crate) struct Dims {
    bytes: Vec<u8>,
    members: &'static [DimsMember],
    scalars: Vec<(usize, usize)>,
}

impl Dims {
    /// The bytes of this Pod struct.
    pub(crate) fn of<D: ShaderDims>(dims: &D) -> Self {
        Self { bytes: bytemuck::bytes_of(dims).to_vec(), members: D::MEMBERS, scalars: Vec::new() }
    }

    /// The same, with the call's scalar `index` in the four bytes at `offset`. The plan holds zeros there.
    pub(crate) fn scalar(mut self, offset: usize, index: usize) -> Self {
        self.bytes[offset..offset + 4].fill(0);
        self.scalars.push((offset, index));
        self
    }
}

impl Region {
    /// The same buffer with another layout.
    pub(crate) fn with_layout(self, layout: Layout) -> Self {
        Self { layout, touched: None, ..self }
    }

    /// The same, but the kernel touches only as many elements as `part` has.
    pub(crate) fn touched_like(self, part: Layout) -> Self {
        Self { touched: Some(part), ..self }
    }

    /// The bytes to bind.
    fn window(&self) -> Range<u64> {
        crate::layout::window(self.layout.bytes(self.dtype))
    }

    /// Bytes from the start of the window to the end of the last element.
    pub(crate) fn bound_bytes(&self) -> u64 {
        // The bytes up to the end of the last element suffice for the check: the limit is a multiple of 16 bytes, like
        // windows.
        self.layout.bytes(self.dtype).end.saturating_sub(self.window().start)
    }

    /// Bytes of the distinct elements that a kernel touches: an axis of stride 0 counts once.
    fn distinct_bytes(&self) -> u64 {
        let layout = self.touched.as_ref().unwrap_or(&self.layout);
        let steps = layout.shape().iter().zip(layout.strides());
        let extents = steps.map(|(&extent, &stride)| if stride == 0 { extent.min(1) } else { extent });
        let distinct =
            extents.fold(self.dtype.size() as u64, |bytes, extent| bytes.saturating_mul(extent as u64));
        // Elements of overlapping strides count once, too.
        let bytes = layout.bytes(self.dtype);
        distinct.min(bytes.end - bytes.start)
    }
}

impl<'a> Draft<'a> {
    /// A plan of `op` without steps. A call will pass these scalars.
    pub(crate) fn new(op: &'static str, scalars: &[ScalarParameter], caps: &'a Caps) -> Self {
        let plan = Content {
            op,
            parameters: Vec::new(),
            scalars: scalars.to_vec(),
            steps: Vec::new(),
            temporaries: Vec::new(),
            constants: Vec::new(),
            reasons: Vec::new(),
            time_source: TimeSource::Predicted,
        };
        Self { caps, plan }
    }

    /// The device.
    pub(crate) fn caps(&self) -> &'a Caps {
        self.caps
    }

    /// The index of the call's scalar called `name`, if there is one.
    pub(crate) fn scalar(&self, name: &str) -> Option<usize> {
        self.plan.scalars.iter().position(|scalar| scalar.name == name)
    }

    /// These dims with the call's scalar at this offset, if the call passes it.
    pub(crate) fn put(&self, dims: Dims, scalar: ScalarParameter, offset: usize) -> Dims {
        match self.scalar(scalar.name) {
            Some(index) => dims.scalar(offset, index),
            None => dims,
        }
    }

    /// Adds an operand.
    pub(crate) fn operand(
        &mut self,
        name: &'static str,
        dtype: DType,
        layout: Layout,
        access: Access,
    ) -> Region {
        let buffer = Buffer::Operand(self.plan.parameters.len());
        self.plan.parameters.push(Parameter { name, dtype, layout, access });
        Region { buffer, layout, dtype, touched: None }
    }

    /// Adds an operand of a problem. The plan may declare fewer axes than the region has.
    pub(crate) fn region(&mut self, of: &Operand) -> Region {
        self.operand(of.name, of.dtype, of.declared(), of.access).with_layout(of.layout)
    }

    /// The same. Returns the argument of a kernel that binds the operand.
    pub(crate) fn add(&mut self, of: &Operand) -> (Region, Access) {
        (self.region(of), of.access)
    }

    /// Adds the operands of a problem. Returns the arguments of a kernel that binds all of them in this order.
    pub(crate) fn operands(&mut self, operands: &[Operand]) -> Vec<(Region, Access)> {
        operands.iter().map(|of| self.add(of)).collect()
    }

    /// Adds the operands of a problem that are there.
    pub(crate) fn regions<const N: usize>(&mut self, operands: [Option<Operand>; N]) -> [Option<Region>; N] {
        operands.map(|operand| operand.map(|of| self.region(&of)))
    }

    /// Adds a contiguous temporary buffer.
    ///
    /// # Errors
    /// [`Error::Limit`] if the device cannot create and bind it as a whole.
    pub(crate) fn temporary(&mut self, shape: &[usize], dtype: DType) -> Result<Region> {
        let layout = Layout::contiguous(self.plan.op, shape)?;
        let bytes = (layout.len() as u64).saturating_mul(dtype.size() as u64);
        kernel::check_scratch(self.plan.op, self.caps, bytes)?;
        let buffer = Buffer::Temporary(self.plan.temporaries.len());
        self.plan.temporaries.push(bytes);
        Ok(Region { buffer, layout, dtype, touched: None })
    }

    /// Adds a constant of at least one word. Equal words share one constant.
    pub(crate) fn constant(&mut self, words: &[u32]) -> Result<Region> {
        let layout = Layout::contiguous(self.plan.op, &[words.len()])?;
        Ok(Region { buffer: self.share(Constant::new(words)), layout, dtype: DType::I32, touched: None })
    }

    /// The buffer of a constant, or of an existing equal one.
    fn share(&mut self, constant: Constant) -> Buffer {
        let constants = &mut self.plan.constants;
        let known = constants.iter().position(|known| *known == constant);
        Buffer::Constant(known.unwrap_or_else(|| {
            constants.push(constant);
            constants.len() - 1
        }))
    }

    /// Adds a step. A step longer than [`MAX_STEP_SECONDS`] becomes several launches, each of a range of its workgroups.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the kernel needs features or limits that the device lacks; [`Error::Limit`] if a window
    /// exceeds the largest binding, or there are more workgroups than a grid holds.
    pub(crate) fn step(&mut self, step: NewStep<'_>) -> Result<()> {
        let NewStep { kernel, tile, needs, blocks, dims, args, flops, time } = step;
        let (op, caps) = (self.plan.op, self.caps);
        let bindings = needs.bindings.max(dim(op, args.len())?);
        let needs = Needs { bindings, ..needs };
        needs.check(op, caps)?;
        let (limit, blocks) = (caps.limits.grid, blocks.max(1));
        let grid = kernel::fold_grid(op, blocks, limit)?;
        let (mut read, mut written) = (Vec::new(), Vec::new());
        let mut bound = Vec::with_capacity(args.len());
        for &(region, access) in args {
            let window = region.window();
            let (needed, allowed) = (region.bound_bytes(), caps.limits.binding_bytes);
            if needed > allowed {
                let error = Error::Limit { op, what: kernel::BINDING.into(), needed, allowed };
                let axis =
                    region.layout.widest_axis().filter(|_| matches!(region.buffer, Buffer::Operand(_)));
                return Err(match axis {
                    Some(axis) => kernel::slice_along(error, axis),
                    None => error,
                });
            }
            let bytes = region.distinct_bytes();
            read.push(if access == Access::Write { 0 } else { bytes });
            written.push(if access == Access::Read { 0 } else { bytes });
            bound.push(Arg { buffer: region.buffer, window, access });
        }
        let prediction = match time {
            Time::Roofline => Prediction::roofline(&flops, read.iter().chain(&written).sum(), caps),
            Time::SlowArithmetic { times } => {
                Prediction::roofline(&flops.part(times), read.iter().chain(&written).sum(), caps)
            }
            Time::Predicted(prediction) => prediction,
        };
        let (running, launching) = (prediction.seconds, caps.machine.launch_seconds);
        let work = Work { flops, read, written, bound: prediction.bound_on(caps) };
        let Dims { bytes, members, scalars } = dims;
        debug_assert!(kernel.has_dims(members), "{kernel}: its dims are others");
        // A module's dims always end with the index of the first workgroup.
        let dims = if kernel.is_launched_in_pieces() { in_piece(&bytes, 0) } else { bytes.clone() };
        let seconds = running + launching;
        let whole =
            Step { kernel, tile, needs, grid, first_block: 0, dims, scalars, args: bound, work, seconds };
        if running <= MAX_STEP_SECONDS || blocks == 1 {
            self.plan.steps.push(whole);
            return Ok(());
        }
        let kernel = whole.kernel.launched_in_pieces(caps, bytes.len());
        // Each piece writes only a part of the output.
        let access = |access| if access == Access::Write { Access::Update } else { access };
        let args: Vec<Arg> =
            whole.args.into_iter().map(|arg| Arg { access: access(arg.access), ..arg }).collect();
        let piece = piece_blocks(blocks, running, limit);
        let what = format!("the number of launches of at most {}", Seconds(MAX_STEP_SECONDS));
        Error::check_limit(op, &what, self.plan.steps.len() as u64 + blocks.div_ceil(piece), MAX_STEPS)?;
        for first in (0..blocks).step_by(usize::try_from(piece).unwrap_or(usize::MAX)) {
            let end = (first + piece).min(blocks);
            let first_block = u32::try_from(first).unwrap_or(u32::MAX);
            self.plan.steps.push(Step {
                kernel: kernel.clone(),
                tile: whole.tile.clone(),
                needs,
                grid: kernel::fold_grid(op, end - first, limit)?,
                first_block,
                dims: in_piece(&bytes, first_block),
                scalars: whole.scalars.clone(),
                args: args.clone(),
                work: whole.work.of_blocks([first, end, blocks]),
                seconds: running * (end - first) as f64 / blocks as f64 + launching,
            });
        }
        Ok(())
    }

    /// Appends all steps of another plan. Its operands are these regions; its scalars are this plan's scalars with these indices.
    ///
    /// # Errors
    /// [`Error::Limit`] for too many steps; [`Error::Device`] if the other plan takes different operands or scalars, which is a bug
    /// of this crate.
    pub(crate) fn call(&mut self, plan: Plan, operands: &[Region], scalars: &[usize]) -> Result<()> {
        let content = Arc::unwrap_or_clone(plan.0);
        let Content { op, parameters, scalars: numbers, steps, temporaries, constants, reasons, .. } =
            content;
        let fits = |(parameter, region): (&Parameter, &Region)| {
            parameter.dtype == region.dtype
                && parameter.layout.has_same_elements(&region.layout, region.dtype)
        };
        let kind = |&index: &usize| self.plan.scalars.get(index).map(|scalar| scalar.kind);
        if parameters.len() != operands.len()
            || !parameters.iter().zip(operands).all(fits)
            || !numbers.iter().map(|number| Some(number.kind)).eq(scalars.iter().map(kind))
        {
            return Err(Error::device(format!("{op}, a part of {}, takes other operands", self.plan.op)));
        }
        let needed = (self.plan.steps.len() + steps.len()) as u64;
        Error::check_limit(self.plan.op, "the number of launches", needed, MAX_STEPS)?;
        let first = self.plan.temporaries.len();
        self.plan.temporaries.extend(temporaries);
        let shared: Vec<Buffer> = constants.into_iter().map(|constant| self.share(constant)).collect();
        for mut step in steps {
            for arg in &mut step.args {
                let (buffer, base) = match arg.buffer {
                    Buffer::Operand(index) => {
                        let Region { buffer, layout, dtype, .. } = operands[index];
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

    /// Adds a reason, unless the plan has it already.
    pub(crate) fn reason(&mut self, reason: String) {
        if !self.plan.reasons.contains(&reason) {
            self.plan.reasons.push(reason);
        }
    }

    /// The finished plan.
    pub(crate) fn finish(self) -> Plan {
        Plan(Arc::new(self.plan))
    }
}

/// Dims with the index of the first workgroup appended.
fn in_piece(dims: &[u8], first_block: u32) -> Vec<u8> {
    [dims, &first_block.to_ne_bytes()].concat()
}

/// Number of workgroups in each piece of a cut step. The number fills its grid exactly: idle workgroups at the end of a grid would
/// compute blocks of the next piece.
fn piece_blocks(blocks: u64, seconds: f64, limit: u32) -> u64 {
    let limit = u64::from(limit.max(1));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "less than `blocks`, and not negative"
    )]
    let piece = (blocks as f64 * (MAX_STEP_SECONDS / seconds)) as u64;
    // Whole rows of the grid, and whole planes.
    let unit = [limit * limit, limit, 1].into_iter().find(|&unit| piece > unit).unwrap_or(1);
    (piece / unit * unit).max(1)
}
