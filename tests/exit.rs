//! What is left of a device when its last `Gpu` is gone. Alone in its process, as it counts threads.

mod support;

use tilewise::{Fill, matmul};

#[test]
fn a_device_is_gone_when_its_last_gpu_is() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let a = gpu.random::<f32>([16, 16], Fill::Integers, 1).unwrap();
    // The thread that waits for reads holds the device as well: left to itself, it might be the last.
    pollster::block_on(matmul(&a, &a).unwrap().read()).unwrap();
    let threads = || -> usize {
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.trim() == "tilewise waiter").count()
    };
    let before = threads();
    drop((a, gpu));
    if cfg!(target_os = "linux") {
        assert!(before == 1 && threads() == 0, "{before} threads before, {} after", threads());
    }
}
