//! The example `vulkan_app` as a user runs it: a Vulkan application under the validation layer.

use support::example::run;

/// Whether the driver is one of Vulkan. On other APIs the example does not start.
fn has_vulkan() -> bool {
    support::gpu().is_some_and(|gpu| gpu.caps().backend == "vulkan")
}

#[test]
fn vulkan_app_multiplies_in_its_own_buffers_under_the_validation_layer() {
    if !has_vulkan() {
        return;
    }
    let layer = if support::validates() { "1" } else { "0" };
    for arguments in [&["--dtype", "f32"][..], &["--dtype", "f16", "--m", "33", "--n", "7", "--k", "301"]] {
        let ended = run("vulkan_app", arguments, &[("WGPU_VALIDATION", layer)]).passed();
        ended.prints(["device     ", "plan       matmul", "submits    1", "check      ok", "layer      "]);
        if layer == "1" {
            ended.prints(["on, with checks of synchronisation: no errors"]);
        }
    }
}

#[test]
fn vulkan_app_refuses_what_it_cannot_do() {
    for arguments in [&["--m", "0"][..], &["--k", "4096"], &["--dtype", "f64"], &["--wrong"]] {
        let ended = run("vulkan_app", arguments, &[]);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    }
    run("vulkan_app", &["--help"], &[]).passed().prints(["--dtype"]);
}
