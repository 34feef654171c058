//! A demonstration of each row: the argument changes after the capture, and a run shows the old one or the new one.

use super::{InRuns, bits};
use crate::replay::random;
use std::cell::{Cell, RefCell};
use tilewise::attention::{AttentionOptions, CausalFrom, KeyValueCache, MultiHeadAttention, attention};
use tilewise::gemm::Linear;
use tilewise::ops::{self, BatchNorm, Rotary, RotaryPairs, RunningStatistics};
use tilewise::planning::{Problem, Scalar};
use tilewise::sketch::{Sketch, SketchKind};
use tilewise::{Activation, Error, Fill, Gemm, Gpu, Gradients, Parameters, Replay, Result, Tensor, matmul};

/// The first name of a row, its argument, and what shows it.
pub(super) type Probe = (&'static str, &'static str, fn(&Gpu) -> Result<InRuns>);

pub(super) fn all() -> Vec<Probe> {
    vec![
        ("*", "a tensor", |gpu| {
            let [x, y, w] = matrices(gpu);
            in_runs(gpu, || matmul(&x, &w), || overwrite(&x, &y))
        }),
        ("*", "a number, a size, an option: any value of the host", |gpu| {
            let ([x, _, w], alpha) = (matrices(gpu), Cell::new(2.0));
            in_runs(gpu, || Gemm::new(&x, &w).alpha(alpha.get()).run(), || set(&alpha, 3.0))
        }),
        ("*", "an input, or a view of it, that the closure returns", |gpu| {
            let [x, ..] = matrices(gpu);
            refused(gpu.capture(&[x.view()], || Ok((ops::neg(&x)?, x.t()))))
        }),
        ("ops::*", "a tensor of one element in place of a number", |gpu| {
            let ([x, ..], by) = (matrices(gpu), gpu.tensor(&[2.0f32], [1])?);
            let three = gpu.tensor(&[3.0f32], [1])?;
            in_runs(gpu, || ops::clamp(&x, 0.0, &ops::mul(&by, 0.1)?), || overwrite(&by, &three))
        }),
        ("Parameters::descend", "`rate`, a tensor", |gpu| {
            let (rate, half) = (gpu.tensor(&[2.0f32], [1])?, gpu.tensor(&[0.5f32], [1])?);
            descent(gpu, |layer, gradients| layer.descend(gradients, &rate), || overwrite(&rate, &half))
        }),
        ("Parameters::descend", "`rate`, a number", |gpu| {
            let rate = Cell::new(2.0);
            descent(gpu, |layer, gradients| layer.descend(gradients, rate.get()), || set(&rate, 0.5))
        }),
        ("ops::copy_into_at", "`at`", |gpu| {
            let ([x, ..], at) = (matrices(gpu), gpu.tensor(&[1], [1])?);
            let rotary = Rotary::new(gpu, RotaryPairs::Halves, 8, 1e4, 16)?;
            let all = || {
                let row = ops::slice_at(&x, 0, &at, 1)?;
                let mut to = ops::mul(&x, 0.0)?;
                ops::copy_into_at(&row, &mut to, 0, &at)?;
                rotary.backward_at(&rotary.apply_at(&rotary.apply_at(&to, &at)?, &at)?, &at)
            };
            in_runs(gpu, all, || overwrite(&at, &gpu.tensor(&[2], [1])?))
        }),
        ("attention::AttentionOptions::key_lengths", "the tensor", |gpu| {
            let ([q, k, v], lengths) = (heads(gpu)?, gpu.tensor(&[1], [1])?);
            let of = |options: AttentionOptions<'_, f32>| attention(&q, &k, &v, &options);
            let both = || {
                let options = AttentionOptions::new();
                ops::add(&of(options.key_lengths(&lengths))?, &of(options.cached_lengths(&lengths))?)
            };
            in_runs(gpu, both, || overwrite(&lengths, &gpu.tensor(&[3], [1])?))
        }),
        ("attention::AttentionOptions::window", "the distances", |gpu| {
            let ([q, k, v], left) = (heads(gpu)?, Cell::new(1));
            let attend = || attention(&q, &k, &v, &AttentionOptions::new().window(Some(left.get()), Some(0)));
            in_runs(gpu, attend, || set(&left, 2))
        }),
        ("Tensor::slice", "`range`", |gpu| {
            let ([x, ..], at) = (matrices(gpu), Cell::new(1));
            in_runs(gpu, || ops::neg(&x.slice(0, at.get()..=at.get())?), || set(&at, 2))
        }),
        ("ops::Rotary::apply", "`start`", |gpu| {
            let ([x, ..], start) = (matrices(gpu), Cell::new(1));
            let rotary = Rotary::new(gpu, RotaryPairs::Halves, 8, 1e4, 16)?;
            in_runs(
                gpu,
                || rotary.apply(&rotary.backward(&x, 2 * start.get())?, start.get()),
                || set(&start, 2),
            )
        }),
        ("Gpu::random", "`seed` of normal reals", |gpu| {
            let seed = Cell::new(1);
            in_runs(gpu, || gpu.random([8, 8], Fill::Normal, seed.get()), || set(&seed, 2))
        }),
        ("sketch::Sketch::*", "the seed", |gpu| {
            let (x, seed) = (random::<f32>(gpu, &[64, 3], 1), Cell::new(1));
            let of = || Sketch::new(SketchKind::Gaussian, [16, 64], seed.get())?.left(&x);
            in_runs(gpu, of, || set(&seed, 2))
        }),
        ("sketch::SeededSketch::*", "the seed", |gpu| {
            let (x, words) = (random::<f32>(gpu, &[64, 3], 1), gpu.tensor(&Sketch::seed_words(1), [2])?);
            let sketch = Sketch::new(SketchKind::Gaussian, [16, 64], 0)?.seeded_by(&words)?;
            in_runs(gpu, || sketch.left(&x), || overwrite(&words, &gpu.tensor(&Sketch::seed_words(2), [2])?))
        }),
        ("ops::index_select", "indices of the host", |gpu| {
            let ([x, ..], at) = (matrices(gpu), Cell::new(1));
            in_runs(gpu, || ops::index_select(&x, 0, &[at.get()]), || set(&at, 2))
        }),
        ("ops::BatchNorm::training", "`running`", |gpu| {
            let [x, y, _] = matrices(gpu);
            let [given, others] = [&x, &y].map(|of| ops::square(of).unwrap());
            let row = |of: &Tensor<f32>, at| of.slice(0, at..=at)?.squeeze(0);
            let running = RunningStatistics { mean: row(&given, 0)?, variance: row(&given, 1)? };
            let updated = || {
                let normed = BatchNorm::new().training(&x, Some(&running))?;
                Ok(normed.running.expect("there were some").mean)
            };
            in_runs(gpu, updated, || overwrite(&given, &others))
        }),
        ("Gpu::execute", "`scalars`", |gpu| {
            let ([x, _, w], alpha) = (matrices(gpu), Cell::new(2.0));
            let plan = Gemm::new(&x, &w).alpha(2.0).problem()?.plan(gpu.caps())?;
            let execute = || {
                let mut c = gpu.empty::<f32>([8, 8])?;
                gpu.execute(&plan, &[x.view(), w.view(), c.view_mut()?], &[Scalar::F32(alpha.get())])?;
                Ok(c)
            };
            in_runs(gpu, execute, || set(&alpha, 3.0))
        }),
        ("attention::KeyValueCache::append", "the position of a replayable cache", |gpu| {
            let (layer, mut cache) = decoder(gpu, MultiHeadAttention::replayable_cache)?;
            let x = random::<f32>(gpu, &[1, 3, 8], 4);
            let token = |at: usize| ops::concat(&[&x.slice(1, at..=at)?], 1);
            let options = AttentionOptions::new().causal(CausalFrom::BottomRight);
            let first = token(0)?;
            let mut step =
                gpu.capture(&[first.view()], || layer.forward_cached(&first, &mut cache, &options))?;
            let mut eager = layer.replayable_cache(1, 8)?;
            for at in 0..3 {
                let found = bits(step.run(&[token(at)?.view()])?);
                assert_eq!(
                    found,
                    bits(&layer.forward_cached(&token(at)?, &mut eager, &options)?),
                    "token {at}"
                );
            }
            Ok(InRuns::FromBuffer)
        }),
        ("attention::KeyValueCache::keys", "the number of positions", |gpu| {
            let (_, cache) = decoder(gpu, MultiHeadAttention::cache)?;
            let (_, replayable) = decoder(gpu, MultiHeadAttention::replayable_cache)?;
            for cache in [&cache, &replayable] {
                assert_eq!(refused(gpu.capture(&[], || cache.keys().map(drop)))?, InRuns::Refused);
                assert_eq!(refused(gpu.capture(&[], || cache.values().map(drop)))?, InRuns::Refused);
            }
            Ok(InRuns::Refused)
        }),
        ("attention::KeyValueCache::truncate", "the number of positions", |gpu| {
            let (_, mut cache) = decoder(gpu, MultiHeadAttention::replayable_cache)?;
            let [x, ..] = matrices(gpu);
            let mut tried = |call: fn(&mut KeyValueCache<f32>)| {
                refused(gpu.capture(&[], || {
                    call(&mut cache);
                    ops::neg(&x)
                }))
            };
            assert_eq!(tried(KeyValueCache::clear)?, InRuns::Refused);
            tried(|cache| cache.truncate(0))
        }),
        ("attention::KeyValueCache::len", "the result", |gpu| {
            let (layer, cache) = decoder(gpu, MultiHeadAttention::cache)?;
            let ([x, ..], cache) = (matrices(gpu), RefCell::new(cache));
            let of = || ops::mul(&x, 1 + i32::try_from(cache.borrow().len()).expect("small"));
            let token = random::<f32>(gpu, &[1, 1, 8], 4);
            let append =
                || layer.forward_cached(&token, &mut cache.borrow_mut(), &AttentionOptions::new()).map(drop);
            in_runs(gpu, of, append)
        }),
    ]
}

/// Captures `work`, changes an argument, and runs: the result is that of the old argument or of the new one.
fn in_runs(
    gpu: &Gpu,
    work: impl Fn() -> Result<Tensor<f32>>,
    change: impl FnOnce() -> Result<()>,
) -> Result<InRuns> {
    let first = bits(&work()?);
    let mut replay = gpu.capture(&[], &work)?;
    assert_eq!(bits(replay.run(&[])?), first, "the first run is as a call");
    change()?;
    let second = bits(&work()?);
    assert_ne!(first, second, "the argument matters");
    let found = bits(replay.run(&[])?);
    assert!(found == first || found == second, "one of both");
    Ok(if found == first { InRuns::AsCaptured } else { InRuns::FromBuffer })
}

/// Whether the capture was refused.
fn refused<R>(captured: Result<Replay<R>>) -> Result<InRuns> {
    match captured {
        Ok(_) => Ok(InRuns::AsCaptured),
        Err(Error::Input { .. }) => Ok(InRuns::Refused),
        Err(error) => Err(error),
    }
}

/// A step from the same weights each time.
fn descent(
    gpu: &Gpu,
    step: impl Fn(&mut Linear<f32>, &Gradients) -> Result<()>,
    change: impl FnOnce() -> Result<()>,
) -> Result<InRuns> {
    let [start, gradient, own] = matrices(gpu);
    let layer = RefCell::new(Linear::new(own, None, Activation::None)?);
    let mut gradients = Gradients::new();
    gradients.add("weight", gradient)?;
    let work = || {
        let mut layer = layer.borrow_mut();
        ops::copy_into(&start, &mut layer.weight().writable_view())?;
        step(&mut layer, &gradients)?;
        ops::neg(layer.weight())
    };
    in_runs(gpu, work, change)
}

/// A layer, and a cache of it for 8 positions.
fn decoder(
    gpu: &Gpu,
    cache: fn(&MultiHeadAttention<f32>, usize, usize) -> Result<KeyValueCache<f32>>,
) -> Result<(MultiHeadAttention<f32>, KeyValueCache<f32>)> {
    let rotary = Rotary::new(gpu, RotaryPairs::Halves, 4, 1e4, 8)?;
    let layer = MultiHeadAttention::<f32>::builder(8, 2).rotary(&rotary).random(gpu)?;
    let cache = cache(&layer, 1, 8)?;
    Ok((layer, cache))
}

fn matrices(gpu: &Gpu) -> [Tensor<f32>; 3] {
    [1, 2, 3].map(|seed| random(gpu, &[8, 8], seed))
}

/// Queries, keys and values of one batch.
fn heads(gpu: &Gpu) -> Result<[Tensor<f32>; 3]> {
    let [q, k, v] = matrices(gpu);
    let of = |x: Tensor<f32>| x.reshape([1, 2, 4, 8]);
    Ok([of(q)?, of(k)?, of(v)?])
}

fn overwrite<T: tilewise::Element>(to: &Tensor<T>, by: &Tensor<T>) -> Result<()> {
    ops::copy_into(by, &mut to.writable_view())
}

#[expect(clippy::unnecessary_wraps, reason = "a change may fail")]
fn set<V>(cell: &Cell<V>, value: V) -> Result<()> {
    cell.set(value);
    Ok(())
}
