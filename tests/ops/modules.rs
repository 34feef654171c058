//! Kernels in SPIR-V in the ways in which an application uses any kernel: in captures and replays, from threads, with reads that are
//! dropped, next to calls that fail.

use crate::matrices::{is_flexible, taken};
use std::thread;
use tilewise::attention::{
    AttentionKernel, AttentionOptions, CausalFrom, attention, attention_backward, attention_with_lse,
};
use tilewise::gemm::GemmKernel;
use tilewise::{Fill, Gemm, Gpu, Result, Tensor, f16};

/// The operands: queries, keys, values; matrices of i8.
struct Given {
    x: [Tensor<f16>; 3],
    a: [Tensor<i8>; 2],
}

impl Given {
    fn new(gpu: &Gpu) -> Self {
        let x = [1, 2, 3].map(|seed| gpu.random([1, 2, 20, 16], Fill::Uniform, seed).unwrap());
        let a = [4, 5].map(|seed| gpu.random([24, 24], Fill::Uniform, seed).unwrap());
        Self { x, a }
    }

    /// Attention by this kernel with the queries `q`, its gradients, and a product of i8.
    fn run(&self, q: &Tensor<f16>) -> Result<(Tensor<f16>, Tensor<f16>, Tensor<i32>)> {
        let [_, k, v] = &self.x;
        let options = AttentionOptions::new().causal(CausalFrom::TopLeft).kernel(AttentionKernel::CoopNv2);
        let (y, lse) = attention_with_lse(q, k, v, &options)?;
        let gradients = attention_backward(q, k, v, &y, &lse, &y, &options)?;
        let product = Gemm::new(&self.a[0], &self.a[1]).kernel(GemmKernel::CoopKhr).run()?;
        Ok((y, gradients.k, product))
    }
}

/// On the host, as bits.
fn read((y, of_keys, product): &(Tensor<f16>, Tensor<f16>, Tensor<i32>)) -> (Vec<u16>, Vec<u16>, Vec<i32>) {
    let bits = |of: &Tensor<f16>| {
        of.contiguous().unwrap().to_vec().unwrap().into_iter().map(f16::to_bits).collect::<Vec<_>>()
    };
    (bits(y), bits(of_keys), product.to_vec().unwrap())
}

#[test]
fn a_replay_of_modules_has_the_bits_of_calls() {
    let Some(gpu) = taken().filter(|gpu| is_flexible(gpu)) else { return };
    let given = Given::new(&gpu);
    let [q, ..] = &given.x;
    let mut replay = gpu.capture(&[q.view()], || given.run(q)).unwrap();
    for seed in [7, 8] {
        let other = gpu.random::<f16>([1, 2, 20, 16], Fill::Uniform, seed).unwrap();
        let want = read(&given.run(&other).unwrap());
        assert!(read(replay.run(&[other.view()]).unwrap()) == want, "{seed}");
    }
}

#[test]
fn threads_share_modules_and_may_drop_reads_and_fail() {
    let Some(gpu) = taken().filter(|gpu| is_flexible(gpu)) else { return };
    let given = Given::new(&gpu);
    let [q, k, v] = &given.x;
    let want = read(&given.run(q).unwrap());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let got = given.run(q).unwrap();
                    drop(got.0.read());
                    let pinned = AttentionOptions::new().kernel(AttentionKernel::CoopNv2);
                    let short = k.slice(3, 0..12).unwrap();
                    assert!(attention(&short, &short, v, &pinned).is_err(), "12 is no multiple of 8");
                    assert!(read(&got) == want);
                }
            });
        }
    });
}
