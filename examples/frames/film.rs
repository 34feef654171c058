//! Plays the frames: replayed and eager in turns, counted, timed, checked, and written as PNG files.

use crate::check::{Found, check};
use crate::network::{HIDDEN, Network, REACH, Stages};
use crate::picture;
use crate::report::{Counts, Host, Played, Report};
use crate::source::{COLOURS, Source, bytes_of};
use pictures::picture::write_png;
use std::future::Future;
use std::path::Path;
use std::time::Instant;
use tilewise::gpu::Replay;
use tilewise::{Element, Error, Gpu, Result, Tensor, f16};

/// Frames of a turn.
const TURN: usize = 8;
/// Bytes of the frames of a turn at most, if there are more than two.
const TURN_BYTES: usize = 256 << 20;

/// Plays all frames of the source.
pub(crate) fn run(mut source: Source, seed: u64, every: u32, out: Option<&Path>) -> Result<Report> {
    let gpu = Gpu::open()?;
    check_size(&gpu, source.size)?;
    let network = Network::new(&gpu, seed, source.size)?;
    let image = gpu.zeros::<i8>(network.shape())?;
    let replay = gpu.capture(&[image.view()], || network.forward(&image))?;
    let eager = gpu.zeros::<i8>(network.shape())?;
    let mut film = Film { gpu: &gpu, network: &network, image, replay, eager, counts: Counts::default() };
    let (mut replayed, mut eager) = (Played::default(), Played::default());
    let (mut found, mut same_bits) = (Found::default(), true);
    let turn = (TURN_BYTES / bytes_of(source.size)).clamp(2, TURN);
    let indices: Vec<u32> = (0..source.frames).collect();
    for (turn, indices) in indices.chunks(turn).enumerate() {
        let frames = indices.iter().map(|&index| Ok(bordered(&source.frame(index)?, source.size)));
        let frames: Vec<Vec<i8>> = frames.collect::<Result<_>>()?;
        if turn == 0 {
            film.warm_up(&frames[0])?;
        }
        // Whoever plays first takes turns, too.
        let (pictures, others) = if turn % 2 == 0 {
            let pictures = film.play_replayed(&frames, &mut replayed)?;
            (pictures, film.play_eager(&frames, &mut eager)?)
        } else {
            let others = film.play_eager(&frames, &mut eager)?;
            (film.play_replayed(&frames, &mut replayed)?, others)
        };
        same_bits &= pictures == others;
        for ((&index, frame), bytes) in indices.iter().zip(&frames).zip(&pictures) {
            if index % every == 0 {
                let (in_frame, is_same) = film.check(frame, bytes)?;
                found = found.and(in_frame);
                same_bits &= is_same;
            }
            if let Some(folder) = out {
                let rgb: Vec<u8> =
                    bytes.iter().map(|&byte| centred(byte.cast_unsigned()).cast_unsigned()).collect();
                write_png(&picture(folder, index), source.size, &rgb)?;
            }
        }
    }
    let (counts, launches, replay) = (film.counts, film.replay.launches(), film.replay.to_string());
    let Source { size, frames, name, .. } = source;
    Ok(Report {
        gpu,
        source: name,
        size,
        frames,
        launches,
        replay,
        counts,
        found,
        same_bits,
        replayed,
        eager,
    })
}

/// Fails if the device cannot bind the neurons of a frame's pixels, its largest operand.
fn check_size(gpu: &Gpu, size: [u32; 2]) -> Result<()> {
    let [width, height] = size;
    let needed = u64::from(width) * u64::from(height) * (HIDDEN * size_of::<f16>()) as u64;
    let allowed = gpu.caps().limits.binding_bytes;
    if needed <= allowed {
        return Ok(());
    }
    let why = format!(
        "{width}x{height} needs a buffer of {needed} bytes, but this device binds {allowed}; choose a smaller size"
    );
    Err(Error::Input { what: "--size".into(), why })
}

/// A frame with its border, in bytes minus 128.
fn bordered(rgb: &[u8], size: [u32; 2]) -> Vec<i8> {
    let [width, height] = size.map(|pixels| pixels as usize);
    let mut image = Vec::with_capacity((width + 2 * REACH) * (height + 2 * REACH) * COLOURS);
    for row in 0..height + 2 * REACH {
        let row = row.saturating_sub(REACH).min(height - 1);
        for column in 0..width + 2 * REACH {
            let column = column.saturating_sub(REACH).min(width - 1);
            let pixel = &rgb[(row * width + column) * COLOURS..][..COLOURS];
            image.extend(pixel.iter().map(|&byte| centred(byte)));
        }
    }
    image
}

/// A byte minus 128. Applied twice, it is the byte again.
fn centred(byte: u8) -> i8 {
    (byte ^ 0x80).cast_signed()
}

struct Film<'a> {
    gpu: &'a Gpu,
    network: &'a Network,
    /// The input of the replay.
    image: Tensor<i8>,
    replay: Replay<Stages>,
    /// The input of eager frames.
    eager: Tensor<i8>,
    counts: Counts,
}

impl Film<'_> {
    /// A frame of each kind that is not timed: pipelines are compiled, and pools are filled.
    fn warm_up(&mut self, frame: &[i8]) -> Result<()> {
        let frames = [frame.to_vec(), frame.to_vec()];
        self.play_replayed(&frames, &mut Played::default())?;
        self.play_eager(&frames, &mut Played::default())?;
        self.counts = Counts::default();
        Ok(())
    }

    fn play_replayed(&mut self, frames: &[Vec<i8>], played: &mut Played) -> Result<Vec<Vec<i8>>> {
        let Self { gpu, image, replay, counts, .. } = self;
        play(frames, played, |frame, host| {
            let before = gpu.stats();
            timed(&mut host.upload, || replay.write(0, frame))?;
            let stages = timed(&mut host.launches, || replay.run(&[image.view()]))?;
            let read = timed(&mut host.read, || stages.bytes.read());
            counts.add(&before, &gpu.stats());
            Ok(read)
        })
    }

    fn play_eager(&mut self, frames: &[Vec<i8>], played: &mut Played) -> Result<Vec<Vec<i8>>> {
        let Self { network, eager, .. } = self;
        play(frames, played, |frame, host| {
            timed(&mut host.upload, || eager.write(frame))?;
            let stages = timed(&mut host.launches, || network.forward(eager))?;
            Ok(timed(&mut host.read, || stages.bytes.read()))
        })
    }

    /// Computes the frame both ways once more and compares every value of every stage. Returns what the comparison with
    /// f64 found, and whether all bits are the same, those of the bytes that were read before included.
    fn check(&mut self, frame: &[i8], bytes: &[i8]) -> Result<(Found, bool)> {
        self.replay.write(0, frame)?;
        self.eager.write(frame)?;
        let replayed = self.replay.run(&[self.image.view()])?;
        let eager = self.network.forward(&self.eager)?;
        let is_same = is_same(&replayed.image, &eager.image)?
            && is_same(&replayed.hidden[0], &eager.hidden[0])?
            && is_same(&replayed.hidden[1], &eager.hidden[1])?
            && is_same(&replayed.colours, &eager.colours)?
            && replayed.bytes.to_vec()? == bytes;
        Ok((check(self.network, frame, replayed)?, is_same))
    }
}

/// Plays a turn. `begin` starts a frame and its read, which is awaited after the next frame has begun.
fn play<R: Future<Output = Result<Vec<i8>>>>(
    frames: &[Vec<i8>],
    played: &mut Played,
    mut begin: impl FnMut(&[i8], &mut Host) -> Result<R>,
) -> Result<Vec<Vec<i8>>> {
    let (mut host, mut pictures) = (Host::default(), Vec::with_capacity(frames.len()));
    let begun = Instant::now();
    let mut pending = None;
    for frame in frames {
        let next = begin(frame, &mut host)?;
        if let Some(earlier) = pending.replace(next) {
            pictures.push(pollster::block_on(earlier)?);
        }
    }
    if let Some(last) = pending {
        pictures.push(pollster::block_on(last)?);
    }
    played.add_turn(frames.len(), begun.elapsed().as_secs_f64(), host);
    Ok(pictures)
}

/// Calls `work` and adds its seconds.
fn timed<R>(seconds: &mut f64, work: impl FnOnce() -> R) -> R {
    let begun = Instant::now();
    let result = work();
    *seconds += begun.elapsed().as_secs_f64();
    result
}

/// Whether two tensors have the same bits.
fn is_same<T: Element>(a: &Tensor<T>, b: &Tensor<T>) -> Result<bool> {
    let [a, b] = [a.to_vec()?, b.to_vec()?];
    Ok(bytemuck::cast_slice::<T, u8>(&a) == bytemuck::cast_slice::<T, u8>(&b))
}
