//! The instances of wgpu that devices are opened from. They are made once and kept until the process ends, so that a second device is
//! opened without loading the drivers again.

#[cfg(not(target_arch = "wasm32"))]
use super::lock::Lock;

/// The APIs whose drivers are listed.
pub(in crate::gpu) const BACKENDS: wgpu::Backends = wgpu::Backends::PRIMARY;

/// The instances of this process, by their flags: an environment variable can ask for others meanwhile.
///
/// NOTE: an instance that is dropped closes the drivers' libraries. The tests of `tests/device` open and drop devices in 16
/// threads. On NVIDIA's driver 580.159.04 they once deadlocked: the main thread hung while it started another thread, for which
/// glibc needs the lock of opened libraries. They have not run there since.
#[cfg(not(target_arch = "wasm32"))]
static INSTANCES: Lock<Vec<(wgpu::InstanceFlags, wgpu::Instance)>> = Lock::new(Vec::new());

/// The flags that the environment asks for.
pub(in crate::gpu) fn flags() -> wgpu::InstanceFlags {
    let flags = wgpu::InstanceFlags::from_build_config().with_env();
    // NOTE: without `DEBUG`, wgpu loads Vulkan's validation layer but forwards none of its messages.
    if flags.contains(wgpu::InstanceFlags::VALIDATION) { flags | wgpu::InstanceFlags::DEBUG } else { flags }
}

/// The instance that is kept with these flags, or else a new one.
pub(in crate::gpu) fn instance(flags: wgpu::InstanceFlags) -> wgpu::Instance {
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(instance) = kept(flags) {
        return instance;
    }
    new(flags)
}

fn new(flags: wgpu::InstanceFlags) -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: BACKENDS,
        flags,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

#[cfg(not(target_arch = "wasm32"))]
fn kept(flags: wgpu::InstanceFlags) -> Option<wgpu::Instance> {
    INSTANCES.lock().iter().find(|(known, _)| *known == flags).map(|(_, instance)| instance.clone())
}

/// Keeps an instance that lists adapters. If it lists none, a driver may not be ready yet. If another thread has kept one
/// meanwhile, that stays. No lock is held while an instance is made or dropped, because both call the application's logger.
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) fn keep(flags: wgpu::InstanceFlags, instance: &wgpu::Instance) {
    let mut all = INSTANCES.lock();
    if all.iter().all(|(known, _)| *known != flags) {
        all.push((flags, instance.clone()));
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::{instance, keep, kept, new};
    use wgpu::InstanceFlags;

    #[test]
    fn the_first_that_is_kept_stays_and_other_flags_have_another() {
        let flags =
            [InstanceFlags::DISCARD_HAL_LABELS, InstanceFlags::DISCARD_HAL_LABELS | InstanceFlags::DEBUG];
        assert!(instance(flags[0]) != instance(flags[0]), "none is kept unless it is asked for");
        let [first, late, other] = [flags[0], flags[0], flags[1]].map(new);
        keep(flags[0], &first);
        keep(flags[0], &late);
        keep(flags[1], &other);
        assert!(instance(flags[0]) == first && kept(flags[1]) == Some(other));
    }
}
