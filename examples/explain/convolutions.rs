//! How the device would convolve images: a few sizes as in networks.

use serde_json::{Value, json};
use support::chosen_kernel;
use tilewise::conv::{ConvOptions, Padding};
use tilewise::planning::conv::{ConvLayouts, ConvProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::{Activation, Caps, DType, Layout, Result};

/// Images, height and width.
const IMAGES: [usize; 3] = [4, 56, 56];
/// Channels, output channels, height and width of the kernel, and groups.
const SIZES: [[usize; 4]; 4] = [[64, 64, 3, 1], [3, 67, 3, 1], [64, 256, 1, 1], [128, 128, 3, 128]];

/// A convolution and its plan.
pub(crate) struct Convolution {
    /// `3x3, 64 -> 64 channels`.
    pub(crate) name: String,
    pub(crate) plan: Plan,
    /// The share of its operations that matrix units compute.
    pub(crate) on_matrix_units: f64,
}

/// The plans of operands of this type; none if convolutions do not take it.
pub(crate) fn convolutions(dtype: DType, caps: &Caps) -> Result<Vec<Convolution>> {
    if !dtype.is_real() {
        return Ok(Vec::new());
    }
    SIZES.into_iter().map(|size| convolution(size, dtype, caps)).collect()
}

fn convolution(
    [channels, outputs, kernel, groups]: [usize; 4],
    dtype: DType,
    caps: &Caps,
) -> Result<Convolution> {
    let [images, height, width] = IMAGES;
    let x = Layout::contiguous("explain", &[images, height, width, channels])?;
    let weight = Layout::contiguous("explain", &[outputs, kernel, kernel, channels / groups])?;
    let layouts = ConvLayouts { x: &x, weight: &weight, bias: None, scale_shift: None, residual: None };
    let options = ConvOptions::new().padding(Padding::Explicit([[kernel / 2; 2]; 2])).groups(groups);
    let problem = ConvProblem::new(layouts, &options, Activation::None, dtype)?;
    let plan = problem.plan(caps)?;
    let depthwise = if groups > 1 { ", depthwise" } else { "" };
    let name = format!("{kernel}x{kernel}, {channels} -> {outputs} channels{depthwise}");
    let on_matrix_units = plan.work().flops.matrix / problem.flops();
    Ok(Convolution { name, plan, on_matrix_units })
}

/// `conv2d of 4 images of 56 x 56`.
pub(crate) fn heading() -> String {
    let [images, height, width] = IMAGES;
    format!("conv2d of {images} images of {height} x {width}")
}

impl Convolution {
    /// Its kernel and tile: of the step that is predicted to take longest.
    pub(crate) fn kernel(&self) -> String {
        let longest = self.plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let tile = longest.map_or(String::new(), |step| step.tile.to_string());
        format!("{} {tile}", chosen_kernel(&self.plan))
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "seconds": self.plan.seconds(),
            "kernel": self.kernel(),
            "on_matrix_units": self.on_matrix_units,
            "plan": self.plan.to_string(),
        })
    }
}
