//! Budgets of one buffer, and of a few: calls fail for lack of memory, and no result is wrong.

use tilewise::attention::{AttentionOptions, KeyValueCache, attention};
use tilewise::{Error, Fill, Gpu, Result, Tensor, matmul, ops};

/// Captures, caches and frames, with inputs that come and go. Returns all results.
fn work(gpu: &Gpu) -> Result<Vec<f32>> {
    let input = |seed| gpu.random::<f32>([8, 8], Fill::Integers, seed);
    let (x, weight) = (input(1)?, input(2)?);
    let mut found = Vec::new();
    let mut replay = gpu.capture(&[x.view()], || ops::add(&matmul(&x, &weight)?, &weight))?;
    drop((x, weight));
    let mut cache = KeyValueCache::<f32>::new(gpu, [1, 1, 6, 8])?;
    for step in 0..5 {
        let y = input(3 + step)?;
        found.extend(replay.run(&[y.view()])?.to_vec()?);
        let row = |at| y.slice(0, at..=at)?.contiguous()?.reshape([1, 1, 1, 8]);
        cache.append(&row(0)?, &row(1)?)?;
        let attended = attention(&row(2)?, &cache.keys()?, &cache.values()?, &AttentionOptions::new())?;
        found.extend(attended.to_vec()?);
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let framed = gpu.record_into(&mut encoder, || matmul(replay.run(&[y.view()])?, &y))?;
        gpu.queue().submit([encoder.finish()]);
        found.extend(framed.to_vec()?);
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        gpu.record_into(&mut encoder, || cache.append(&row(3)?, &row(3)?))?;
        drop(encoder);
        cache.truncate(cache.len() - 1);
        found.extend(cache.keys()?.to_vec()?);
    }
    Ok(found)
}

#[test]
fn a_budget_of_a_few_buffers_gives_errors_and_no_wrong_result() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let want = work(&gpu).unwrap();
    let mut refused = 0;
    // The smallest buffer has 256 bytes.
    let budgets = [256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560, 3072, 4096, 1 << 20];
    // A second driver compiles slowly.
    let budgets: Vec<u64> =
        budgets.into_iter().step_by(if support::is_short_sweep() { 3 } else { 1 }).collect();
    for &budget in &budgets {
        let Some(gpu) = support::own(|options| options.memory_budget = Some(budget)) else { return };
        for round in 0..2 {
            match work(&gpu) {
                Ok(found) => assert_eq!(found, want, "a budget of {budget} bytes, round {round}"),
                Err(Error::OutOfMemory { .. }) => refused += 1,
                Err(error) => panic!("a budget of {budget} bytes, round {round}: {error}"),
            }
            let stats = gpu.stats();
            assert!(stats.bytes_peak <= budget, "{stats:?}");
        }
        gpu.wait().unwrap();
        gpu.trim();
        assert_eq!(gpu.stats().bytes_in_use, 0, "a budget of {budget} bytes");
        let one: Tensor<f32> = gpu.tensor(&[1.0, 2.0], [2]).unwrap();
        assert_eq!(one.to_vec().unwrap(), [1.0, 2.0]);
    }
    assert!((2..2 * budgets.len() - 1).contains(&refused), "{refused} of {} were refused", 2 * budgets.len());
}
