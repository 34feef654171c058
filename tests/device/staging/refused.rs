//! Staged writes in submissions that wgpu refuses: what is not at fault is encoded again, and runs.

use super::{TINY, on_every_device, with_ring};
use support::watchdog::in_time;
use tilewise::{Gpu, Tensor, ops};

const LEN: usize = 64;

/// A tensor whose buffer the application has destroyed. A launch that binds it is refused when it is encoded, a copy from
/// it when it is submitted.
fn destroyed(gpu: &Gpu) -> Tensor<f32> {
    let bad = gpu.zeros::<f32>([LEN]).unwrap();
    bad.buffer().unwrap().0.destroy();
    bad
}

/// Staged writes and sums around what is refused, in one recording.
fn write_among_refused(gpu: &Gpu, bad: &Tensor<f32>, round: u8) {
    let value = f32::from(round);
    let mut x = gpu.zeros::<f32>([LEN]).unwrap();
    let mut y = gpu.zeros::<f32>([LEN]).unwrap();
    gpu.flush().unwrap();
    x.write_from(|to| to.fill(value)).unwrap();
    let first = ops::add(&x, &x).unwrap();
    let failed = (!round.is_multiple_of(3)).then(|| ops::add(&x, bad).unwrap());
    x.write_from(|to| to.fill(value + 1.0)).unwrap();
    y.write_from(|to| to.fill(value + 2.0)).unwrap();
    let second = ops::add(&x, &y).unwrap();
    if round % 3 != 1 {
        assert!(bad.to_vec().is_err(), "{gpu:?}");
    }
    assert_eq!(first.to_vec().unwrap(), [2.0 * value; LEN], "{gpu:?}, round {round}");
    assert_eq!(second.to_vec().unwrap(), [2.0 * value + 3.0; LEN], "{gpu:?}, round {round}");
    assert_eq!(x.to_vec().unwrap(), [value + 1.0; LEN], "{gpu:?}, round {round}");
    assert_eq!(y.to_vec().unwrap(), [value + 2.0; LEN], "{gpu:?}, round {round}");
    if let Some(failed) = failed {
        assert!(failed.to_vec().is_err(), "{gpu:?}");
    }
    let _ = gpu.flush(); // returns the failure, if no read did
    // The next writes get buffers that the host may fill.
    y.write_from(|to| to.fill(0.5)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [0.5; LEN], "{gpu:?}, round {round}");
}

fn check(gpu: &Gpu) {
    let bad = destroyed(gpu);
    for round in 0..30 {
        write_among_refused(gpu, &bad, round);
    }
    gpu.wait().unwrap();
    let stats = gpu.stats();
    assert_eq!(stats.bytes_upload_ring, 0, "{gpu:?}: {stats:?}");
}

#[test]
fn a_staged_write_is_encoded_again() {
    on_every_device("a refused submission", check);
    if let Some(gpu) = with_ring(TINY) {
        in_time("a refused submission, and a small ring", || check(&gpu));
    }
}
