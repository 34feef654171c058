//! What the frames did.

use crate::application::faults;
use crate::check::Found;
use serde_json::{Value, json};
use std::fmt;
use support::{chosen_kernel, significant};
use tilewise::{DType, Gpu, Plan};

/// Counters, errors and times of the frames.
pub(crate) struct Report {
    pub(crate) gpu: Gpu,
    pub(crate) dtype: DType,
    pub(crate) size: [u32; 2],
    /// Frames that were drawn, each once alone and once with others in flight.
    pub(crate) frames: u32,
    pub(crate) plans: Vec<Plan>,
    pub(crate) counts: Counts,
    pub(crate) found: Found,
    /// Whether frames in flight had the bits of frames alone.
    pub(crate) same_bits: bool,
    /// Seconds from the first command of a frame to its submission.
    pub(crate) host_seconds: Vec<f64>,
    /// Seconds of a frame from its first command until the device had drawn it.
    pub(crate) seconds: Vec<f64>,
    /// Seconds of a frame with others in flight.
    pub(crate) seconds_in_flight: f64,
}

/// What the library counted within the frames, in all of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) frames: u64,
    pub(crate) launches: u64,
    /// Submissions of the library.
    pub(crate) submits: u64,
    /// Bytes that the library uploaded.
    pub(crate) uploaded: u64,
    /// Buffers that the library created in the last frame.
    pub(crate) created_last: u64,
}

impl Report {
    /// Whether every value is within its bound, the library submitted and uploaded nothing, and nothing went wrong.
    pub(crate) fn ok(&self) -> bool {
        let counts = self.counts;
        self.found.layers <= 1.0
            && self.found.picture <= 1.0
            && self.same_bits
            && counts.launches == counts.frames * self.plans.len() as u64
            && [counts.submits, counts.uploaded, counts.created_last] == [0; 3]
            && faults::all().is_empty()
    }

    pub(crate) fn json(&self) -> Value {
        let (caps, counts) = (self.gpu.caps(), self.counts);
        json!({
            "device": caps.adapter,
            "backend": caps.backend,
            "driver": caps.driver,
            "dtype": self.dtype.to_string(),
            "width": self.size[0],
            "height": self.size[1],
            "frames": self.frames,
            "frames_encoded": counts.frames,
            "launches": counts.launches,
            "submits_by_application": counts.frames,
            "submits_by_library": counts.submits,
            "bytes_uploaded_by_library": counts.uploaded,
            "buffers_created_in_last_frame": counts.created_last,
            "kernels": self.plans.iter().map(chosen_kernel).collect::<Vec<_>>(),
            "plans": self.plans.iter().map(Plan::to_string).collect::<Vec<_>>(),
            "host_seconds": median(&self.host_seconds),
            "seconds": median(&self.seconds),
            "seconds_in_flight": self.seconds_in_flight,
            "checked_pixels": self.found.pixels,
            "bound_ratio": self.found.layers,
            "picture_bound_ratio": self.found.picture,
            "same_bits_in_flight": self.same_bits,
            "faults": faults::all(),
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (caps, counts, [width, height]) = (self.gpu.caps(), self.counts, self.size);
        let layers = self.plans.len();
        writeln!(f, "device     {}, {}, {}", caps.adapter, caps.backend, caps.driver)?;
        writeln!(f, "pictures   {} of {width} x {height}, each drawn twice", self.frames)?;
        writeln!(f, "network    {layers} layers in {}, one launch each:", self.dtype)?;
        for plan in &self.plans {
            writeln!(f, "           {}", plan.to_string().lines().next().unwrap_or_default())?;
        }
        writeln!(
            f,
            "frames     {}: {} launches and {} submissions by the application; by the library {} submissions, {} \
             bytes uploaded, {} buffers created in the last frame",
            counts.frames,
            counts.launches,
            counts.frames,
            counts.submits,
            counts.uploaded,
            counts.created_last
        )?;
        let ms = |seconds: f64| significant(seconds * 1e3);
        writeln!(
            f,
            "time       {} ms of the host to encode and submit a frame; {} ms until it is drawn; {} ms a frame with \
             others in flight",
            ms(median(&self.host_seconds)),
            ms(median(&self.seconds)),
            ms(self.seconds_in_flight)
        )?;
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        let same = if self.same_bits { "the same bits" } else { "OTHER BITS" };
        let [layers, picture] = [self.found.layers, self.found.picture].map(significant);
        writeln!(
            f,
            "check      {verdict} (against f64, in {} pixels of each picture: values {layers} of their bound, bytes \
             {picture}; {same} with others in flight; {} faults)",
            self.found.pixels,
            faults::all().len()
        )
    }
}

/// The median; 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
