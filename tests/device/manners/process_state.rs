//! State that a whole process shares: environment, logger, panic hook, threads. In a process of its own.

use super::work;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::process;
use tilewise::Gpu;

static PANICS: AtomicUsize = AtomicUsize::new(0);

fn environment() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

/// The names of this process's threads that are ours.
fn threads_of_ours() -> Vec<String> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("tilewise")).collect()
}

#[test]
fn nothing_that_the_process_shares_is_changed() {
    if !process::is_alone(concat!(module_path!(), "::nothing_that_the_process_shares_is_changed")) {
        return;
    }
    let (environment_before, folder_before) = (environment(), std::env::current_dir().unwrap());
    std::panic::set_hook(Box::new(|_| {
        PANICS.fetch_add(1, Ordering::SeqCst);
    }));
    // Not through `support::gpu()`, which sets a logger for the tests.
    for open in [|| Some(support::noop()), || Gpu::open().ok()] as [fn() -> Option<Gpu>; 2] {
        open().iter().for_each(work);
        assert_eq!(threads_of_ours(), [""; 0], "our threads end before the last drop of their Gpu returns");
        if let Some(gpu) = open() {
            work(&gpu);
            gpu.device().destroy();
            assert!(gpu.wait().is_err());
        }
        // On a lost device a thread that is inside wgpu may end later.
        let begun = Instant::now();
        while !threads_of_ours().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(20), "left behind: {:?}", threads_of_ours());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let panics = PANICS.load(Ordering::SeqCst);
    assert!(std::panic::catch_unwind(|| panic!("the panic under test")).is_err());
    assert_eq!(PANICS.load(Ordering::SeqCst), panics + 1, "the hook is still the application's");
    drop(std::panic::take_hook());
    assert_eq!(environment(), environment_before);
    assert_eq!(std::env::current_dir().unwrap(), folder_before);
    assert_eq!(log::max_level(), log::LevelFilter::Off);
    struct Nothing;
    impl log::Log for Nothing {
        fn enabled(&self, _: &log::Metadata) -> bool {
            false
        }
        fn log(&self, _: &log::Record) {}
        fn flush(&self) {}
    }
    assert!(log::set_logger(&Nothing).is_ok(), "nobody has set a logger");
}
