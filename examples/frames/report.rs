//! What the frames cost, and whether they are right.

use crate::check::Found;
use serde_json::{Value, json};
use std::fmt;
use support::significant;
use tilewise::Gpu;
use tilewise::gpu::Stats;

/// Frames per second of a film.
const TARGET: f64 = 25.0;

/// Counters, errors and times of the frames.
pub(crate) struct Report {
    pub(crate) gpu: Gpu,
    /// Where the frames come from.
    pub(crate) source: String,
    pub(crate) size: [u32; 2],
    pub(crate) frames: u32,
    /// Launches of a replayed frame.
    pub(crate) launches: usize,
    /// The replay in words.
    pub(crate) replay: String,
    pub(crate) counts: Counts,
    pub(crate) found: Found,
    /// Whether replayed and eager frames have the same bits.
    pub(crate) same_bits: bool,
    pub(crate) replayed: Played,
    pub(crate) eager: Played,
}

/// What the library counted in the replayed frames, in all of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    frames: u64,
    launches: u64,
    submits: u64,
    buffers_created: u64,
    /// Plans that were prepared, and pipelines that were compiled.
    plans: u64,
}

impl Counts {
    /// Adds a frame, of which these are the counters before and after.
    pub(crate) fn add(&mut self, before: &Stats, after: &Stats) {
        self.frames += 1;
        self.launches += after.launches - before.launches;
        self.submits += after.submits - before.submits;
        self.buffers_created += after.buffers_created - before.buffers_created;
        self.plans += after.plans - before.plans + after.pipelines - before.pipelines;
    }
}

/// Seconds within the library's calls, without waiting.
#[derive(Clone, Copy, Default)]
pub(crate) struct Host {
    pub(crate) upload: f64,
    pub(crate) launches: f64,
    /// Submits the frame and begins its read.
    pub(crate) read: f64,
}

/// The times of frames of one kind.
#[derive(Default)]
pub(crate) struct Played {
    frames: usize,
    host: Host,
    /// Frames per second of each turn.
    rates: Vec<f64>,
}

impl Played {
    pub(crate) fn add_turn(&mut self, frames: usize, seconds: f64, host: Host) {
        self.frames += frames;
        self.host.upload += host.upload;
        self.host.launches += host.launches;
        self.host.read += host.read;
        self.rates.push(frames as f64 / seconds);
    }

    /// The slowest, the median and the fastest turn, in frames per second.
    fn rate(&self) -> [f64; 3] {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        let at = |place: usize| rates.get(place).copied().unwrap_or(0.0);
        let last = rates.len().saturating_sub(1);
        [at(0), f64::midpoint(at(last / 2), at(last.div_ceil(2))), at(last)]
    }

    /// Mean microseconds of a frame: upload, launches, read.
    fn host_microseconds(&self) -> [f64; 3] {
        let Host { upload, launches, read } = self.host;
        [upload, launches, read].map(|seconds| seconds * 1e6 / self.frames.max(1) as f64)
    }

    fn json(&self) -> Value {
        let ([slowest, median, fastest], [upload, launches, read]) = (self.rate(), self.host_microseconds());
        json!({
            "frames_per_second": median,
            "frames_per_second_min": slowest,
            "frames_per_second_max": fastest,
            "turns": self.rates.len(),
            "host_microseconds": upload + launches + read,
            "host_microseconds_upload": upload,
            "host_microseconds_launches": launches,
            "host_microseconds_read": read,
        })
    }
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [slowest, median, fastest] = self.rate().map(significant);
        let parts = self.host_microseconds();
        let [upload, launches, read] = parts.map(significant);
        let turns = if self.rates.len() == 1 { "turn" } else { "turns" };
        write!(
            f,
            "{median} frames per second ({slowest} to {fastest} in {} {turns}); host {} us per frame (upload {upload}, \
             launches {launches}, submission and read {read})",
            self.rates.len(),
            significant(parts.iter().sum())
        )
    }
}

impl Report {
    fn reaches_target(&self) -> bool {
        self.replayed.rate()[1] >= TARGET
    }

    /// Whether every checked value is within its bound, replayed and eager frames have the same bits, and replayed frames
    /// cost nothing but their launches.
    pub(crate) fn ok(&self) -> bool {
        let Counts { frames, launches, buffers_created, plans, .. } = self.counts;
        self.found.bound_ratio <= 1.0
            && self.same_bits
            && frames == u64::from(self.frames)
            && launches == frames * self.launches as u64
            && [buffers_created, plans] == [0; 2]
    }

    pub(crate) fn json(&self) -> Value {
        let (caps, counts) = (self.gpu.caps(), self.counts);
        json!({
            "device": caps.adapter,
            "backend": caps.backend,
            "driver": caps.driver,
            "source": self.source,
            "width": self.size[0],
            "height": self.size[1],
            "frames": self.frames,
            "launches_per_frame": self.launches,
            "replay": self.replay,
            "launches": counts.launches,
            "submits": counts.submits,
            "buffers_created": counts.buffers_created,
            "plans": counts.plans,
            "replayed": self.replayed.json(),
            "eager": self.eager.json(),
            "target_frames_per_second": TARGET,
            "target_reached": self.reaches_target(),
            "checked_frames": self.found.frames,
            "checked_pixels": self.found.pixels,
            "bound_ratio": self.found.bound_ratio,
            "same_bits": self.same_bits,
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (caps, counts, [width, height]) = (self.gpu.caps(), self.counts, self.size);
        writeln!(f, "device     {}, {}, {}", caps.adapter, caps.backend, caps.driver)?;
        writeln!(f, "frames     {} of {width} x {height}, from {}", self.frames, self.source)?;
        writeln!(f, "{}", self.replay.replace('\n', "\n           ").replacen("replay: ", "replay     ", 1))?;
        writeln!(
            f,
            "counters   {} replayed frames: {} launches, {} submissions, {} buffers created, {} plans or pipelines \
             prepared",
            counts.frames, counts.launches, counts.submits, counts.buffers_created, counts.plans
        )?;
        writeln!(f, "replayed   {}", self.replayed)?;
        writeln!(f, "eager      {}", self.eager)?;
        let reached = if self.reaches_target() { "reached" } else { "not reached" };
        writeln!(f, "target     {TARGET} frames per second: {reached}")?;
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        let same = if self.same_bits { "the same bits" } else { "OTHER BITS" };
        writeln!(
            f,
            "check      {verdict} ({} frames against f64, in {} pixels: at most {} of the bound; {same} without a replay)",
            self.found.frames,
            self.found.pixels,
            significant(self.found.bound_ratio)
        )
    }
}
