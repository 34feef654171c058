//! What a network would cost on a device that is not here: its operations are planned one by one, and nothing is allocated.

use std::cell::Cell;
use std::rc::Rc;
use tilewise::conv::{ConvOptions, Padding};
use tilewise::ops::Interpolation;
use tilewise::planning::Problem;
use tilewise::planning::attention::{
    AttentionLayouts, AttentionProblem, AttentionRange, AttentionStatistics,
};
use tilewise::planning::conv::{ConvLayouts, ConvProblem};
use tilewise::planning::gemm::{BiasAxis, GemmProblem, GemmTypes};
use tilewise::planning::ops::{
    CopyProblem, NormKind, NormLayouts, NormPass, NormProblem, PlaneAxis, PlaneFunction, PlaneProblem,
};
use tilewise::{Activation, Caps, DType, Layout, Result};

const OP: &str = "frames";
/// The type of weights and activations.
const DTYPE: DType = DType::F16;

/// Images that the network would have computed: the height, the width and the channels. Their memory is used until the last
/// clone is dropped.
#[derive(Clone)]
pub(crate) struct Images {
    pub(crate) shape: [usize; 3],
    _memory: Rc<Memory>,
}

struct Memory {
    bytes: u64,
    used: Rc<Cell<u64>>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.used.set(self.used.get() - self.bytes);
    }
}

/// The costs of all operations so far.
pub(crate) struct Planned<'a> {
    caps: &'a Caps,
    pub(crate) parameters: usize,
    /// Bytes of the weights.
    pub(crate) weights: u64,
    /// The most bytes of activations at one time.
    pub(crate) activations: u64,
    pub(crate) seconds: f64,
    pub(crate) flops: f64,
    pub(crate) on_matrix_units: f64,
    pub(crate) launches: usize,
    used: Rc<Cell<u64>>,
}

fn flat(shape: &[usize]) -> Result<Layout> {
    Layout::contiguous(OP, shape)
}

impl Images {
    fn layout(&self) -> Result<Layout> {
        let [height, width, channels] = self.shape;
        flat(&[1, height, width, channels])
    }

    /// As a matrix: a row for each pixel.
    fn rows(&self) -> Result<Layout> {
        let [height, width, channels] = self.shape;
        flat(&[height * width, channels])
    }
}

impl<'a> Planned<'a> {
    pub(crate) fn new(caps: &'a Caps) -> Self {
        let [parameters, launches] = [0; 2];
        let [weights, activations] = [0; 2];
        let [seconds, flops, on_matrix_units] = [0.0; 3];
        let used = Rc::default();
        Self { caps, parameters, weights, activations, seconds, flops, on_matrix_units, launches, used }
    }

    /// Images in memory.
    pub(crate) fn images(&mut self, shape: [usize; 3]) -> Images {
        let bytes = (shape.iter().product::<usize>() * DTYPE.size()) as u64;
        let used = self.used.clone();
        used.set(used.get() + bytes);
        self.activations = self.activations.max(used.get());
        Images { shape, _memory: Rc::new(Memory { bytes, used }) }
    }

    /// Adds the plan of a problem.
    fn add(&mut self, problem: &impl Problem) -> Result<()> {
        let plan = problem.plan(self.caps)?;
        let flops = plan.work().flops;
        self.seconds += plan.seconds();
        self.flops += flops.matrix + flops.f32 + flops.f16;
        self.on_matrix_units += flops.matrix;
        self.launches += plan.steps().len();
        let temporaries: u64 = plan.temporaries().iter().sum();
        self.activations = self.activations.max(self.used.get() + temporaries);
        Ok(())
    }

    /// Adds weights in f16, and scales, shifts and biases in f32.
    fn hold(&mut self, weights: usize, vectors: usize) {
        self.parameters += weights + vectors;
        self.weights += (weights * DTYPE.size() + vectors * DType::F32.size()) as u64;
    }

    /// Convolution, batch norm and activation in one launch, and the residual if there is one. A kernel of odd size is padded so that
    /// stride 1 keeps the size; others are not padded.
    pub(crate) fn block(
        &mut self,
        x: &Images,
        outputs: usize,
        [kernel, stride]: [usize; 2],
        activation: Activation,
        residual: Option<&Images>,
    ) -> Result<Images> {
        let [height, width, channels] = x.shape;
        let before = if kernel % 2 == 1 { kernel / 2 } else { 0 };
        let options = ConvOptions::new().stride([stride; 2]).padding(Padding::Explicit([[before; 2]; 2]));
        let (weight, of_channels) = (flat(&[outputs, kernel, kernel, channels])?, flat(&[outputs])?);
        let residual = residual.map(Images::layout).transpose()?;
        let layouts = ConvLayouts {
            x: &x.layout()?,
            weight: &weight,
            bias: None,
            scale_shift: Some([&of_channels; 2]),
            residual: residual.as_ref(),
        };
        let problem = ConvProblem::new(layouts, &options, activation, DTYPE)?;
        self.hold(weight.len(), 2 * outputs);
        let size = [height, width].map(|extent| (extent + 2 * before - kernel) / stride + 1);
        let y = self.images([size[0], size[1], outputs]);
        self.add(&problem)?;
        Ok(y)
    }

    /// A layer for each pixel, with a bias.
    pub(crate) fn linear(
        &mut self,
        x: &Images,
        outputs: usize,
        activation: Activation,
        residual: Option<&Images>,
    ) -> Result<Images> {
        let [height, width, channels] = x.shape;
        let y = self.images([height, width, outputs]);
        let (weight, c) = (flat(&[outputs, channels])?, y.rows()?);
        let product = GemmProblem::new(&x.rows()?, &weight.t(), &c, GemmTypes::new(DTYPE, DTYPE))?
            .bias(BiasAxis::Columns, &flat(&[outputs])?, DType::F32)?
            .activation(activation);
        let product = match residual {
            Some(residual) => product.residual(&residual.rows()?, &c, DTYPE)?,
            None => product,
        };
        self.hold(weight.len(), outputs);
        self.add(&product)?;
        Ok(y)
    }

    /// A layer norm of each pixel.
    pub(crate) fn norm(&mut self, x: &Images) -> Result<Images> {
        let (rows, of_channels) = (x.rows()?, flat(&[x.shape[2]])?);
        let layouts = NormLayouts { a: &rows, b: None, gamma: Some(&of_channels), beta: Some(&of_channels) };
        let problem = NormProblem::new(NormKind::Layer, NormPass::Forward, layouts, DTYPE)?;
        self.hold(0, 2 * x.shape[2]);
        let y = self.images(x.shape);
        self.add(&problem)?;
        Ok(y)
    }

    /// Attention of all pixels to all, from queries, keys and values next to each other, in heads of this dim.
    pub(crate) fn attention(&mut self, qkv: &Images, dim: usize) -> Result<Images> {
        let [height, width, channels] = qkv.shape;
        let (tokens, inner) = (height * width, channels / 3);
        let part = |at: usize| {
            let strides = [tokens * channels, dim, channels, 1];
            Layout::new(OP, &[1, inner / dim, tokens, dim], &strides, at * inner, tokens * channels)
        };
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        let layouts =
            AttentionLayouts { q: &q, k: &k, v: &v, bias: None, lengths: None, keep: None, slopes: None };
        let none = AttentionStatistics::None;
        let problem = AttentionProblem::new(layouts, AttentionRange::default(), none, DTYPE)?;
        let y = self.images([height, width, inner]);
        self.add(&problem)?;
        Ok(y)
    }

    /// Both next to each other, along the channels.
    pub(crate) fn joined(&mut self, a: &Images, b: &Images) -> Result<Images> {
        let [height, width, channels] = a.shape;
        let y = self.images([height, width, channels + b.shape[2]]);
        for (part, first) in [(a, 0), (b, channels)] {
            let to = y.layout()?.slice(3, first..first + part.shape[2])?;
            self.add(&CopyProblem::new(&part.layout()?, &to, DTYPE)?)?;
        }
        Ok(y)
    }

    /// Twice the size: each pixel four times.
    pub(crate) fn doubled(&mut self, x: &Images) -> Result<Images> {
        let ([height, width, channels], layout) = (x.shape, x.layout()?);
        let axis = |axis: usize, to| PlaneAxis::sampled(OP, layout.shape(), axis, to, Interpolation::Nearest);
        let axes = [axis(1, 2 * height)?, axis(2, 2 * width)?];
        let problem = PlaneProblem::new(OP, PlaneFunction::Nearest, axes, (&layout, DTYPE), None)?;
        let y = self.images([2 * height, 2 * width, channels]);
        self.add(&problem)?;
        Ok(y)
    }

    /// Each pixel becomes a square of this edge: a copy of a view.
    pub(crate) fn shuffled(&mut self, x: &Images, edge: usize) -> Result<Images> {
        let [height, width, channels] = x.shape;
        let colours = channels / (edge * edge);
        let squares =
            x.layout()?.reshape(&[height, width, edge, edge, colours])?.permute(&[0, 2, 1, 3, 4])?;
        let y = self.images([height * edge, width * edge, colours]);
        self.add(&CopyProblem::new(&squares, &flat(squares.shape())?, DTYPE)?)?;
        Ok(y)
    }
}
