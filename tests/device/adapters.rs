//! Adapters that are not there: the error names those that are, or what to install.

use support::process;
use tilewise::gpu::AdapterChoice;
use tilewise::{Error, Gpu, GpuOptions, matmul};

#[test]
fn an_adapter_that_is_not_there_is_an_error_that_lists_those_that_are() {
    let Some(gpu) = support::gpu() else { return };
    let name = gpu.caps().adapter.clone();
    for adapter in [AdapterChoice::Index(99), AdapterChoice::Name("voodoo 2".into())] {
        let error = Gpu::open_with(GpuOptions { adapter: adapter.clone(), ..GpuOptions::default() })
            .expect_err("there is no such adapter");
        assert!(matches!(error, Error::Input { .. }), "{error:?}");
        assert_says(&error, &[&adapter.to_string(), "0: ", &name]);
    }
    let adapter = AdapterChoice::Name(name.to_uppercase());
    let found = Gpu::open_with(GpuOptions { adapter, ..GpuOptions::default() }).expect("in any case");
    assert_eq!(found.caps().adapter, name);
}

/// Runs itself again, in a process whose Vulkan loader finds no driver.
#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_an_adapter_is_told_what_to_install() {
    if process::handed().is_some() {
        let error = Gpu::open().expect_err("there is no driver");
        assert!(matches!(error, Error::Unsupported { op: "Gpu::open", .. }), "{error:?}");
        assert_says(&error, &["this machine", "mesa-vulkan-drivers"]);
        let named = AdapterChoice::Name("RTX".into());
        let error = Gpu::open_with(GpuOptions { adapter: named, ..GpuOptions::default() });
        let error = error.expect_err("there is no driver");
        assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
        assert_says(&error, &["Vulkan"]);
        assert!(Gpu::adapters().is_empty());
        let noop = support::noop();
        let a = noop.tensor(&[1.0f32; 4], [2, 2]).unwrap();
        assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap().len(), 4);
        return;
    }
    let test = concat!(module_path!(), "::a_machine_without_an_adapter_is_told_what_to_install");
    let mut again = process::again(test, "no driver");
    again.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
    again.env("TILEWISE_VULKAN", "system").env_remove("TILEWISE_ADAPTER");
    process::assert_passes(again);
}

fn assert_says(error: &Error, words: &[&str]) {
    let printed = error.to_string();
    assert!(words.iter().all(|words| printed.contains(words)), "{words:?} in: {printed}");
}
