//! The JSON lines: a convolution that was measured, and one whose process failed.

use super::shape::Shape;
use crate::case::Type;
use crate::rows::{About, SideRow};
use serde::{Deserialize, Serialize};

/// A convolution that was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ConvRow {
    pub(crate) device: String,
    pub(crate) driver: String,
    /// How CubeK compiles: `wgpu<wgsl>` or `wgpu<spirv>`.
    pub(crate) compiler: String,
    #[serde(flatten)]
    pub(crate) about: About,
    pub(crate) convolution: Shape,
    /// Type of images, weight and result.
    pub(crate) dtype: Type,
    pub(crate) operand_sets: usize,
    /// Flop/s of a loop of f32 multiply-adds, and bytes per second of a copy, in the same process.
    pub(crate) peak_flops: f64,
    pub(crate) peak_bytes: f64,
    /// Seconds of one convolution of the library on the device's clock.
    pub(crate) device_seconds: Option<f64>,
    /// The library's plan: the step with the longest predicted time.
    pub(crate) plan: String,
    /// The first is Tilewise.
    pub(crate) sides: Vec<SideRow>,
}

/// A case whose process failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FailedRow {
    pub(crate) convolution: Shape,
    pub(crate) dtype: Type,
    pub(crate) error: String,
}

/// A side after which the peer's device worked no longer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stopped {
    pub(crate) stopped: String,
    pub(crate) error: String,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::rows::tests::case;

    /// A convolution of the list on a device.
    pub(crate) fn row(device: &str, name: &str, dtype: Type, sides: Vec<SideRow>) -> ConvRow {
        let of = case(device, Vec::new());
        ConvRow {
            device: of.device,
            driver: of.driver,
            compiler: of.compiler,
            about: of.about,
            convolution: name.parse().unwrap_or_else(|error| panic!("{error}")),
            dtype,
            operand_sets: 32,
            peak_flops: of.peak_flops,
            peak_bytes: of.peak_bytes,
            device_seconds: of.device_seconds,
            plan: "gemm/tiled".into(),
            sides,
        }
    }
}
