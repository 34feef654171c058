//! Devices that tests use in turns: each compiles a kernel once, whatever tests need it.

use super::TestGpu;
use super::lanes::{Lanes, Taken};
use tilewise::gpu::DeviceType;

/// The devices while a test has them.
pub struct Turn(Taken<Devices>);

struct Devices {
    /// Those of [`devices`](super::devices).
    two: Vec<TestGpu>,
    /// One for which kernels of f32 are planned as for a GPU: with two vectors for each invocation.
    planned_as_a_gpu: Option<TestGpu>,
}

/// Devices that no other test has, until they are dropped.
pub fn turn() -> Turn {
    static LANES: Lanes<Devices> = Lanes::new();
    Turn(LANES.take(|| {
        let planned = super::own(|options| options.assume.device_type = Some(DeviceType::Discrete));
        Devices { two: super::devices(), planned_as_a_gpu: planned }
    }))
}

impl Turn {
    /// Two devices with different storage formats and dims, as [`devices`](super::devices).
    pub fn iter(&self) -> impl Iterator<Item = &TestGpu> {
        self.0.two.iter()
    }

    /// A device for which kernels of f32 are planned as for a GPU.
    pub fn planned_as_a_gpu(&self) -> Option<&TestGpu> {
        self.0.planned_as_a_gpu.as_ref()
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &TestGpu> {
        self.iter().chain(self.planned_as_a_gpu())
    }
}
