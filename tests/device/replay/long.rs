//! Captures of many launches.

use super::{bits, on_every_device, random};
use std::time::{Duration, Instant};
use tilewise::{Gpu, Tensor, ops};

/// x + 1, this many times, in as many launches. Temporaries are kept, freed, or there is one tensor.
fn capture(gpu: &Gpu, x: &Tensor<f32>, launches: usize) -> Duration {
    let one = gpu.tensor(&[1.0f32], [1]).unwrap();
    let mut kept = Vec::new();
    let begun = Instant::now();
    let replay = gpu.capture(&[x.view()], || {
        let mut sum = ops::add(x, &one)?;
        for at in 1..launches {
            let next = match at % 3 {
                0 => ops::add(&sum, &one)?,
                1 => {
                    ops::add_assign(&mut sum, &one)?;
                    continue;
                }
                _ => {
                    kept.push(sum);
                    ops::add(&kept[kept.len() - 1], &one)?
                }
            };
            sum = next;
        }
        Ok(sum)
    });
    let mut replay = replay.unwrap();
    let took = begun.elapsed();
    assert_eq!(replay.launches(), launches);
    for run in 0..2u8 {
        let first = f32::from(run) * 7.0;
        replay.write(0, &[first; 64]).unwrap();
        let sum = replay.run(&[x.view()]).unwrap().to_vec().unwrap();
        assert_eq!(sum, [first + f32::from(u16::try_from(launches).unwrap()); 64], "{gpu:?}");
    }
    took
}

/// Ten times the launches take ten times as long: a hundred times would be quadratic.
#[test]
fn ten_thousand_launches_are_captured_in_linear_time() {
    on_every_device("ten thousand launches", |gpu| {
        let x = random::<f32>(gpu, &[8, 8], 1);
        capture(gpu, &x, 1000); // compiles, and fills the pool
        let [short, long] = [1000, 10_000].map(|launches| capture(gpu, &x, launches));
        assert!(long < 40 * short, "{gpu:?}: {short:?} for 1000 launches, {long:?} for 10000");
        assert_eq!(bits(&x).len(), 256);
    });
}
