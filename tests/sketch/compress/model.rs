//! A small model, and what is true of a compressed one.

use faer::Mat;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::sketch::{Choice, Compress, Compressed, CompressedLayer};
use tilewise::{Element, Fill, Gpu, Result};

/// A weight whose singular values fall, by about this factor each.
pub(crate) fn falling(shape: [usize; 2], factor: f64, seed: u64) -> Vec<f64> {
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
pub(crate) struct Model {
    pub(crate) folder: PathBuf,
    pub(crate) input: PathBuf,
    pub(crate) output: PathBuf,
}

impl Model {
    pub(crate) fn new<T: Element>(gpu: &Gpu, name: &str) -> Self {
        Self::changed::<T>(gpu, name, Ok)
    }

    /// With more in the file.
    pub(crate) fn changed<T: Element>(
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

    pub(crate) fn compress(&self) -> Compress {
        Compress::new(&self.input)
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn partial(&self) -> PathBuf {
        self.folder.join("out.safetensors.partial")
    }

    /// What is kept of layers.
    pub(crate) fn kept(&self) -> Vec<PathBuf> {
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

pub(crate) fn matrix(file: &Safetensors, name: &str) -> Mat<f64> {
    let (shape, values) = (file.shape(name).unwrap(), file.values(name).unwrap());
    let &[rows, cols] = &shape[shape.len() - 2..] else { panic!("{shape:?}") };
    Mat::from_fn(rows, cols, |i, j| values[i * cols + j])
}

/// The relative error of a layer, from the files alone.
pub(crate) fn measured(dense: &Safetensors, sketched: &Safetensors, layer: &CompressedLayer) -> f64 {
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
    let made = s1 * u1 + u2 * s2;
    let rest = Mat::from_fn(out, inner, |i, j| weight[(i, j)] - made[(j, i)] / 2.0);
    rest.norm_l2() / weight.norm_l2()
}

/// All that a report says, checked against the two files.
pub(crate) fn assert_true(report: &Compressed, input: &Path, output: &Path) {
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
    let told: Value = serde_json::from_str(after.metadata("tilewise.compressed").unwrap()).unwrap();
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
