//! The rates of a device, measured, and what later devices predict with them.

use super::{file_in, opened, without_files};
use support::failure::says;
use tilewise::gpu::{RateSource, Tuning};
use tilewise::planning::Problem;
use tilewise::planning::peak::measure_rates;

#[test]
fn measured_rates_are_those_of_devices_that_are_opened_later() {
    let folder = support::folder("rates");
    let Some(gpu) = opened(&folder, Tuning::Remembered) else { return };
    let assumed = gpu.caps().machine;
    assert_eq!(assumed.rates, RateSource::Assumed);
    let in_use = gpu.stats().bytes_in_use;
    let measured = gpu.measure_machine().unwrap();
    assert_eq!(gpu.stats().bytes_in_use, in_use, "its operands are in the pool again");
    assert_eq!(gpu.caps().machine, assumed, "plans that were made stay as they are");
    assert!(file_in(&folder).exists());
    let later = opened(&folder, Tuning::Remembered).unwrap();
    assert_eq!(later.caps().machine, measured);
    assert_eq!(measured.rates, RateSource::Measured, "{measured}");
    assert!(later.caps().to_string().contains("measured on this device"), "{}", later.caps());
    // They are in the file with what is tuned, whichever comes first.
    let of = super::problem(&later);
    later.tune(&of).unwrap();
    let third = opened(&folder, Tuning::Remembered).unwrap();
    assert_eq!(third.caps().machine, measured);
    assert_eq!(third.tuned().len(), 1);
    assert!(of.plan(third.caps()).unwrap().seconds() > 0.0);
    let off = opened(&folder, Tuning::Off).unwrap();
    assert_eq!(off.caps().machine, assumed, "a device opened without tuning does not look");
    third.forget_tuning();
    assert_eq!(opened(&folder, Tuning::Remembered).unwrap().caps().machine, assumed);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn rates_of_the_present_are_measured_and_nothing_is_remembered() {
    let folder = support::folder("present-rates");
    let Some(gpu) = opened(&folder, Tuning::Now) else { return };
    let rates = measure_rates(&gpu).unwrap();
    let caps = gpu.caps();
    let kinds = [rates.f32_flops, rates.i8_flops, rates.memory_bandwidth, rates.launch_seconds];
    assert!(kinds.into_iter().all(|rate| rate.is_some_and(|rate| rate > 0.0)), "{rates:?}");
    assert_eq!(
        [rates.f16_flops.is_some(), rates.matrix_flops.is_some()],
        [caps.f16, caps.has_tensor_cores()]
    );
    assert_ne!(rates.matrix_flops, Some(caps.machine.matrix_flops), "measured, not assumed");
    assert_eq!(opened(&folder, Tuning::Remembered).unwrap().caps().machine, caps.machine);
    let files = std::fs::read_dir(&folder).map_or(0, |files| {
        files
            .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("tuning-"))
            .count()
    });
    assert_eq!(files, 0, "no file of tuning");
    _ = std::fs::remove_dir_all(folder);
}

#[test]
fn rates_are_measured_without_files_too_and_not_in_a_capture() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    let machine = gpu.measure_machine().unwrap();
    for rate in [machine.f32_flops, machine.f16_flops, machine.i8_flops, machine.memory_bandwidth] {
        assert!(rate.is_finite() && rate > 0.0, "{machine}");
    }
    assert!(machine.launch_seconds > 0.0, "{machine}");
    assert_eq!(machine.matrix_flops > 0.0, gpu.caps().has_tensor_cores(), "{machine}");
    let [a, b] = super::operands(&gpu);
    let captured = gpu.capture(&[a.view()], || {
        says(gpu.measure_machine(), &["capture"]);
        tilewise::matmul(&a, &b)
    });
    assert!(captured.is_ok());
}
