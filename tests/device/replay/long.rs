//! Captures of many launches.

use super::random;
use std::time::{Duration, Instant};
use support::watchdog::in_time;
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
    replay.write(0, &[7.0; 64]).unwrap();
    let sum = replay.run(&[x.view()]).unwrap().to_vec().unwrap();
    assert_eq!(sum, [7.0 + f32::from(u16::try_from(launches).unwrap()); 64], "{gpu:?}");
    took
}

/// Rounds in which each number of launches is captured once: at least so many, and more while other work on the machine may have
/// disturbed all of them.
const ROUNDS: [usize; 2] = [4, 20];

/// Ten times the launches take ten times as long: a hundred times would be quadratic. The fastest capture of each number counts.
#[test]
fn ten_thousand_launches_are_captured_in_linear_time() {
    let Some(gpu) = support::gpu() else { return };
    // A second driver takes long to run so many.
    let most = if support::is_short_sweep() { 2000 } else { 10_000 };
    in_time("ten thousand launches", || {
        let x = random::<f32>(&gpu, &[8, 8], 1);
        capture(&gpu, &x, most / 10); // compiles, and fills the pool
        let mut fastest = [Duration::MAX; 2];
        for round in 1..=ROUNDS[1] {
            for (fastest, launches) in fastest.iter_mut().zip([most / 10, most]) {
                *fastest = capture(&gpu, &x, launches).min(*fastest);
            }
            if round >= ROUNDS[0] && fastest[1] < 40 * fastest[0] {
                return;
            }
        }
        panic!("{:?} for a tenth, {:?} for {most} launches", fastest[0], fastest[1]);
    });
}
