//! Devices that the tests of a process use in turns: each compiles a kernel once, whatever tests need it.

use super::TestGpu;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tilewise::gpu::DeviceType;

/// The devices while a test has them. When it gives them back, the validation layer must have reported nothing.
pub struct Turn {
    devices: &'static Devices,
    _turn: MutexGuard<'static, ()>,
}

struct Devices {
    /// Those of [`devices`](super::devices).
    two: Vec<TestGpu>,
    /// One for which kernels of f32 are planned as for a GPU: with two vectors for each invocation.
    planned_as_a_gpu: Option<TestGpu>,
}

/// Waits until no other test has the devices.
pub fn turn() -> Turn {
    static DEVICES: OnceLock<Devices> = OnceLock::new();
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = || {
        let planned = super::own(|options| options.assume.device_type = Some(DeviceType::Discrete));
        Devices { two: super::devices(), planned_as_a_gpu: planned }
    };
    Turn { devices: DEVICES.get_or_init(open), _turn: turn }
}

impl Turn {
    /// Two devices with different storage formats and dims, as [`devices`](super::devices).
    pub fn iter(&self) -> impl Iterator<Item = &TestGpu> {
        self.devices.two.iter()
    }

    /// A device for which kernels of f32 are planned as for a GPU.
    pub fn planned_as_a_gpu(&self) -> Option<&TestGpu> {
        self.devices.planned_as_a_gpu.as_ref()
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &TestGpu> {
        self.iter().chain(self.planned_as_a_gpu())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        super::assert_no_complaints();
    }
}
