//! Whole layers of flash-clifford.

use crate::layers::common::{first, largest, near, read, upload};
use crate::layers::module::Definition;
use std::path::Path;
use support::safetensors::Safetensors;
use support::strided::Lay;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{BiasOn, CliffordLayer, LayerProduct, MvLinear, ProductKind, Residual};
use tilewise::reference::{LayerProductReference, MvLinearReference, MvLinearValues};

/// flash-clifford's layers, whose bias is on every blade.
#[test]
fn layers_of_flash_clifford() {
    let mut checked = 0;
    for path in support::oracles::files("clifford", &["safetensors"]) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name.starts_with("layer_") {
            flash_clifford(&path, &name);
            checked += 1;
        }
    }
    assert!(checked >= 1);
}

fn flash_clifford(path: &Path, name: &str) {
    let file = Safetensors::read(path);
    let (shape, x) = file.reals("x");
    let &[_, rows, features] = &shape[..] else { panic!("{name}: {shape:?}") };
    let (_, g) = file.reals("grad_out");
    let blades = Signature::CL2.blades();
    for (prefix, kind) in [("sgp.", ProductKind::Steerable), ("fcgp.", ProductKind::Connected)] {
        let of = |part: &str| file.reals(&format!("{prefix}{part}")).1;
        let what = format!("{name}: {prefix}");
        let definition = Definition {
            product: LayerProductReference::new(LayerProduct::new(Signature::CL2), &blades, rows),
            kind,
            linear: MvLinearReference {
                blades: blades.clone(),
                rows,
                features: [features, features],
                bias_on: BiasOn::EveryBlade,
            },
            residual: Residual::None,
            of: MvLinearValues { weight: of("linear_weight"), bias: of("linear_bias"), ..Default::default() },
            weight: of("gp_weight"),
        };
        let compare = |found: &[f64], part: &str, relative: f64| {
            let want = of(part);
            near(found, &want, |_| relative * largest(&want), &format!("{what} {part}"));
        };
        let gradients = definition.backward(&x, &g);
        compare(&definition.forward(&x), "out", 1e-6);
        compare(&gradients.linear.x, "grad_x", 1e-6);
        compare(&gradients.weight, "grad_gp_weight", 1e-6);
        compare(&gradients.linear.weight, "grad_linear_weight", 1e-6);
        compare(&gradients.linear.bias, "grad_linear_bias", 1e-6);
        let Some(gpu) = support::gpu() else { continue };
        let relative = if kind == ProductKind::Steerable { 2e-6 } else { 5e-6 };
        let upload = |part: &str, shape: &[usize]| upload::<f32>(&gpu, &of(part), shape);
        let linear = MvLinear::builder(Signature::CL2, upload("linear_weight", &[3, features, features]));
        let linear = linear.bias(upload("linear_bias", &[features]), BiasOn::EveryBlade).build().unwrap();
        let weight = match kind {
            ProductKind::Steerable => upload("gp_weight", &[features, 10]),
            ProductKind::Connected => upload("gp_weight", &[10, features, features]),
        };
        let builder = CliffordLayer::<f32>::builder(LayerProduct::new(Signature::CL2), kind);
        let layer = builder.from_parts(linear, weight).unwrap();
        let [x, g] = [&x, &g].map(|x| first::<f32>(&gpu, x, &blades, [rows, features], Lay::Plain));
        compare(&read(layer.forward(&x).unwrap().tensor()), "out", relative);
        let (dx, of) = layer.backward(&x, &g).unwrap();
        compare(&read(dx.tensor()), "grad_x", relative);
        for name in ["gp_weight", "linear_weight", "linear_bias"] {
            compare(&read(of.get(name).unwrap()), &format!("grad_{name}"), relative);
        }
    }
}
