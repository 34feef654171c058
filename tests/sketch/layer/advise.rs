//! Advice on sketched layers: as good as an exhaustive search over exact spectra, and defined for what is no good weight.

use faer::Mat;
use support::failure::says;
use tilewise::io::Safetensors;
use tilewise::sketch::{Budget, Choice, RankRecommendation, recommend_rank};
use tilewise::{Error, Gpu, Tensor, bf16, f16};

/// The errors that the best layers of every rank have, exactly.
struct Exact {
    shape: [usize; 2],
    /// Of rank R.
    errors: Vec<f64>,
}

impl Exact {
    fn new(shape: &[usize], values: &[f64]) -> Self {
        let shape = [shape[0], shape[1]];
        let s = Mat::from_fn(shape[0], shape[1], |i, j| values[i * shape[1] + j]).singular_values().unwrap();
        let total: f64 = s.iter().map(|s| s * s).sum();
        let left = |pairs: usize| s[pairs.min(s.len())..].iter().map(|s| s * s).sum::<f64>();
        Self { shape, errors: (0..=s.len() / 2).map(|rank| (left(2 * rank) / total).sqrt()).collect() }
    }

    fn params(&self, rank: usize) -> usize {
        2 * rank * (self.shape[0] + self.shape[1])
    }

    /// Ranks that save.
    fn saving(&self) -> impl Iterator<Item = usize> {
        (1..self.errors.len()).take_while(|&rank| self.params(rank) < self.shape[0] * self.shape[1])
    }
}

fn consistent(advice: &RankRecommendation) {
    let [out, inner] = advice.shape;
    assert_eq!(advice.dense_params, out * inner);
    assert_eq!(
        [advice.flops_per_row, advice.dense_flops_per_row],
        [2 * advice.params, 2 * advice.dense_params]
    );
    match &advice.choice {
        Choice::Sketched => {
            assert!(
                advice.terms == 1 && advice.rank >= advice.least_rank && advice.least_rank > 0,
                "{advice}"
            );
            assert_eq!(advice.params, 2 * advice.rank * (out + inner));
            assert!(advice.params < advice.dense_params, "{advice}");
            let rounded =
                advice.rank.is_multiple_of(16) && advice.rank as f64 <= 1.2 * advice.least_rank as f64;
            assert!(advice.rank == advice.least_rank || rounded, "{advice}");
        }
        Choice::Dense { why } => {
            assert_eq!([advice.terms, advice.rank, advice.least_rank], [0; 3], "{advice}");
            assert_eq!((advice.params, advice.rel_error), (advice.dense_params, 0.0));
            assert!(why.contains(&advice.dense_params.to_string()), "{why}");
        }
        _ => panic!("{advice}"),
    }
}

#[test]
fn advice_is_within_five_per_cent_of_an_exhaustive_search() {
    let Some(gpu) = support::gpu() else { return };
    let file = Safetensors::read(support::weights()).unwrap();
    for name in ["intermediate.dense.weight", "output.dense.weight"] {
        let exact = Exact::new(file.shape(name).unwrap(), &file.values(name).unwrap());
        let weight = file.tensor::<f16>(&gpu, name).unwrap();
        // Each advice takes software devices seconds: the weights share budgets and errors, unless all is asked.
        let is_first = name.starts_with("intermediate");
        let (first, step) = if support::is_full_sweep() { (0, 1) } else { (usize::from(!is_first), 2) };
        // A share beyond all is that of the largest layer that saves.
        let beyond = if is_first { 0.6 } else { 3.0 };
        let budgets = [
            (Budget::Params(0.1), 0.1),
            (Budget::Params(beyond), beyond),
            (Budget::Flops(0.5), 0.5),
            (Budget::Flops(0.25), 0.25),
        ];
        for (budget, share) in budgets.into_iter().skip(first).step_by(step) {
            let advice = recommend_rank(&weight, budget).unwrap();
            consistent(&advice);
            let within = |rank: &usize| exact.params(*rank) as f64 <= share * advice.dense_params as f64;
            let best = exact.saving().filter(within).map(|rank| exact.errors[rank]).fold(1.0, f64::min);
            let ratio = advice.rel_error / best;
            println!("{name}, {budget}: rank {}, error over the best {ratio:.4}", advice.rank);
            assert!((0.9999..=1.05).contains(&ratio), "{advice}");
            assert!(advice.params as f64 <= share * advice.dense_params as f64, "{advice}");
        }
        for error in [0.7, 0.3].into_iter().skip(first).step_by(step) {
            let advice = recommend_rank(&weight, Budget::Error(error)).unwrap();
            consistent(&advice);
            let best = exact.saving().find(|&rank| exact.errors[rank] <= error).unwrap();
            println!("{name}, {}: rank {} of {}, {best}", advice.budget, advice.rank, advice.least_rank);
            assert!(advice.rel_error <= error, "{advice}");
            assert!(advice.least_rank as f64 <= 1.05 * best as f64, "{best}: {advice}");
            assert!(advice.rank as f64 <= 1.2 * 1.05 * best as f64, "{best}: {advice}");
        }
        // No layer that saves has so small an error: the advice says how small one there is.
        let advice = recommend_rank(&weight, Budget::Error(0.1)).unwrap();
        consistent(&advice);
        let (most, least) = (exact.saving().last().unwrap(), advice.least_rel_error.unwrap());
        assert!((least / exact.errors[most] - 1.0).abs() < 0.05, "{advice}");
        let Choice::Dense { why } = &advice.choice else { panic!("{advice}") };
        let told = [format!("{least:.3}"), format!("rank {most}"), exact.params(most).to_string()];
        assert!(told.iter().all(|told| why.contains(told)), "{why}");
    }
}

#[test]
fn ranks_are_rounded_up_where_that_costs_little() {
    let Some(gpu) = support::gpu() else { return };
    // Of rank 2r: r is enough for any error.
    let of_rank = |gpu: &Gpu, shape: [usize; 2], rank: usize| -> Tensor<f32> {
        let mut values = vec![0.0f32; shape[0] * shape[1]];
        (0..2 * rank).for_each(|i| values[i * shape[1] + i] = 1.0);
        gpu.tensor(&values, shape).unwrap()
    };
    for (shape, rank, want, told) in [
        ([200, 160], 14, 16, "rounded up from 14"),
        ([200, 160], 13, 13, "more than 1.2 times"), // 1.23 times as much
        ([200, 160], 16, 16, "a multiple of 16"),
        ([200, 160], 31, 32, "rounded up"),
        ([160, 120], 30, 32, "rounded up"),
        ([126, 126], 28, 28, "beyond the budget or saves nothing"), // 31 is the last that saves
    ] {
        let advice = recommend_rank(&of_rank(&gpu, shape, rank), Budget::Error(0.01)).unwrap();
        consistent(&advice);
        assert_eq!((advice.least_rank, advice.rank), (rank, want), "{advice}");
        assert!(advice.rel_error < 1e-5 && advice.to_string().contains(told), "{advice}");
    }
}

#[test]
fn what_cannot_save_stays_dense_with_the_numbers() {
    let Some(gpu) = support::gpu() else { return };
    for shape in [[1, 7], [300, 1], [2, 500], [4, 4], [1, 1]] {
        let weight = gpu.tensor(&vec![0.5f32; shape[0] * shape[1]], shape).unwrap();
        for budget in [Budget::Params(0.9), Budget::Flops(0.5), Budget::Error(0.5)] {
            let advice = recommend_rank(&weight, budget).unwrap();
            consistent(&advice);
            let Choice::Dense { why } = &advice.choice else { panic!("{advice}") };
            assert!(why.contains(&format!("{} params", 2 * (shape[0] + shape[1]))), "{why}");
            assert!(advice.to_string().contains("choice     dense: "), "{advice}");
        }
    }
    // Rank 1 would save, but not enough.
    let weight = gpu.tensor(&vec![0.5f32; 3200], [80, 40]).unwrap();
    let advice = recommend_rank(&weight, Budget::Params(0.01)).unwrap();
    consistent(&advice);
    assert!(
        matches!(&advice.choice, Choice::Dense { why } if why.contains("240") && why.contains("7.5%")),
        "{advice}"
    );
    assert_eq!(recommend_rank(&weight, Budget::Params(240.0 / 3200.0)).unwrap().rank, 1);
}

#[test]
fn zeros_and_all_real_types_have_answers() {
    let Some(gpu) = support::gpu() else { return };
    let zeros = gpu.zeros::<bf16>([64, 48]).unwrap();
    for (budget, rank) in [(Budget::Params(0.5), 6), (Budget::Error(0.1), 1)] {
        let advice = recommend_rank(&zeros, budget).unwrap();
        consistent(&advice);
        assert_eq!((advice.rank, advice.rel_error), (rank, 0.0), "{advice}");
    }
    // Of any scale and strides.
    let values: Vec<f32> = (0..64 * 48u16).map(|i| f32::from(i % 48) * f32::from(i / 48)).collect();
    for scale in [1e-30, 1.0, 1e30] {
        let scaled: Vec<f32> = values.iter().map(|x| x * scale).collect();
        let advice =
            recommend_rank(&gpu.tensor(&scaled, [64, 48]).unwrap().t(), Budget::Error(1e-4)).unwrap();
        consistent(&advice);
        assert_eq!((advice.shape, advice.rank), ([48, 64], 1), "{advice}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let Some(gpu) = support::gpu() else { return };
    let weight = gpu.tensor(&[1.0f32; 12], [3, 4]).unwrap();
    for budget in [
        Budget::Params(0.0),
        Budget::Params(-1.0),
        Budget::Params(f64::NAN),
        Budget::Flops(f64::INFINITY),
        Budget::Flops(0.0),
        Budget::Error(0.0),
        Budget::Error(1e-9),
        Budget::Error(1.0),
        Budget::Error(f64::NAN),
    ] {
        let error = recommend_rank(&weight, budget).unwrap_err();
        assert!(
            matches!(&error, Error::Input { what, .. } if what.contains("budget")),
            "{budget:?}: {error}"
        );
    }
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut values = [1.0f32; 12];
        values[7] = bad;
        let weight = gpu.tensor(&values, [3, 4]).unwrap();
        for budget in [Budget::Params(0.5), Budget::Error(0.5)] {
            says(recommend_rank(&weight, budget), &["[1, 3]"]);
        }
    }
    for shape in [&[12][..], &[3, 2, 2], &[0, 4]] {
        let weight = gpu.tensor(&vec![1.0f32; shape.iter().product()], shape).unwrap();
        assert!(
            matches!(recommend_rank(&weight, Budget::Params(0.5)), Err(Error::Shape { .. })),
            "{shape:?}"
        );
    }
}
