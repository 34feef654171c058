//! The example `sketched_linear` as a user runs it: what it makes of real weights, how it trains, and what it refuses.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use support::example::{run, scratch};
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::sketch::{Budget, SkLinear};
use tilewise::{Fill, Gpu, f16};

fn number(report: &Value, name: &str) -> f64 {
    report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"))
}

/// What every report promises.
fn assert_report(report: &Value) {
    assert_eq!(report["ok"], true, "{report}");
    let of = |name: &str| number(report, name);
    assert_eq!(of("params"), 2.0 * of("terms") * of("rank") * (of("inputs") + of("outputs")), "{report}");
    assert_eq!(of("dense_params"), of("inputs") * of("outputs"));
    assert_eq!(of("flops"), 2.0 * of("batch") * of("params"));
    assert!(of("weight_rel_error") > 0.999 * of("optimal_weight_rel_error"), "{report}");
    assert!(of("dense_seconds") > 0.0 && of("sketched_seconds") > 0.0, "{report}");
    assert!((of("speedup") * of("sketched_seconds") / of("dense_seconds") - 1.0).abs() < 1e-9);
    assert_eq!(report["plans"].as_array().map(Vec::len), Some(2), "{report}");
}

/// A small weight in a file of its own, under the name `w`.
fn small(gpu: &Gpu, name: &str, poison: Option<f32>) -> PathBuf {
    let mut values = Fill::Uniform.values::<f32>(96 * 80, 1);
    if let Some(poison) = poison {
        values[81] = poison;
    }
    let weight = gpu.tensor(&values, [96, 80]).expect("there is room");
    let counts = gpu.tensor(&[1, 2, 3], [3]).expect("there is room");
    let path = scratch(name);
    let file = SafetensorsWriter::new().tensor("w", &weight).and_then(|file| file.tensor("counts", &counts));
    file.and_then(|file| file.write(&path)).expect("the folder can be written to");
    path
}

/// A fit beats what is copied, and what is solved for given signs, and is within 1.02 of the best.
#[test]
fn real_weights_are_fitted_best() {
    let Some(_) = support::gpu() else { return };
    let [fitted, squares, copied] = ["fit", "least-squares", "panther"].map(|init| {
        let arguments = ["--rank", "8", "--terms", "2", "--dtype", "f16", "--init", init, "--json"];
        let report = run("sketched_linear", &arguments, &[]).json();
        assert_report(&report);
        report
    });
    let error = |report| number(report, "weight_rel_error");
    assert!(error(&fitted) < error(&squares) && error(&squares) < error(&copied));
    assert!(error(&fitted) <= 1.02 * number(&fitted, "optimal_weight_rel_error"), "{fitted}");
    assert!(number(&fitted, "output_rel_error") < 1.0 && number(&copied, "output_rel_error") > 1.0);
}

/// The same at every budget, of both weights: by the library, whose kernels are compiled once here.
#[test]
fn fits_are_best_at_every_budget() {
    let Some(gpu) = support::gpu() else { return };
    let file = Safetensors::read(support::weights()).expect("the repository has it");
    for (at, name) in ["intermediate.dense.weight", "output.dense.weight"].into_iter().enumerate() {
        let weight = file.tensor::<f16>(&gpu, name).and_then(|w| w.cast::<f32>()).expect("a weight");
        // The weights share these, and have all in the full sweep.
        let (all, some) = ([0.05, 0.2, 0.5, 0.9], [&[0.05, 0.5][..], &[0.9]]);
        for &share in if support::is_full_sweep() { &all[..] } else { some[at] } {
            let advice = SkLinear::recommend_rank(&weight, Budget::Params(share)).expect("a budget");
            let builder = SkLinear::builder(advice.terms, advice.rank);
            let [fitted, squares, copied] =
                [builder.fit(&weight), builder.least_squares(&weight), builder.panther(&weight)]
                    .map(|built| built.expect("a layer that saves").weight_rel_error);
            println!("{name}, {share}: {fitted:.3}, {squares:.3}, {copied:.3}");
            assert!(fitted < squares && squares < copied, "{name} at {share}");
            assert!((fitted / advice.rel_error - 1.0).abs() < 1e-3, "{fitted}: {advice}");
        }
    }
}

#[test]
fn a_layer_learns_what_least_squares_would_find_and_is_drawn() {
    let Some(gpu) = support::gpu() else { return };
    let [weights, svg] = [small(&gpu, "small.safetensors", None), scratch("errors.svg")];
    let [weights_name, svg_name] = [&weights, &svg].map(|path| path.display().to_string());
    let own = ["--weights", &weights_name, "--tensor", "w", "--rank", "6", "--seed", "2"];
    let report = |more: &[&str]| run("sketched_linear", &[&own, more, &["--json"]].concat(), &[]).json();
    let learnt = report(&["--init", "panther", "--train", "80", "--dtype", "f16", "--svg", &svg_name]);
    assert_report(&learnt);
    let losses: Vec<f64> =
        learnt["losses"].as_array().expect("losses").iter().filter_map(Value::as_f64).collect();
    assert_eq!(losses.len(), 80);
    assert!(losses[0] > 2.0 && losses[79] < 1.0, "{losses:?}");
    let solved = report(&["--init", "least-squares"]);
    let [learnt, solved] = [&learnt, &solved].map(|report| number(report, "weight_rel_error"));
    assert!((learnt / solved - 1.0).abs() < 0.02, "learnt {learnt}, solved {solved}");

    let picture = fs::read_to_string(&svg).expect("the picture was written");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    // Lines of the axes are thinner than curves.
    let curves = picture.matches("stroke-width=\"2\" points=").count();
    assert_eq!(curves, 4, "three ways and the least possible");
    assert_eq!(picture.matches("<circle").count(), 24, "eight ranks of each");
    run("sketched_linear", &[&own[..], &["--train", "3"]].concat(), &[]).passed().prints([
        "w, 96 x 80, f32",
        "terms 1, rank 6",
        "step     2  loss",
        "times as fast",
        "check      ok",
    ]);
    for path in [weights, svg] {
        fs::remove_file(path).expect("it was written");
    }
}

#[test]
fn what_cannot_be_done_is_refused_in_one_sentence() {
    let Some(gpu) = support::gpu() else { return };
    let [good, nan] = [small(&gpu, "good.safetensors", None), small(&gpu, "nan.safetensors", Some(f32::NAN))];
    let cut = scratch("cut.safetensors");
    let bytes = fs::read(&good).expect("it was written");
    fs::write(&cut, &bytes[..bytes.len() - 100]).expect("the folder can be written to");
    let [good_name, nan_name, cut_name] = [&good, &nan, &cut].map(|path| path.display().to_string());
    let of = |file: &str, more: &[&str]| -> Vec<String> {
        let tensor: &[&str] = if more[0] == "--tensor" { &[] } else { &["--tensor", "w"] };
        ["--weights", file].iter().chain(tensor).chain(more).map(ToString::to_string).collect()
    };
    for (arguments, words) in [
        (of(&nan_name, &["--rank", "2"]), &["NaN", "[1, 1]"][..]),
        (of(&cut_name, &["--rank", "2"]), &["cut.safetensors", "not a .safetensors file"]),
        (of(&good_name, &["--rank", "0"]), &["a rank"]),
        (of(&good_name, &["--rank", "2", "--terms", "0"]), &["one term"]),
        (of(&good_name, &["--rank", "81"]), &["inputs and outputs", "81"]),
        (of(&good_name, &["--rank", "22"]), &["saves nothing", "7744", "7680"]),
        (of(&good_name, &["--max-error", "0.01"]), &["should stay dense", "the smallest is 0."]),
        (of(&good_name, &["--budget-params", "0.01"]), &["should stay dense", "352"]),
        (of(&good_name, &["--budget-params=-1"]), &["budget"]),
        (of(&good_name, &["--tensor", "counts"]), &["`counts`", "must be a tensor of f32"]),
        (of(&good_name, &["--tensor", "v"]), &["`v`", "counts"]),
        (
            of(&good_name, &["--rank", "2", "--svg", "/nonexistent/x.svg"]),
            &["/nonexistent/x.svg", "cannot be written"],
        ),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run("sketched_linear", &[&arguments[..], &["--json"]].concat(), &[]).refuses(words);
    }
    let ended = run("sketched_linear", &["--rank", "2", "--max-error", "0.5"], &[]);
    assert!(ended.code() == Some(2) && ended.stderr.contains("cannot be used with"), "{ended:?}");
    let none = run(
        "sketched_linear",
        &["--weights", &good_name, "--tensor", "w", "--rank", "2", "--batch", "0"],
        &[],
    );
    assert_eq!(none.code(), Some(0), "a batch of 0 is an empty result: {none:?}");
    for path in [good, nan, cut] {
        fs::remove_file(path).expect("it was written");
    }
}
