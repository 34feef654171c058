//! The f64 definitions of layers' products against the vectors of others' code (`tests/data/clifford`). No device.

mod support;

use std::path::PathBuf;
use support::safetensors::Safetensors;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{GradeNorm, LayerProduct};
use tilewise::reference::{LayerProductGradients, LayerProductReference};

/// What f32 rounds, of the largest of a tensor, and some more where sums were in f32 before.
const TOLERANCE: f64 = 1e-6;

/// The operands of a file's products, and the reference for its algebra.
struct Given {
    x: Vec<f64>,
    y: Vec<f64>,
    g: Vec<f64>,
    steerable: Vec<f64>,
    connected: Vec<f64>,
    signature: Signature,
    rows: usize,
    features: usize,
}

impl Given {
    /// Of a tag such as `2d_b37_n65`.
    fn read(tag: &str) -> Self {
        let file = file("inputs", tag);
        let signature = if tag.starts_with("2d") { Signature::CL2 } else { Signature::CL3 };
        let (shape, x) = file.reals("x");
        let [y, g, steerable, connected] =
            ["y", "grad_out", "sgp_weight", "fcgp_weight"].map(|name| file.reals(name).1);
        Self { x, y, g, steerable, connected, signature, rows: shape[1], features: shape[2] }
    }

    fn reference(&self, norm: GradeNorm) -> LayerProductReference {
        let product = LayerProduct::new(self.signature).norm(norm);
        LayerProductReference::new(product, &self.signature.blades(), self.rows)
    }
}

fn file(kind: &str, tag: &str) -> Safetensors {
    Safetensors::read(&PathBuf::from(format!("tests/data/clifford/{kind}_{tag}.safetensors")))
}

fn near(found: &[f64], want: &[f64], what: &str) {
    assert_eq!(found.len(), want.len(), "{what}");
    let largest = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        assert!((found - want).abs() <= TOLERANCE * largest, "{what}, {i}: {found}, not {want}");
    }
}

fn assert_gradients(of: &LayerProductGradients, file: &Safetensors, names: &[&str], prefix: &str, tag: &str) {
    for (name, found) in [("grad_x", &of.x), ("grad_y", &of.y), ("grad_weight", &of.weight)] {
        if names.contains(&name) {
            near(found, &file.reals(&format!("{prefix}.{name}")).1, &format!("{tag}: {prefix}.{name}"));
        }
    }
}

#[test]
fn fully_connected_products_are_those_of_others() {
    for tag in ["2d_b37_n65", "3d_b64_n128"] {
        let (given, file) = (Given::read(tag), file("fcgp", tag));
        let reference = given.reference(GradeNorm::Rms);
        let Given { x, y, g, connected: weight, features: n, .. } = &given;
        near(&reference.connected(x, y, weight), &file.reals("norm.out").1, tag);
        let of = reference.connected_backward(x, y, weight, g);
        if file.names().iter().any(|name| name == "norm.grad_weight") {
            assert_gradients(&of, &file, &["grad_x", "grad_y", "grad_weight"], "norm", tag);
            continue;
        }
        assert_gradients(&of, &file, &["grad_x", "grad_y"], "norm", tag);
        // The weight's gradient is large: two matrices of it, and all of it times a vector from either side.
        let matrix = |p: usize| &of.weight[p * n * n..(p + 1) * n * n];
        let selected: Vec<f64> = file
            .integers("sel_index")
            .into_iter()
            .flat_map(|p| matrix(usize::try_from(p).unwrap()).to_vec())
            .collect();
        near(&selected, &file.reals("norm.grad_weight_sel").1, tag);
        let probe = file.reals("probe").1;
        let paths = given.signature.paths().len();
        let dot = |p: usize, at: &dyn Fn(usize, usize) -> usize| -> Vec<f64> {
            let entry = |i: usize| (0..*n).map(|j| matrix(p)[at(i, j)] * probe[j]).sum();
            (0..*n).map(entry).collect()
        };
        let rows: Vec<f64> = (0..paths).flat_map(|p| dot(p, &|i, j| i * n + j)).collect();
        near(&rows, &file.reals("norm.grad_weight_dot_probe").1, tag);
        let columns: Vec<f64> = (0..paths).flat_map(|p| dot(p, &|i, j| j * n + i)).collect();
        near(&columns, &file.reals("norm.grad_weightT_dot_probe").1, tag);
        let norm = |p| matrix(p).iter().map(|x| x * x).sum::<f64>().sqrt();
        let norms: Vec<f64> = (0..paths).map(norm).collect();
        near(&norms, &file.reals("norm.grad_weight_fro").1, tag);
    }
}

#[test]
fn steerable_products_are_those_of_others() {
    for (tag, norms) in [
        ("2d_b37_n65", &[("norm", GradeNorm::Rms), ("nonorm", GradeNorm::None)][..]),
        ("3d_b64_n128", &[("norm", GradeNorm::Rms)]),
    ] {
        let (given, file) = (Given::read(tag), file("sgp", tag));
        for &(prefix, norm) in norms {
            let reference = given.reference(norm);
            let Given { x, y, g, steerable: weight, .. } = &given;
            let out = file.reals(&format!("{prefix}.out")).1;
            near(&reference.steerable(x, y, weight), &out, &format!("{tag}: {prefix}.out"));
            let of = reference.steerable_backward(x, y, weight, g);
            assert_gradients(&of, &file, &["grad_x", "grad_y", "grad_weight"], prefix, tag);
        }
    }
}
