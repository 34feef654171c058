//! What a frame of the large network costs on each device that can be planned for.

use crate::planned::Planned;
use crate::unet::{FRAME, SQUARE, frame};
use serde_json::{Value, json};
use std::fmt;
use support::significant;
use tilewise::planning::fixtures;
use tilewise::{Error, Result};

/// A row for each device.
pub(crate) struct Large {
    parameters: usize,
    rows: Vec<Row>,
}

struct Row {
    fixture: &'static str,
    device: String,
    /// What it costs, or why the device cannot compute it.
    costs: Result<Costs, String>,
}

struct Costs {
    seconds: f64,
    weights: u64,
    activations: u64,
    /// The share of the operations that matrix units compute.
    on_matrix_units: f64,
    launches: usize,
}

/// Plans a frame for all devices. No device is opened.
pub(crate) fn plan() -> Result<Large> {
    let mut parameters = 0;
    let rows = fixtures::ALL.map(|(fixture, caps)| {
        let caps = caps();
        let mut planned = Planned::new(&caps);
        let costs = match frame(&mut planned) {
            Err(Error::Unsupported { needs, .. }) => Err(format!("needs {needs}")),
            Err(error @ (Error::Limit { .. } | Error::OutOfMemory { .. })) => Err(error.to_string()),
            Err(error) => return Err(error),
            Ok(()) => {
                parameters = planned.parameters;
                let Planned { seconds, weights, activations, launches, .. } = planned;
                let on_matrix_units = planned.on_matrix_units / planned.flops;
                Ok(Costs { seconds, weights, activations, on_matrix_units, launches })
            }
        };
        Ok(Row { fixture, device: caps.adapter.clone(), costs })
    });
    Ok(Large { rows: rows.into_iter().collect::<Result<_>>()?, parameters })
}

impl Row {
    fn json(&self) -> Value {
        match &self.costs {
            Err(why) => json!({ "fixture": self.fixture, "device": self.device, "lacks": why }),
            Ok(costs) => json!({
                "fixture": self.fixture,
                "device": self.device,
                "milliseconds": 1e3 * costs.seconds,
                "frames_per_second": 1.0 / costs.seconds,
                "megabytes_of_weights": costs.weights as f64 * 1e-6,
                "megabytes_of_activations": costs.activations as f64 * 1e-6,
                "on_matrix_units": costs.on_matrix_units,
                "launches": costs.launches,
            }),
        }
    }
}

impl Large {
    pub(crate) fn json(&self) -> Value {
        json!({
            "parameters": self.parameters,
            "width": FRAME[1],
            "height": FRAME[0],
            "dtype": "f16",
            "fixtures": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Large {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [height, width] = FRAME;
        let [rows, columns] = FRAME.map(|extent| extent / SQUARE);
        writeln!(f, "network    a U-Net of {} parameters, which are not allocated, in f16", self.parameters)?;
        writeln!(f, "frame      {width} x {height} pixels, {columns} x {rows} at the first level\n")?;
        let [fixture, ms, rate, weights, activations, share, launches] = [
            "fixture",
            "predicted ms",
            "frames/s",
            "MB weights",
            "MB activations",
            "on matrix units",
            "launches",
        ];
        writeln!(
            f,
            "{fixture:<13}{ms:>12}{rate:>10}{weights:>12}{activations:>16}{share:>17}{launches:>10}  device"
        )?;
        for Row { fixture, device, costs } in &self.rows {
            match costs {
                Err(why) => writeln!(f, "{fixture:<13}{why}")?,
                Ok(costs) => {
                    let [ms, rate] = [1e3 * costs.seconds, 1.0 / costs.seconds].map(significant);
                    let [weights, activations] =
                        [costs.weights, costs.activations].map(|bytes| (bytes as f64 * 1e-6).round());
                    let (share, launches) = (100.0 * costs.on_matrix_units, costs.launches);
                    writeln!(
                        f,
                        "{fixture:<13}{ms:>12}{rate:>10}{weights:>12}{activations:>16}{share:>15.0} %{launches:>10}  {device}"
                    )?;
                }
            }
        }
        Ok(())
    }
}
