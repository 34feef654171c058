//! One budget for all layers, and what is measured of them.

use super::model::{Model, assert_true, falling, matrix};
use std::fs;
use std::ops::ControlFlow;
use support::failure::says;
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::sketch::{Budget, Choice, Compress, CompressedLayer, Selection, recommend_rank};
use tilewise::{Element, Fill, Gpu, Progress, bf16, f16, with_progress};

#[test]
fn real_weights_share_a_budget_better_than_equally() {
    let Some(gpu) = support::gpu() else { return };
    let folder = support::folder("real");
    fs::create_dir_all(&folder).unwrap();
    let [output, other] = ["out.safetensors", "other.safetensors"].map(|name| folder.join(name));
    let names = ["intermediate.dense.weight", "output.dense.weight"];
    // The factors are kept for a second run, with another output.
    let [kept, copies] =
        ["out.safetensors.partial", "other.safetensors.partial"].map(|name| folder.join(name));
    fs::create_dir(&copies).unwrap();
    let copy = move |progress: Progress<'_>| {
        if progress.what.starts_with("factored") {
            for entry in fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap()) {
                fs::copy(entry.path(), copies.join(entry.file_name())).unwrap();
            }
        }
        ControlFlow::Continue(())
    };
    let compress = Compress::new(support::weights()).budget(Budget::Params(0.5));
    let shared = with_progress(copy, || compress.run(&gpu, &output)).unwrap();
    println!("{shared}");
    assert_true(&shared, &support::weights(), &output);
    assert!(shared.params <= shared.dense_params / 2, "{shared}");
    assert_eq!(shared.layers.iter().map(|layer| &layer.name).collect::<Vec<_>>(), names);
    let squares =
        |layers: &[CompressedLayer]| layers.iter().map(|layer| layer.rel_error.powi(2)).sum::<f64>();
    // The best that equal shares can do, and the best of all pairs of ranks, by exact spectra.
    let file = Safetensors::read(support::weights()).unwrap();
    let [a, b] = names.map(|name| {
        let s = matrix(&file, name).singular_values().unwrap();
        let total: f64 = s.iter().map(|s| s * s).sum();
        move |rank: usize| s[2 * rank..].iter().map(|s| s * s).sum::<f64>() / total
    });
    let ranks = shared.dense_params / 2 / (2 * (1536 + 384));
    let best =
        (1..ranks.min(154)).map(|rank| a(rank) + b((ranks - rank).min(153))).fold(f64::INFINITY, f64::min);
    let equal = ranks / 2;
    assert!(squares(&shared.layers) <= a(equal) + b(equal), "{shared}");
    println!("sum of squared errors over the best: {:.5}", squares(&shared.layers) / best);
    assert!(squares(&shared.layers) <= 1.01 * best, "{best}: {shared}");

    let met = Compress::new(support::weights()).budget(Budget::Error(0.3)).run(&gpu, &other).unwrap();
    println!("{met}");
    assert_eq!(met.reused, 2);
    assert_true(&met, &support::weights(), &other);
    assert!(met.layers.iter().all(|layer| layer.rank > 0 && layer.rel_error <= 0.3), "{met}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_type_is_compressed_and_the_rest_is_what_it_was() {
    let Some(gpu) = support::gpu() else { return };
    fn check<T: Element>(gpu: &Gpu) {
        for (budget, allowed) in
            [(Budget::Params(0.6), 1.0), (Budget::Flops(0.6), 1.0), (Budget::Error(0.02), 0.02)]
        {
            let model = Model::new::<T>(gpu, &format!("types-{}", T::DTYPE));
            let report = model.compress().budget(budget).run(gpu, &model.output).unwrap();
            println!("{}: {report}", T::DTYPE);
            assert_true(&report, &model.input, &model.output);
            assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);
            // Neither the norm, which cannot save, nor the line, which is no matrix.
            let names: Vec<_> = report.layers.iter().map(|layer| layer.name.as_str()).collect();
            assert_eq!(names, ["a.down.weight", "a.up.weight"]);
            assert!(report.layers.iter().all(|layer| layer.dtype == T::DTYPE && layer.rel_error <= allowed));
            if let Budget::Params(share) | Budget::Flops(share) = budget {
                assert!(report.params as f64 <= share * report.dense_params as f64, "{report}");
                assert!(report.layers.iter().all(|layer| layer.rank > 0), "{report}");
            } else {
                assert!(report.layers[1].rank > 0, "{report}");
            }
        }
    }
    support::of_reals!(check, &gpu);
}

#[test]
fn what_rounding_adds_is_made_up_for_by_rank() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<bf16>(&gpu, "rounding");
    let weight = Safetensors::read(&model.input).unwrap().tensor::<bf16>(&gpu, "a.up.weight").unwrap();
    let advice = recommend_rank(&weight, Budget::Params(0.5)).unwrap();
    // Just enough before the factors are rounded to eight bits.
    let error = advice.rel_error * 1.001;
    let compress = model.compress().select(Selection::name("a.up.weight")).budget(Budget::Error(error));
    let report = compress.run(&gpu, &model.output).unwrap();
    println!("{report}");
    assert_true(&report, &model.input, &model.output);
    assert!(report.layers[0].rank > advice.rank && report.layers[0].rel_error <= error, "{advice}: {report}");
    // So small an error no rank has in this type, whatever the singular values say.
    let low_rank: Vec<bf16> =
        falling([64, 40], 1e-4, 1).into_iter().map(<bf16 as Element>::from_f64).collect();
    let writer =
        SafetensorsWriter::new().tensor("weight", &gpu.tensor(&low_rank, [64, 40]).unwrap()).unwrap();
    writer.write(&model.input).unwrap();
    let report = model.compress().budget(Budget::Error(1e-4)).run(&gpu, &model.output).unwrap();
    assert!(matches!(&report.layers[0].choice, Choice::Dense { .. }), "{report}");
}

#[test]
fn what_cannot_save_stays_dense_and_says_why() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::changed::<f16>(&gpu, "dense", |writer| {
        let large = gpu.tensor(&[<f16 as Element>::from_f64(6e4); 64 * 64], [64, 64])?; // singular values beyond f16
        let zeros = gpu.zeros::<f16>([64, 32])?;
        let flat = gpu.random::<f16>([50, 50], Fill::Uniform, 1)?;
        writer.tensor("large.weight", &large)?.tensor("zeros.weight", &zeros)?.tensor("flat.weight", &flat)
    });
    let compress = || model.compress().select(Selection::pattern("*.weight"));
    let report = compress().budget(Budget::Error(0.1)).run(&gpu, &model.output).unwrap();
    println!("{report}");
    let of = |name: &str| report.layers.iter().find(|layer| layer.name == name).unwrap();
    for (name, told) in [
        ("b.norm.weight", "no fewer than the dense layer's 40"),
        ("large.weight", "overflow f16"),
        ("flat.weight", "the smallest is 0."),
    ] {
        assert!(matches!(&of(name).choice, Choice::Dense { why } if why.contains(told)), "{:?}", of(name));
        assert!(report.to_string().contains(told), "{report}");
    }
    assert_eq!((of("zeros.weight").rank, of("zeros.weight").rel_error), (1, 0.0));
    let after = Safetensors::read(&model.output).unwrap();
    assert!(after.values("zeros.S1s").unwrap().iter().all(|&x| x == 0.0));
    assert_eq!(after.shape("large.weight").unwrap(), [64, 64]);

    // Of a budget of parameters what stays dense takes its part.
    let report = compress().budget(Budget::Params(0.7)).run(&gpu, &model.output).unwrap();
    assert!(report.params as f64 <= 0.7 * report.dense_params as f64, "{report}");
    says(compress().budget(Budget::Params(0.2)).run(&gpu, &model.output), &["the budget", "stay dense 4136"]);
    // Nothing that can save is a copy.
    let report = model.compress().select(Selection::pattern("b.*")).run(&gpu, &model.output).unwrap();
    assert_eq!((report.params, report.dense_params), (40, 40));
    assert_eq!(
        Safetensors::read(&model.output).unwrap().names(),
        Safetensors::read(&model.input).unwrap().names()
    );
}
