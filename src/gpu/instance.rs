//! The instances of wgpu that devices are opened from. They are made once and kept until the process ends, so that a second device is
//! opened without loading the drivers again.

#[cfg(not(target_arch = "wasm32"))]
use super::lock::Lock;

/// Where drivers are looked for.
pub(super) const BACKENDS: wgpu::Backends = wgpu::Backends::PRIMARY;

/// The instances of this process, by their flags: an environment variable can ask for others meanwhile.
///
/// NOTE: an instance that is dropped closes the drivers' libraries. The tests of `tests/device`, which open and drop devices in 16
/// threads, once stood still on NVIDIA's driver 580.159.04, the main thread while it started another one, for which glibc needs the
/// lock of opened libraries. They have not run there since.
#[cfg(not(target_arch = "wasm32"))]
static INSTANCES: Lock<Vec<(wgpu::InstanceFlags, wgpu::Instance)>> = Lock::new(Vec::new());

/// The instance with the flags that the environment asks for.
pub(super) fn instance() -> wgpu::Instance {
    let mut flags = wgpu::InstanceFlags::from_build_config().with_env();
    if flags.contains(wgpu::InstanceFlags::VALIDATION) {
        // NOTE: without `DEBUG`, wgpu loads Vulkan's validation layer but forwards none of its messages.
        flags |= wgpu::InstanceFlags::DEBUG;
    }
    #[cfg(target_arch = "wasm32")]
    let instance = new(flags);
    #[cfg(not(target_arch = "wasm32"))]
    let instance = kept(flags).unwrap_or_else(|| keep(flags, new(flags)));
    instance
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

/// Keeps an instance, unless another thread has kept one meanwhile: no lock is held while one is made, because that calls the
/// application's logger. Returns the one that is kept.
#[cfg(not(target_arch = "wasm32"))]
fn keep(flags: wgpu::InstanceFlags, made: wgpu::Instance) -> wgpu::Instance {
    let mut all = INSTANCES.lock();
    if let Some((_, first)) = all.iter().find(|(known, _)| *known == flags) {
        let first = first.clone();
        drop(all);
        return first;
    }
    all.push((flags, made.clone()));
    made
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::{instance, keep, kept, new};
    use wgpu::InstanceFlags;

    #[test]
    fn a_process_has_one_instance_of_the_same_flags() {
        let instances = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(instance)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
        });
        assert!(instances.iter().all(|one| *one == instances[0]));
    }

    #[test]
    fn the_first_that_is_kept_stays_and_other_flags_have_another() {
        let flags =
            [InstanceFlags::DISCARD_HAL_LABELS, InstanceFlags::DISCARD_HAL_LABELS | InstanceFlags::DEBUG];
        let [first, late, other] = [flags[0], flags[0], flags[1]].map(|flags| (flags, new(flags)));
        let first = keep(first.0, first.1);
        assert!(keep(late.0, late.1) == first);
        assert!(keep(other.0, other.1) != first);
        assert!(kept(flags[0]) == Some(first));
    }
}
