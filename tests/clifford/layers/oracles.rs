//! CGENN's layers: in f64 within its rounding, on the device within that of f32.

use crate::layers::common::{blades_first, largest, near, read, upload};
use support::safetensors::Safetensors;
use tilewise::clifford::layer::{BiasOn, FeatureFunction, MvLayerNorm, MvLinear, MvNormalization, MvSilu};
use tilewise::clifford::{BladeAxis, Blades, Multivectors};
use tilewise::reference::{MvFeaturesReference, MvFeaturesValues, MvLinearReference, MvLinearValues};

/// (out, in, grade) as (grade, in, out).
fn by_grade(weight: &[f64], [outputs, inputs, grades]: [usize; 3]) -> Vec<f64> {
    let each = (0..grades).flat_map(|g| (0..inputs).flat_map(move |n| (0..outputs).map(move |m| (g, n, m))));
    each.map(|(g, n, m)| weight[(m * inputs + n) * grades + g]).collect()
}

#[test]
fn layers_of_cgenn() {
    let mut checked = 0;
    for path in support::oracles::files("clifford", &["safetensors"]) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("cgenn_") {
            continue;
        }
        checked += 1;
        let file = Safetensors::read(&path);
        let masks = file.integers("index_to_bitmap").into_iter().map(|mask| u8::try_from(mask).unwrap());
        let blades = Blades::new(support::oracles::signature(&name), &masks.collect::<Vec<_>>()).unwrap();
        let (shape, x) = file.reals("x");
        linear(&file, &blades, &shape, &x, &name);
        for (function, prefix) in [
            (FeatureFunction::Normalization, "normalization"),
            (FeatureFunction::LayerNorm, "mvlayernorm"),
            (FeatureFunction::Silu, "mvsilu_mag2"),
        ] {
            features(&file, function, prefix, &blades, &shape, &x, &name);
        }
    }
    assert!(checked >= 4, "{checked} files");
}

fn compare(found: &[f64], want: &[f64], relative: f64, what: &str) {
    near(found, want, |_| relative * largest(want), what);
}

fn linear(file: &Safetensors, blades: &Blades, shape: &[usize], x: &[f64], name: &str) {
    let &[rows, inputs, n] = shape else { panic!("{name}: {shape:?}") };
    let (of_weight, weight) = file.reals("mvlinear.weight");
    let outputs = of_weight[0];
    let weight = by_grade(&weight, [outputs, inputs, of_weight[2]]);
    let [(_, bias), (_, want)] = ["mvlinear.bias", "mvlinear.out"].map(|name| file.reals(name));
    let want = blades_first(&want, n);
    let of = MvLinearValues { x: blades_first(x, n), weight, bias, null_weight: Vec::new() };
    let definition = MvLinearReference {
        blades: blades.clone(),
        rows,
        features: [inputs, outputs],
        bias_on: BiasOn::Scalar,
    };
    compare(&definition.forward(&of), &want, 1e-12, &format!("{name}: linear by definition"));
    let Some(gpu) = support::gpu() else { return };
    let weight = upload::<f32>(&gpu, &of.weight, &[of_weight[2], inputs, outputs]);
    let layer = MvLinear::builder(blades.signature(), weight);
    let layer = layer.bias(upload(&gpu, &of.bias, &[outputs]), BiasOn::Scalar).build().unwrap();
    let x = Multivectors::new(upload(&gpu, x, shape), blades, BladeAxis::Last).unwrap();
    compare(&read(layer.forward(&x).unwrap().tensor()), &want, 2e-6, &format!("{name}: linear"));
}

fn features(
    file: &Safetensors,
    function: FeatureFunction,
    prefix: &str,
    blades: &Blades,
    shape: &[usize],
    x: &[f64],
    name: &str,
) {
    let n = blades.len();
    let of = |part: &str| file.reals(&format!("{prefix}.{part}")).1;
    let is_silu = function == FeatureFunction::Silu;
    let b = if is_silu { of("b") } else { Vec::new() };
    let values = MvFeaturesValues { x: blades_first(x, n), a: of("a"), b };
    let definition = MvFeaturesReference { function, blades: blades.clone(), rows: shape[0] };
    let want = blades_first(&of("out"), n);
    compare(&definition.forward(&values), &want, 1e-12, &format!("{name}: {prefix} by definition"));
    let Some(gpu) = support::gpu() else { return };
    let signature = blades.signature();
    let x = Multivectors::new(upload::<f32>(&gpu, x, shape), blades, BladeAxis::Last).unwrap();
    let both = [shape[1], signature.dimension() + 1];
    let a = |shape: &[usize]| upload::<f32>(&gpu, &values.a, shape);
    let found = match function {
        FeatureFunction::Normalization => MvNormalization::new(signature, a(&both)).unwrap().forward(&x),
        FeatureFunction::LayerNorm => MvLayerNorm::new(signature, a(&both[..1])).unwrap().forward(&x),
        FeatureFunction::Silu => {
            let b = upload(&gpu, &values.b, &both);
            MvSilu::new(signature, a(&both), b).unwrap().forward(&x)
        }
    };
    compare(&read(found.unwrap().tensor()), &want, 2e-6, &format!("{name}: {prefix}"));
}
