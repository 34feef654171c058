//! Measured rates of a device, which replace the assumed ones.

use super::machine::{Machine, RateSource};

/// The largest factor between a measured rate and the assumed one. Beyond it the measurement is ignored: long steps are cut by
/// their predicted time, so a wrong rate could let a launch run for too long.
const CREDIBLE: f64 = 32.0;

/// Rates as they were measured on a device, those of [`Machine`] of the same names. None for those that were not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MeasuredRates {
    /// Multiply-adds of f32 outside tensor cores, in flop/s.
    pub f32_flops: Option<f64>,
    /// Multiply-adds of f16 outside tensor cores, in flop/s. None if shaders have no f16.
    pub f16_flops: Option<f64>,
    /// Multiply-adds of i8 on packed words, in flop/s.
    pub i8_flops: Option<f64>,
    /// Multiply-adds on cooperative matrices of f16 with sums in f32, in flop/s, of the fastest row. None without a usable row.
    pub matrix_flops: Option<f64>,
    /// Bytes read and written by a copy, per second.
    pub memory_bandwidth: Option<f64>,
    /// Seconds from one launch to the next one that depends on it.
    pub launch_seconds: Option<f64>,
}

impl MeasuredRates {
    /// The rates with their names.
    pub(crate) fn named(&mut self) -> [(&'static str, &mut Option<f64>); 6] {
        [
            ("f32_flops", &mut self.f32_flops),
            ("f16_flops", &mut self.f16_flops),
            ("i8_flops", &mut self.i8_flops),
            ("matrix_flops", &mut self.matrix_flops),
            ("memory_bandwidth", &mut self.memory_bandwidth),
            ("launch_seconds", &mut self.launch_seconds),
        ]
    }
}

impl Machine {
    /// The same machine with these rates, as far as they are credible.
    pub(crate) fn measured(self, rates: &MeasuredRates) -> Self {
        let mut machine = self;
        let is_shared_in_memory = self.shared_bandwidth == self.memory_bandwidth;
        let mut rates = *rates;
        for ((_, rate), assumed) in rates.named().into_iter().zip([
            &mut machine.f32_flops,
            &mut machine.f16_flops,
            &mut machine.i8_flops,
            &mut machine.matrix_flops,
            &mut machine.memory_bandwidth,
            &mut machine.launch_seconds,
        ]) {
            let is_credible = |rate: &f64| (1.0 / CREDIBLE..=CREDIBLE).contains(&(rate / *assumed));
            if let Some(rate) = rate.filter(is_credible) {
                *assumed = rate;
                machine.rates = RateSource::Measured;
            }
        }
        // Rates that are not measured keep their ratio to those that are.
        if self.matrix_flops > 0.0 {
            let times = machine.matrix_flops / self.matrix_flops;
            machine.i8_matrix_flops *= times;
            machine.fp8_matrix_flops *= times;
            machine.f16_matrix_flops *= times;
        }
        if is_shared_in_memory {
            machine.shared_bandwidth = machine.memory_bandwidth;
        }
        machine
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn credible_rates_take_the_place_of_assumed_ones() {
        for (name, caps) in fixtures::ALL {
            let assumed = caps().machine;
            assert_eq!(assumed.measured(&MeasuredRates::default()), assumed, "{name}");
            let rates = MeasuredRates {
                f32_flops: Some(2.0 * assumed.f32_flops),
                launch_seconds: Some(assumed.launch_seconds / 3.0),
                memory_bandwidth: Some(assumed.memory_bandwidth * 33.0),
                i8_flops: Some(0.0),
                matrix_flops: Some(assumed.matrix_flops / 2.0),
                ..MeasuredRates::default()
            };
            let machine = assumed.measured(&rates);
            assert_eq!(machine.rates, RateSource::Measured, "{name}");
            assert_eq!(machine.f32_flops, 2.0 * assumed.f32_flops, "{name}");
            assert_eq!(machine.launch_seconds, assumed.launch_seconds / 3.0, "{name}");
            let of_matrices = |machine: &Machine| {
                let Machine { matrix_flops, i8_matrix_flops, fp8_matrix_flops, f16_matrix_flops, .. } =
                    *machine;
                [matrix_flops, i8_matrix_flops, fp8_matrix_flops, f16_matrix_flops]
            };
            assert_eq!(of_matrices(&machine), of_matrices(&assumed).map(|rate| rate / 2.0), "{name}");
            let same = Machine {
                rates: RateSource::Assumed,
                f32_flops: assumed.f32_flops,
                matrix_flops: assumed.matrix_flops,
                i8_matrix_flops: assumed.i8_matrix_flops,
                fp8_matrix_flops: assumed.fp8_matrix_flops,
                f16_matrix_flops: assumed.f16_matrix_flops,
                launch_seconds: assumed.launch_seconds,
                ..machine
            };
            assert_eq!(same, assumed, "{name}: nothing else");
            assert!(machine.to_string().contains("measured") && !assumed.to_string().contains("measured"));
        }
    }
}
