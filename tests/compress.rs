//! Model files compressed: within the budget and as well as it can be, through interruptions, and never by halves.
#![cfg(feature = "safetensors")]

mod support;

use faer::Mat;
use std::fs;
use std::path::{Path, PathBuf};
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::sketch::{Budget, Choice, Compress, Compressed, CompressedLayer, Select, Step};
use tilewise::{Element, Error, Fill, Gpu, Result, bf16, f16};

const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/minilm_layer2_ffn.safetensors");

/// A weight whose singular values fall, by about this factor each.
fn falling(shape: [usize; 2], factor: f64, seed: u64) -> Vec<f64> {
    let [rows, cols] = shape;
    let rank = rows.min(cols);
    let u = Fill::Uniform.values::<f32>(rows * rank, seed);
    let v = Fill::Uniform.values::<f32>(cols * rank, seed + 1);
    let s: Vec<f64> = (0..rank).map(|k| factor.powf(k as f64)).collect();
    let entry = |i: usize, j: usize| {
        (0..rank).map(|k| s[k] * f64::from(u[i * rank + k]) * f64::from(v[j * rank + k])).sum()
    };
    (0..rows * cols).map(|at| entry(at / cols, at % cols)).collect()
}

/// A folder of the test's own with a model in it: two blocks of weights and biases, and what is none of either.
struct Model {
    folder: PathBuf,
    input: PathBuf,
    output: PathBuf,
}

impl Model {
    fn new<T: Element>(gpu: &Gpu, name: &str) -> Self {
        Self::changed::<T>(gpu, name, |writer| Ok(writer))
    }

    /// With more in the file.
    fn changed<T: Element>(
        gpu: &Gpu,
        name: &str,
        change: impl FnOnce(SafetensorsWriter) -> Result<SafetensorsWriter>,
    ) -> Self {
        let folder = support::folder(name);
        fs::create_dir_all(&folder).unwrap();
        let [input, output] = ["in.safetensors", "out.safetensors"].map(|file| folder.join(file));
        let mut writer = SafetensorsWriter::new().metadata("format", "pt").metadata("made", "by a \"test\"");
        for (name, shape, factor) in [
            ("a.up.weight", [96, 64], 0.8),
            ("a.down.weight", [48, 80], 0.95),
            ("b.norm.weight", [1, 40], 1.0),
        ] {
            let values: Vec<T> = falling(shape, factor, 7).into_iter().map(T::from_f64).collect();
            writer = writer.tensor(name, &gpu.tensor(&values, shape).unwrap()).unwrap();
        }
        writer = writer.tensor("a.up.bias", &gpu.tensor(&[0.5f32; 96], [96]).unwrap()).unwrap();
        writer = writer.tensor("b.line.weight", &gpu.tensor(&[2.0f32; 5], [5]).unwrap()).unwrap();
        writer = writer.tensor("c.steps", &gpu.tensor(&[1i32, 2, 3], [3, 1]).unwrap()).unwrap();
        change(writer).unwrap().write(&input).unwrap();
        Self { folder, input, output }
    }

    fn compress(&self) -> Compress<'_> {
        Compress::new(&self.input)
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn partial(&self) -> PathBuf {
        self.folder.join("out.safetensors.partial")
    }

    /// What is kept of layers.
    fn kept(&self) -> Vec<PathBuf> {
        let mut kept: Vec<_> =
            fs::read_dir(self.partial()).unwrap().map(|entry| entry.unwrap().path()).collect();
        kept.sort();
        kept
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fs::remove_dir_all(&self.folder).unwrap();
        }
    }
}

fn matrix(file: &Safetensors, name: &str) -> Mat<f64> {
    let (shape, values) = (file.shape(name).unwrap(), file.values(name).unwrap());
    let &[rows, cols] = &shape[shape.len() - 2..] else { panic!("{shape:?}") };
    Mat::from_fn(rows, cols, |i, j| values[i * cols + j])
}

/// The relative error of a layer, from the files alone.
fn measured(dense: &Safetensors, sketched: &Safetensors, layer: &CompressedLayer) -> f64 {
    let prefix = layer.name.strip_suffix("weight").unwrap();
    let part = |name: &str| {
        let name = format!("{prefix}{name}");
        assert_eq!(sketched.dtype(&name).unwrap(), Some(layer.dtype), "{name}");
        matrix(sketched, &name)
    };
    let [s1, u1, s2, u2] = ["S1s", "U1s", "S2s", "U2s"].map(part);
    let [out, inner] = layer.shape;
    assert_eq!([s1.shape(), u1.shape()], [(inner, layer.rank), (layer.rank, out)]);
    assert_eq!([u2.shape(), s2.shape()], [(inner, layer.rank), (layer.rank, out)]);
    let weight = matrix(dense, &layer.name);
    let made = Mat::from_fn(inner, out, |_, _| 0.0) + s1 * u1 + u2 * s2;
    let rest = Mat::from_fn(out, inner, |i, j| weight[(i, j)] - made[(j, i)] / 2.0);
    rest.norm_l2() / weight.norm_l2()
}

/// All that a report says, checked against the two files.
fn assert_true(report: &Compressed, input: &Path, output: &Path) {
    let (before, after) = (Safetensors::read(input).unwrap(), Safetensors::read(output).unwrap());
    let mut names = before.names();
    for layer in &report.layers {
        let params: usize = match layer.choice {
            Choice::Sketched => {
                let error = measured(&before, &after, layer);
                assert!((layer.rel_error - error).abs() <= 1e-3 * error + 2e-6, "{error}: {layer:?}");
                names.retain(|name| *name != layer.name);
                let prefix = layer.name.strip_suffix("weight").unwrap();
                let parts = ["S1s", "U1s", "S2s", "U2s"].map(|part| format!("{prefix}{part}"));
                names.extend(parts.clone());
                parts.iter().map(|name| after.values(name).unwrap().len()).sum()
            }
            _ => {
                assert_eq!((layer.rank, layer.terms, layer.rel_error), (0, 0, 0.0));
                layer.shape.iter().product()
            }
        };
        assert_eq!((layer.params, layer.dense_params), (params, layer.shape.iter().product()), "{layer:?}");
    }
    assert_eq!(report.params, report.layers.iter().map(|layer| layer.params).sum::<usize>());
    assert_eq!(report.dense_params, report.layers.iter().map(|layer| layer.dense_params).sum::<usize>());
    assert_eq!(
        [report.dense_bytes, report.bytes],
        [input, output].map(|path| fs::metadata(path).unwrap().len())
    );
    names.sort();
    assert_eq!(after.names(), names);
    for name in before.names().iter().filter(|name| names.contains(name)) {
        assert_eq!(after.bytes(name).unwrap(), before.bytes(name).unwrap(), "{name}");
        assert_eq!(after.shape(name).unwrap(), before.shape(name).unwrap(), "{name}");
        assert_eq!(after.dtype(name).unwrap(), before.dtype(name).unwrap(), "{name}");
    }
    for key in before.metadata_keys() {
        assert_eq!(after.metadata(key), before.metadata(key));
    }
    let told: serde_json::Value =
        serde_json::from_str(after.metadata("tilewise.compressed").unwrap()).unwrap();
    for layer in report.layers.iter().filter(|layer| layer.rank > 0) {
        let told = &told[&layer.name];
        assert_eq!([&told["terms"], &told["rank"]], [1, layer.rank], "{told}");
        assert_eq!(told["shape"], serde_json::json!(layer.shape));
        let error = told["rel_error"].as_f64().unwrap();
        assert!((error - layer.rel_error).abs() <= 1e-15, "{told}");
    }
    let shown = report.to_string();
    assert!(report.layers.iter().all(|layer| shown.contains(&layer.name)), "{shown}");
}

#[test]
fn real_weights_share_a_budget_better_than_equally() {
    let Some(gpu) = support::gpu() else { return };
    let folder = support::folder("real");
    fs::create_dir_all(&folder).unwrap();
    let output = folder.join("out.safetensors");
    let run = |budget, select: Option<&str>| {
        let compress = Compress::new(WEIGHTS).budget(budget);
        let compress =
            select.into_iter().fold(compress, |compress, name| compress.select(Select::name(name)));
        compress.run(&gpu, &output).unwrap()
    };
    let names = ["intermediate.dense.weight", "output.dense.weight"];
    let equal: Vec<_> =
        names.iter().map(|name| run(Budget::Params(0.5), Some(name)).layers[0].clone()).collect();
    let shared = run(Budget::Params(0.5), None);
    println!("{shared}");
    assert_true(&shared, Path::new(WEIGHTS), &output);
    assert!(shared.params <= shared.dense_params / 2, "{shared}");
    assert_eq!(shared.layers.iter().map(|layer| &layer.name).collect::<Vec<_>>(), names);
    let squares =
        |layers: &[CompressedLayer]| layers.iter().map(|layer| layer.rel_error.powi(2)).sum::<f64>();
    assert!(squares(&shared.layers) <= squares(&equal) * (1.0 + 1e-9), "{shared}");
    // The best of all pairs of ranks, by exact spectra.
    let file = Safetensors::read(WEIGHTS).unwrap();
    let [a, b] = names.map(|name| {
        let s = matrix(&file, name).singular_values().unwrap();
        let total: f64 = s.iter().map(|s| s * s).sum();
        move |rank: usize| s[2 * rank..].iter().map(|s| s * s).sum::<f64>() / total
    });
    let ranks = shared.dense_params / 2 / (2 * (1536 + 384));
    let best =
        (1..ranks.min(154)).map(|rank| a(rank) + b((ranks - rank).min(153))).fold(f64::INFINITY, f64::min);
    println!("sum of squared errors over the best: {:.5}", squares(&shared.layers) / best);
    assert!(squares(&shared.layers) <= 1.01 * best, "{best}: {shared}");

    let met = run(Budget::Error(0.3), None);
    println!("{met}");
    assert_true(&met, Path::new(WEIGHTS), &output);
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
    check::<f32>(&gpu);
    check::<f16>(&gpu);
    check::<bf16>(&gpu);
}

#[test]
fn a_run_that_was_stopped_anywhere_goes_on_to_the_same_bytes() {
    let Some(gpu) = support::gpu() else { return };
    let stop = || Error::Input { what: "the test".into(), why: "enough".into() };
    let model = Model::new::<f16>(&gpu, "stopped");
    let mut all = Vec::new();
    let progress = |told: tilewise::sketch::Progress<'_>| {
        assert_eq!(told.layers, 2);
        all.push((told.layer.to_owned(), told.number, told.step));
        Ok(())
    };
    model.compress().progress(progress).run(&gpu, &model.output).unwrap();
    let expected = [(1, Step::Factoring), (1, Step::Factored), (2, Step::Factoring), (2, Step::Factored)];
    let expected = [&expected[..], &[(1, Step::Stored), (2, Step::Stored)]].concat();
    assert_eq!(all.iter().map(|(_, number, step)| (*number, *step)).collect::<Vec<_>>(), expected);
    let whole = fs::read(&model.output).unwrap();

    for (at, (_, _, step)) in all.iter().enumerate() {
        fs::remove_file(&model.output).unwrap();
        let mut steps = 0;
        let stopped = model.compress().progress(|_| {
            steps += 1;
            if steps > at { Err(stop()) } else { Ok(()) }
        });
        let error = stopped.run(&gpu, &model.output).unwrap_err().to_string();
        assert_eq!(error, "the test: enough");
        assert!(!model.output.exists(), "{step:?}");
        let kept = all[..=at].iter().filter(|(_, _, step)| *step == Step::Factored).count();
        if kept == 0 {
            assert_eq!(model.files(), ["in.safetensors"], "nothing is left of nothing");
        } else {
            assert_eq!(model.kept().len(), kept);
        }
        let mut steps = Vec::new();
        let again = model.compress().progress(|told| {
            steps.push(told.step);
            Ok(())
        });
        let report = again.run(&gpu, &model.output).unwrap();
        assert_eq!(report.reused, kept);
        assert_eq!(steps.iter().filter(|step| **step == Step::Reused).count(), kept);
        assert_eq!(steps.iter().filter(|step| **step == Step::Factored).count(), 2 - kept);
        assert_eq!(fs::read(&model.output).unwrap(), whole, "stopped at {step:?}");
        assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);
    }
}

#[test]
fn factors_that_are_damaged_or_of_another_weight_are_made_again() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "damaged");
    model.compress().run(&gpu, &model.output).unwrap();
    let whole = fs::read(&model.output).unwrap();
    let stop_at_end = |told: tilewise::sketch::Progress<'_>| match told.step {
        Step::Stored => Err(Error::Input { what: "the test".into(), why: "enough".into() }),
        _ => Ok(()),
    };
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 5] = [
        ("cut short", |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        }),
        ("a bit", |path| {
            let mut bytes = fs::read(path).unwrap();
            let last = bytes.len() - 5;
            bytes[last] ^= 1;
            fs::write(path, bytes).unwrap();
        }),
        ("empty", |path| fs::write(path, []).unwrap()),
        ("no header", |path| fs::write(path, [255; 100]).unwrap()),
        ("another model", |path| {
            fs::copy(WEIGHTS, path).unwrap();
        }),
    ];
    for (name, damage) in damages {
        model.compress().progress(stop_at_end).run(&gpu, &model.output).unwrap_err();
        assert_eq!(fs::read(&model.output).unwrap(), whole, "the old output is what it was");
        let kept = model.kept();
        assert_eq!(kept.len(), 2);
        damage(&kept[1]);
        // What a process leaves that was killed while it wrote, and what is none of ours.
        fs::write(model.partial().join(".tilewise-0123.draft"), b"half").unwrap();
        let report = model.compress().run(&gpu, &model.output).unwrap();
        assert_eq!((report.reused, fs::read(&model.output).unwrap()), (1, whole.clone()), "{name}");
        assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);
    }
    // The same names, another weight: nothing of the old one is taken.
    model.compress().progress(stop_at_end).run(&gpu, &model.output).unwrap_err();
    let mut bytes = fs::read(&model.input).unwrap();
    let changed = Safetensors::read(&model.input).unwrap();
    let weight = changed.bytes("a.up.weight").unwrap();
    let at = bytes.windows(weight.len()).position(|window| window == weight).unwrap();
    bytes[at] ^= 1;
    fs::write(&model.input, bytes).unwrap();
    fs::write(model.partial().join("mine.txt"), b"mine").unwrap();
    let report = model.compress().budget(Budget::Error(0.1)).run(&gpu, &model.output).unwrap();
    assert_eq!(report.reused, 1, "and another budget is no reason to begin again");
    assert_true(&report, &model.input, &model.output);
    assert_eq!(model.kept(), [model.partial().join("mine.txt")], "what is not ours stays");
}

#[test]
fn selections_take_what_they_say() {
    let Some(gpu) = support::gpu() else { return };
    let named = |selections: &[Select]| -> Vec<String> {
        let model = Model::changed::<f32>(&gpu, "selected", |writer| {
            writer.tensor(
                "projection",
                &gpu.tensor(
                    &falling([40, 30], 0.7, 3)[..].iter().map(|&x| f32::from_f64(x)).collect::<Vec<_>>(),
                    [40, 30],
                )?,
            )
        });
        let compress =
            selections.iter().fold(model.compress(), |compress, select| compress.select(select.clone()));
        let report = compress.budget(Budget::Params(0.9)).run(&gpu, &model.output).unwrap();
        if report.layers.iter().any(|layer| layer.name == "projection") {
            let names = Safetensors::read(&model.output).unwrap().names();
            assert!(names.contains(&"projection.U2s".to_owned()), "{names:?}");
        } else {
            assert_true(&report, &model.input, &model.output);
        }
        report.layers.into_iter().map(|layer| layer.name).collect()
    };
    assert_eq!(named(&[Select::name("projection")]), ["projection"]);
    assert_eq!(named(&[Select::pattern("a.*.weight")]), ["a.down.weight", "a.up.weight"]);
    assert_eq!(named(&[Select::pattern("a.?p.*")]), ["a.up.weight"]);
    assert_eq!(named(&[Select::shape(60, 1)]), ["a.up.weight"]);
    assert_eq!(named(&[Select::shape(2, 70), Select::name("projection")]), ["a.down.weight", "projection"]);
    // Any of them, each once; what cannot save too, as it was asked for.
    let several = [Select::pattern("*"), Select::name("a.up.weight"), Select::shape(1, 1)];
    assert_eq!(named(&several), ["a.down.weight", "a.up.weight", "b.norm.weight", "projection"]);
}

#[test]
fn what_cannot_save_stays_dense_and_says_why() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::changed::<f16>(&gpu, "dense", |writer| {
        let large = gpu.tensor(&[f16::from_f64(6e4); 64 * 64], [64, 64])?; // singular values beyond f16
        let zeros = gpu.zeros::<f16>([64, 32])?;
        let flat = gpu.random::<f16>([50, 50], Fill::Uniform, 1)?;
        writer.tensor("large.weight", &large)?.tensor("zeros.weight", &zeros)?.tensor("flat.weight", &flat)
    });
    let compress = || model.compress().select(Select::pattern("*.weight"));
    let report = compress().budget(Budget::Error(0.1)).run(&gpu, &model.output).unwrap();
    println!("{report}");
    let of = |name: &str| report.layers.iter().find(|layer| layer.name == name).unwrap();
    for (name, told) in [
        ("b.norm.weight", "no fewer than the dense layer's 40"),
        ("large.weight", "beyond f16"),
        ("flat.weight", "the least is 0."),
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
    let refused = compress().budget(Budget::Params(0.2)).run(&gpu, &model.output).unwrap_err().to_string();
    assert!(refused.contains("the budget") && refused.contains("stay dense 4136"), "{refused}");
    // Nothing that can save is a copy.
    let report = model.compress().select(Select::pattern("b.*")).run(&gpu, &model.output).unwrap();
    assert_eq!((report.params, report.dense_params), (40, 40));
    assert_eq!(
        Safetensors::read(&model.output).unwrap().names(),
        Safetensors::read(&model.input).unwrap().names()
    );
}

#[test]
fn what_was_compressed_is_compressed_further() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "further");
    model.compress().select(Select::name("a.up.weight")).run(&gpu, &model.output).unwrap();
    let further = model.folder.join("further.safetensors");
    Compress::new(&model.output).run(&gpu, &further).unwrap();
    let file = Safetensors::read(&further).unwrap();
    let told: serde_json::Value =
        serde_json::from_str(file.metadata("tilewise.compressed").unwrap()).unwrap();
    assert!(told["a.up.weight"].is_object() && told["a.down.weight"].is_object(), "{told}");
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::changed::<f32>(&gpu, "refused", |writer| {
        let mut values = vec![1.0f32; 30 * 20];
        values[47] = f32::NAN;
        let nan = gpu.tensor(&values, [30, 20])?;
        values[47] = f32::NEG_INFINITY;
        let infinite = gpu.tensor(&values, [30, 20])?.cast::<bf16>()?;
        let integers = gpu.tensor(&[1i8; 30 * 20], [30, 20])?;
        let taken = gpu.zeros::<f32>([30, 20])?;
        let writer = writer.tensor("nan.weight", &nan)?.tensor("infinite.weight", &infinite)?;
        let writer = writer.tensor("taken.weight", &taken)?.tensor("taken.U1s", &taken)?;
        writer.tensor("integers.weight", &integers)
    });
    let before = fs::read(&model.input).unwrap();
    let refused = |compress: Compress, output: &Path, words: &[&str]| {
        let error = compress.run(&gpu, output).unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{error:?}");
        let said = error.to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
        assert_eq!(model.files(), ["in.safetensors"], "{said}");
    };
    let input = model.input.display().to_string();
    for (select, words) in [
        (Select::name("a.left.weight"), &["`a.left.weight`", "a.up.weight"][..]),
        (Select::name("integers.weight"), &["`integers.weight`", "i8", "[30, 20]"]),
        (Select::name("b.line.weight"), &["`b.line.weight`", "[5]"]),
        (Select::pattern("d.*"), &["d.*", "selects no matrix"]),
        (Select::pattern("b.line.*"), &["selects no matrix"]),
        (Select::shape(1000, 1), &["1000", "selects no matrix"]),
        (Select::name("nan.weight"), &["`nan.weight` is NaN at [2, 7]"]),
        (Select::pattern("inf*"), &["`infinite.weight` is -inf at [2, 7]"]),
        (Select::name("taken.weight"), &["`taken.U1s`", "another tensor"]),
    ] {
        let words = [words, &[input.as_str()]].concat();
        refused(model.compress().select(Select::name("a.up.weight")).select(select), &model.output, &words);
    }
    let up = || model.compress().select(Select::name("a.up.weight"));
    for budget in [Budget::Params(0.0), Budget::Flops(f64::NAN), Budget::Error(1.0), Budget::Params(0.01)] {
        refused(up().budget(budget), &model.output, &["budget"]);
    }
    refused(up(), &model.input, &["in.safetensors", "is the input"]);
    let twisted = model.folder.join("..").join(model.folder.file_name().unwrap()).join("in.safetensors");
    refused(up(), &twisted, &["is the input"]);
    refused(up(), &model.folder, &["cannot be written", "folder"]);
    refused(up(), &model.folder.join("none/out.safetensors"), &["none/out.safetensors", "cannot be written"]);
    refused(Compress::new(model.folder.join("none")), &model.output, &["none", "cannot be opened"]);
    assert_eq!(fs::read(&model.input).unwrap(), before);
    for (what, bytes) in [("cut", &before[..before.len() - 7]), ("text", b"no weights at all")] {
        fs::write(&model.input, bytes).unwrap();
        refused(up(), &model.output, &["in.safetensors", "no .safetensors file"]);
        assert_eq!(fs::read(&model.input).unwrap(), bytes, "{what}");
    }
}

#[test]
fn an_output_that_fails_at_the_end_is_taken_up_again() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<bf16>(&gpu, "end");
    // A folder takes the name while the layers are made.
    let late = model.compress().progress(|told| {
        if told.step == Step::Stored && told.number == 2 {
            fs::create_dir(&model.output).unwrap();
        }
        Ok(())
    });
    let error = late.run(&gpu, &model.output).unwrap_err().to_string();
    assert!(error.contains("out.safetensors: cannot be written") && error.contains("folder"), "{error}");
    assert_eq!(model.kept().len(), 2, "the layers, and no draft: {:?}", model.kept());
    fs::remove_dir(&model.output).unwrap();
    assert_eq!(model.compress().run(&gpu, &model.output).unwrap().reused, 2);
    assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);

    // Another takes the folder of factors away, or has something else there.
    let gone = model.compress().progress(|told| {
        if told.step == Step::Factored && told.number == 2 {
            fs::remove_dir_all(model.partial()).unwrap();
        }
        Ok(())
    });
    let error = gone.run(&gpu, &model.output).unwrap_err().to_string();
    assert!(error.contains("out.safetensors.partial"), "{error}");
    fs::write(model.partial(), b"mine").unwrap();
    let error = model.compress().run(&gpu, &model.output).unwrap_err().to_string();
    assert!(error.contains("out.safetensors: cannot be written") && error.contains(".partial"), "{error}");
    assert_eq!(fs::read(model.partial()).unwrap(), b"mine");
    assert!(Safetensors::read(&model.output).is_ok(), "the output of the run before is there");
}
