//! Attention to a cache that is filled up to lengths on the device: masks, windows and slopes count from there.

use support::failure::says;
use support::values::{assert_ok, values};
use tilewise::attention::{
    AttentionKernel, AttentionOptions, CausalFrom, alibi_slopes, attention, attention_backward,
    attention_with_lse,
};
use tilewise::gpu::CoopScalar::{F16, F32};
use tilewise::reference::AttentionReference;
use tilewise::{DType, Gpu, Real, Tensor, bf16, f16};

/// Batch, heads, key heads; queries, the capacity; the head dim.
type Case = ([usize; 3], [usize; 2], usize);

const CASES: [Case; 4] = [
    ([4, 4, 2], [1, 40], 8),
    ([5, 2, 1], [7, 65], 16),
    ([3, 2, 2], [1, 700], 16), // in parts
    ([3, 1, 1], [33, 40], 5),
];

/// Which keys a query attends, and what is added to its scores.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Masks {
    Lengths,
    Causal,
    /// A causal mask, the keys at most 9 before a query, and slopes.
    All,
}

/// Full, nearly empty, as many as queries, none, out of range.
fn lengths(batch: usize, [queries, capacity]: [usize; 2]) -> Vec<i32> {
    let [queries, capacity] = [queries, capacity].map(|of| i32::try_from(of).expect("a few keys"));
    let all = [capacity, 3, queries, 0, 1000];
    (0..batch).map(|at| all[at % all.len()]).collect()
}

fn options<'a, T: Real>(
    masks: Masks,
    lengths: &'a Tensor<i32>,
    slopes: &'a Tensor<f32>,
) -> AttentionOptions<'a, T> {
    let options = AttentionOptions::new().cached_lengths(lengths);
    match masks {
        Masks::Lengths => options,
        Masks::Causal => options.causal(CausalFrom::BottomRight),
        Masks::All => options.causal(CausalFrom::BottomRight).window(Some(9), None).alibi(slopes),
    }
}

fn check<T: Real>(gpu: &Gpu, case: Case, masks: Masks, kernel: Option<AttentionKernel>) {
    let (heads @ [batch, of_queries, of_keys], [queries, capacity], dim) = case;
    let q: Vec<T> = values(&[batch, of_queries, queries, dim], 4.0, 1);
    let [mut k, mut v]: [Vec<T>; 2] = [2, 3].map(|seed| values(&[batch, of_keys, capacity, dim], 4.0, seed));
    let there = lengths(batch, [queries, capacity]);
    let scale = 1.0 / (dim as f64).sqrt();
    let mut want = AttentionReference::new([&q, &k, &v], heads, [queries, capacity], [dim; 2], scale);
    let place = |at: usize| {
        let [b, head, i, j] = [
            at / capacity / queries / of_queries,
            at / capacity / queries % of_queries,
            at / capacity % queries,
            at % capacity,
        ];
        let len = i64::from(there[b]).clamp(0, capacity as i64);
        (head, len, j as i64 - (i as i64 + len - queries as i64), j as i64)
    };
    let places = batch * of_queries * queries * capacity;
    let is_kept = |at| {
        let (_, len, distance, j) = place(at);
        j < len
            && match masks {
                Masks::Lengths => true,
                Masks::Causal => distance <= 0,
                Masks::All => (-9..=0).contains(&distance),
            }
    };
    let slopes = alibi_slopes(of_queries).unwrap();
    let added = |at| {
        let (head, _, distance, _) = place(at);
        if masks == Masks::All { -f64::from(slopes[head]) * distance.abs() as f64 } else { 0.0 }
    };
    want.kept = Some((0..places).map(is_kept).collect());
    want.bias = Some((0..places).map(added).collect());
    if kernel == Some(AttentionKernel::Coop) {
        want.weights = DType::F16;
    }
    // What lies behind the lengths has never been written.
    for (at, row) in k.chunks_mut(dim).zip(v.chunks_mut(dim)).enumerate() {
        if (at % capacity) as i64 >= i64::from(there[at / capacity / of_keys]) {
            row.0.fill(T::from_f64(f64::NAN));
            row.1.fill(T::from_f64(f64::NAN));
        }
    }
    let q = gpu.tensor(&q, [batch, of_queries, queries, dim]).unwrap();
    let [k, v] = [&k, &v].map(|of| gpu.tensor(of, [batch, of_keys, capacity, dim]).unwrap());
    let (there, slopes) = (gpu.tensor(&there, [batch]).unwrap(), gpu.tensor(&slopes, [of_queries]).unwrap());
    let options = options(masks, &there, &slopes);
    let options = kernel.into_iter().fold(options, AttentionOptions::kernel);
    let got = attention(&q, &k, &v, &options).unwrap().to_vec().unwrap();
    assert_ok(&want.attention().compare(&got), (T::DTYPE, case, masks, kernel));
    let (y, _) = attention_with_lse(&q, &k, &v, &options).unwrap();
    assert!(y.to_vec().unwrap() == got, "{case:?}: the same bits with the logarithms");
}

#[test]
fn the_corner_is_where_the_lengths_end() {
    for gpu in support::devices() {
        for (case, masks) in CASES.into_iter().zip([Masks::All, Masks::Causal, Masks::All, Masks::Lengths]) {
            check::<f32>(&gpu, case, masks, None);
        }
        check::<f32>(&gpu, CASES[1], Masks::All, None);
        check::<f16>(&gpu, CASES[1], Masks::All, Some(AttentionKernel::Plain));
        check::<bf16>(&gpu, CASES[0], Masks::All, None);
    }
}

#[test]
fn matrices_count_from_there_too() {
    let Some(gpu) = support::gpu() else { return };
    if let Err(lacks) = gpu.caps().coop(8, F16, F32) {
        return println!("unable: {} has no {lacks}", gpu.caps().adapter);
    }
    let case = ([5, 4, 2], [17, 40], 16);
    [Masks::Causal, Masks::All].into_iter().for_each(|masks| {
        check::<f16>(&gpu, case, masks, Some(AttentionKernel::Coop));
    });
}

#[test]
fn what_counts_from_elsewhere_is_an_error() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let x = gpu.zeros::<f32>([1, 2, 4, 8]).unwrap();
    let lengths = gpu.tensor(&[3], [1]).unwrap();
    let options = AttentionOptions::new().cached_lengths(&lengths);
    says(
        attention(&x, &x, &x, &options.causal(CausalFrom::TopLeft)),
        &["attention: the causal mask", "BottomRight"],
    );
    let (y, lse) = attention_with_lse(&x, &x, &x, &options).unwrap();
    says(attention_backward(&x, &x, &x, &y, &lse, &x, &options), &["attention_backward: the cached lengths"]);
    attention_backward(&x, &x, &x, &y, &lse, &x, &options.key_lengths(&lengths)).unwrap();
}
