//! Whole layers: against flash-clifford's, by definition, under versors, and in files.

use crate::layers::common::{algebras, first, largest, near, read, upload, values};
use crate::layers::equivariance::{Layer, assert_equivariant, assert_not_equivariant};
use crate::layers::linear;
use support::failure::says;
use support::strided::Lay;
use tilewise::clifford::layer::{
    BiasOn, CliffordLayer, GradeNorm, LayerProduct, MvLinear, ProductKind, Residual,
};
use tilewise::clifford::{BladeAxis, Blades, Multivectors, Signature};
use tilewise::io::{self, SafetensorsWriter};
use tilewise::reference::{
    BoundedValues, LayerProductReference, MvLinearReference, MvLinearValues, gamma, store_tolerance,
};
use tilewise::{Element, Error, Gpu, Parameters, Real, bf16, f16};

/// A layer by definition.
pub(crate) struct Definition {
    pub(crate) product: LayerProductReference,
    pub(crate) kind: ProductKind,
    pub(crate) linear: MvLinearReference,
    pub(crate) residual: Residual,
    /// The linear layer's parameters; of x nothing.
    pub(crate) of: MvLinearValues,
    pub(crate) weight: Vec<f64>,
}

/// The gradients of a layer by definition.
pub(crate) struct Gradients {
    pub(crate) linear: MvLinearValues,
    pub(crate) weight: Vec<f64>,
}

impl Definition {
    pub(crate) fn forward(&self, x: &[f64]) -> Vec<f64> {
        let y = self.linear.forward(&self.of(x));
        let mut out = match self.kind {
            ProductKind::Steerable => self.product.steerable(x, &y, &self.weight),
            ProductKind::Connected => self.product.connected(x, &y, &self.weight),
        };
        if self.residual == Residual::Operand {
            out.iter_mut().zip(x).for_each(|(out, x)| *out += x);
        }
        out
    }

    /// The gradients; of x as that of the linear layer's x.
    pub(crate) fn backward(&self, x: &[f64], g: &[f64]) -> Gradients {
        let of = self.of(x);
        let y = self.linear.forward(&of);
        let product = match self.kind {
            ProductKind::Steerable => self.product.steerable_backward(x, &y, &self.weight, g),
            ProductKind::Connected => self.product.connected_backward(x, &y, &self.weight, g),
        };
        let mut linear = self.linear.backward(&of, &product.y);
        for (i, x) in linear.x.iter_mut().enumerate() {
            *x += product.x[i] + if self.residual == Residual::Operand { g[i] } else { 0.0 };
        }
        Gradients { linear, weight: product.weight }
    }

    fn of(&self, x: &[f64]) -> MvLinearValues {
        MvLinearValues { x: x.to_vec(), ..self.of.clone() }
    }

    /// The layer's values, and how far f32 may be from them.
    fn bounded(&self, x: &[f64]) -> BoundedValues {
        let linear = linear::Case { definition: self.linear.clone(), of: self.of.clone(), g: Vec::new() };
        let y =
            BoundedValues { values: self.linear.forward(&self.of(x)), bounds: linear.tolerance::<f32>(x) };
        let out = self.product.bounded(self.kind, &BoundedValues::exact(x), &y, &self.weight);
        if self.residual == Residual::Operand { out.plus(x) } else { out }
    }
}

/// A layer at random, and the same by definition.
fn built<T: Real>(
    gpu: &Gpu,
    product: LayerProduct,
    kind: ProductKind,
    residual: Residual,
    rows: usize,
    features: [usize; 2],
) -> (CliffordLayer<T>, Definition) {
    let signature = product.signature;
    let builder = CliffordLayer::<T>::builder(product, kind).residual(residual).seed(7);
    let layer = builder.random::<T>(gpu, features).unwrap();
    let inputs = features[0];
    let bias = upload(gpu, &values::<T>(inputs, 9), &[inputs]);
    let weight = layer.linear().weight().clone();
    let mut linear = MvLinear::builder(signature, weight).bias(bias, BiasOn::Scalar);
    if signature.pqr()[2] == 1 {
        let n = signature.dimension();
        let null = upload(gpu, &values::<T>(n * inputs * inputs, 8), &[n, inputs, inputs]);
        linear = linear.null_weight(null);
    }
    let layer = builder.from_parts(linear.build().unwrap(), layer.weight().clone()).unwrap();
    let definition = definition(&layer, &signature.blades(), rows);
    (layer, definition)
}

fn definition<T: Real>(layer: &CliffordLayer<T>, blades: &Blades, rows: usize) -> Definition {
    let linear = layer.linear();
    Definition {
        product: LayerProductReference::new(layer.product(), blades, rows),
        kind: layer.kind(),
        linear: MvLinearReference {
            blades: blades.clone(),
            rows,
            features: [layer.inputs(), layer.inputs()],
            bias_on: linear.bias_on(),
        },
        residual: layer.residual(),
        of: MvLinearValues {
            x: Vec::new(),
            weight: read(linear.weight()),
            bias: read(linear.bias().unwrap()),
            null_weight: linear.null_weight().map_or(Vec::new(), read),
        },
        weight: read(layer.weight()),
    }
}

/// What sums of so many terms are off by in f32, behind one another: the linear map, the product with its gates, the norm.
fn relative<T: Element>(blades: usize, features: usize) -> f64 {
    gamma(4 * blades + 4 * features + 64) + 8.0 * store_tolerance(1.0, T::DTYPE)
}

fn check<T: Real>(
    gpu: &Gpu,
    product: LayerProduct,
    kind: ProductKind,
    residual: Residual,
    rows: usize,
    features: [usize; 2],
) {
    let blades = product.signature.blades();
    let (layer, definition) = built::<T>(gpu, product, kind, residual, rows, features);
    let what = format!("{kind:?}, {residual:?}, {product:?}, {rows} rows of {features:?}, {}", T::DTYPE);
    let x = values::<T>(blades.len() * rows * features[0], 1);
    let g = values::<T>(blades.len() * rows * features[1], 2);
    let placed = first::<T>(gpu, &x, &blades, [rows, features[0]], Lay::Plain);
    let y = layer.forward(&placed).unwrap();
    let want = definition.forward(&x);
    let relative = relative::<T>(blades.len(), features[0]);
    let most = |want: &[f64], terms: usize| (relative + gamma(terms)) * largest(want).max(1.0);
    near(&read(y.tensor()), &want, |_| most(&want, 0), &format!("{what}: y"));
    let placed_g = first::<T>(gpu, &g, &blades, [rows, features[1]], Lay::Plain);
    let (dx, of) = layer.backward(&placed, &placed_g).unwrap();
    let want = definition.backward(&x, &g);
    let gradient = |name| of.get(name).map_or(vec![], read);
    let pairs = [
        (read(dx.tensor()), &want.linear.x),
        (gradient("linear_weight"), &want.linear.weight),
        (gradient("linear_bias"), &want.linear.bias),
        (gradient("null_weight"), &want.linear.null_weight),
        (gradient("gp_weight"), &want.weight),
    ];
    for (i, (found, want)) in pairs.iter().enumerate() {
        let most = 4.0 * most(want, rows * blades.len());
        near(found, want, |_| most, &format!("{what}: gradient of {i}"));
    }
    assert_eq!(read(layer.forward(&placed).unwrap().tensor()), read(y.tensor()), "{what}: the same bits");
}

#[test]
fn values_and_gradients_are_those_by_definition() {
    let Some(gpu) = support::gpu() else { return };
    // Every algebra with one of the kinds, whose products have tests of their own.
    let full = support::is_full_sweep();
    let kinds = [(ProductKind::Steerable, [5, 5]), (ProductKind::Connected, [3, 5])];
    for (turn, (kind, features)) in kinds.into_iter().enumerate() {
        for (_, signature) in algebras().into_iter().enumerate().filter(|(i, _)| full || i % 2 == turn) {
            let invariant = LayerProduct::new(signature).norm(GradeNorm::Invariant);
            check::<f32>(&gpu, invariant, kind, Residual::None, 3, features);
        }
        let space = LayerProduct::new(Signature::CL3);
        check::<f32>(&gpu, space, kind, Residual::Operand, 3, [4, 4]);
        check::<f32>(&gpu, space, kind, Residual::Operand, 1, [1, 1]);
        if full || kind == ProductKind::Steerable {
            check::<f16>(&gpu, space, kind, Residual::None, 3, [4, 4]);
        }
        if full || kind == ProductKind::Connected {
            check::<bf16>(&gpu, space, kind, Residual::Operand, 3, [4, 4]);
        }
    }
}

#[test]
fn versors_pass_through_and_a_bias_on_every_blade_stops_them() {
    let Some(gpu) = support::gpu() else { return };
    for (kind, signature) in [ProductKind::Steerable, ProductKind::Connected]
        .into_iter()
        .flat_map(|kind| algebras().map(|signature| (kind, signature)))
    {
        let blades = signature.blades();
        let product = LayerProduct::new(signature).norm(GradeNorm::Invariant);
        let (layer, _) = built::<f32>(&gpu, product, kind, Residual::Operand, 2, [3, 3]);
        for bias_on in [BiasOn::Scalar, BiasOn::EveryBlade] {
            let (bias, weight) = (layer.linear().bias().unwrap(), layer.linear().weight());
            let mut linear = MvLinear::builder(signature, weight.clone()).bias(bias.clone(), bias_on);
            if let Some(null) = layer.linear().null_weight() {
                linear = linear.null_weight(null.clone());
            }
            let linear = linear.build().unwrap();
            let builder = CliffordLayer::<f32>::builder(product, kind).residual(Residual::Operand);
            let layer = builder.from_parts(linear, layer.weight().clone()).unwrap();
            let definition = definition(&layer, &blades, 2);
            let run = |x: &[f64]| {
                read(layer.forward(&first(&gpu, x, &blades, [2, 3], Lay::Plain)).unwrap().tensor())
            };
            let tolerance = |x: &[f64]| definition.bounded(x).bounds;
            let of = |x: &[f64]| definition.forward(x);
            let layer = Layer { definition: &of, tolerance: &tolerance, device: &run };
            match bias_on {
                BiasOn::Scalar => assert_equivariant(&layer, &blades, 6, &format!("{kind:?}")),
                BiasOn::EveryBlade if signature.dimension() <= 3 => {
                    assert_not_equivariant(&layer, &blades, 6, &format!("{kind:?}"));
                }
                BiasOn::EveryBlade => {}
            }
        }
    }
}

#[test]
fn descent_lowers_a_loss() {
    let Some(gpu) = support::gpu() else { return };
    for kind in [ProductKind::Steerable, ProductKind::Connected] {
        let blades = Signature::CL3.blades();
        let (mut layer, _) =
            built::<f32>(&gpu, LayerProduct::new(Signature::CL3), kind, Residual::Operand, 6, [3, 3]);
        let x = values::<f32>(8 * 18, 1);
        let want = values::<f32>(8 * 18, 2);
        let placed = first::<f32>(&gpu, &x, &blades, [6, 3], Lay::Plain);
        let mut losses = Vec::new();
        for _ in 0..20 {
            let out = read(layer.forward(&placed).unwrap().tensor());
            let off: Vec<f64> = out.iter().zip(&want).map(|(a, b)| a - b).collect();
            losses.push(off.iter().map(|x| x * x).sum::<f64>());
            let g = first::<f32>(&gpu, &off, &blades, [6, 3], Lay::Plain);
            let (_, gradients) = layer.backward(&placed, &g).unwrap();
            layer.descend(&gradients, 0.004).unwrap();
        }
        assert!(losses[19] < 0.8 * losses[0], "{kind:?}: {losses:?}");
    }
}

#[test]
fn weights_are_drawn_as_stated() {
    let Some(gpu) = support::gpu() else { return };
    let product = LayerProduct::new(Signature::CL3);
    let deviation = |x: &[f64]| (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).sqrt();
    for (kind, want) in [(ProductKind::Steerable, 0.5), (ProductKind::Connected, 0.5 / 8.0)] {
        let builder = CliffordLayer::<f32>::builder(product, kind).seed(3);
        let layer = builder.random::<f32>(&gpu, [64, 64]).unwrap();
        let again = builder.random::<f32>(&gpu, [64, 64]).unwrap();
        let other = builder.seed(4).random::<f32>(&gpu, [64, 64]).unwrap();
        assert_eq!(read(layer.weight()), read(again.weight()));
        assert_ne!(read(layer.weight()), read(other.weight()));
        // So many numbers have a deviation within five of its own, 1 / sqrt(2 n).
        for (values, want) in [(read(layer.linear().weight()), 0.125), (read(layer.weight()), want)] {
            let within = 5.0 / (2.0 * values.len() as f64).sqrt();
            assert!((deviation(&values) / want - 1.0).abs() < within, "{kind:?}: {}", deviation(&values));
        }
        assert!(read(layer.linear().bias().unwrap()).iter().all(|x| *x == 0.0));
    }
}

#[test]
fn files_have_the_names_of_others_and_say_all_that_is_wrong() {
    let Some(gpu) = support::gpu() else { return };
    let path = std::env::temp_dir().join(format!("tilewise-layers-{}.safetensors", std::process::id()));
    let written = |file: SafetensorsWriter| {
        file.write(&path).unwrap();
        let file = io::Safetensors::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file
    };
    for kind in [ProductKind::Steerable, ProductKind::Connected] {
        let product = LayerProduct::new(Signature::PGA3D);
        let (layer, _) = built::<f32>(&gpu, product, kind, Residual::None, 1, [3, 3]);
        let file = layer.save(SafetensorsWriter::new(), "layers.0.").unwrap();
        let other = pollster::block_on(layer.save_async(SafetensorsWriter::new(), "layers.0.")).unwrap();
        assert!(other.to_bytes().unwrap() == file.to_bytes().unwrap(), "without blocking, the same file");
        let file = written(file);
        let names = ["gp_weight", "linear_bias", "linear_weight", "null_weight"];
        assert_eq!(file.names(), names.map(|name| format!("layers.0.{name}")));
        assert_eq!(file.shape("layers.0.linear_bias").unwrap(), [1, 1, 3]);
        let builder = CliffordLayer::<f32>::builder(product, kind);
        let loaded = builder.load::<f32>(&file, &gpu, "layers.0.").unwrap();
        for ((name, saved), (_, loaded)) in layer.parameters().into_iter().zip(loaded.parameters()) {
            assert_eq!(read(saved), read(loaded), "{name}");
        }
        let error = says(builder.load::<f16>(&file, &gpu, "layers.0."), &[]).to_string();
        assert!(
            names.iter().all(|name| error.contains(&format!("layers.0.{name}` does not have the type f16"))),
            "{error}"
        );
    }
    let of = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let bad = SafetensorsWriter::new().tensor("a.linear_weight", &of(&[4, 3, 3])).unwrap();
    let bad =
        bad.tensor("a.linear_bias", &of(&[2])).unwrap().tensor("a.null_weight", &of(&[3, 3, 3])).unwrap();
    let bad = written(bad.tensor("a.more", &of(&[1])).unwrap().tensor("b.other", &of(&[1])).unwrap());
    let builder = CliffordLayer::<f32>::builder(LayerProduct::new(Signature::CL3), ProductKind::Steerable);
    let error = says(builder.load::<f32>(&bad, &gpu, "a."), &[]).to_string();
    for said in [
        "`a.linear_bias` is [2], not (1, 1, 3)",
        "`a.gp_weight` is missing",
        "`a.null_weight` is not a tensor of the layer",
        "`a.more` is not a tensor of the layer",
    ] {
        assert!(error.contains(said), "{error}");
    }
    assert!(!error.contains("b.other") && !error.contains("linear_weight"), "{error}");
    let plain = SafetensorsWriter::new().tensor("linear_weight", &of(&[4, 3, 3])).unwrap();
    let plain = plain.tensor("linear_bias", &of(&[3])).unwrap().tensor("gp_weight", &of(&[3, 20])).unwrap();
    assert!(builder.load::<f32>(&written(plain), &gpu, "").is_ok(), "a bias (out)");
}

#[test]
fn what_is_wrong_is_refused() {
    let Some(gpu) = support::gpu() else { return };
    let space = Signature::CL3;
    let of = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let steerable = CliffordLayer::<f32>::builder(LayerProduct::new(space), ProductKind::Steerable);
    let connected = CliffordLayer::<f32>::builder(LayerProduct::new(space), ProductKind::Connected);
    let linear = |signature: Signature, features: [usize; 2]| {
        let weight = of(&[signature.dimension() + 1, features[0], features[1]]);
        MvLinear::builder(signature, weight).bias(of(&features[1..]), BiasOn::Scalar).build().unwrap()
    };
    let good = || linear(space, [3, 3]);
    says(steerable.random::<f32>(&gpu, [0, 3]), &["features in and out"]);
    says(steerable.random::<f32>(&gpu, [2, 3]), &["(features, paths)"]);
    let residual = connected.residual(Residual::Operand);
    says(residual.random::<f32>(&gpu, [2, 3]), &["with a residual"]);
    let six = LayerProduct::new(Signature::new(6, 0, 0).unwrap());
    let six = CliffordLayer::<f32>::builder(six, ProductKind::Steerable);
    assert!(matches!(six.random::<f32>(&gpu, [1, 1]), Err(Error::Input { .. })));
    says(steerable.from_parts(good(), of(&[3, 19])), &["(features, paths)"]);
    says(connected.from_parts(good(), of(&[3, 20])), &["(paths, in, out)"]);
    says(connected.from_parts(good(), of(&[20, 3, 0])), &["(paths, in, out)"]);
    says(steerable.from_parts(linear(Signature::CL2, [3, 3]), of(&[3, 20])), &["Cl(2,0,0)"]);
    says(
        steerable.from_parts(linear(space, [3, 2]), of(&[3, 20])),
        &["the same number of features in and out"],
    );
    let bare = MvLinear::new(space, of(&[4, 3, 3])).unwrap();
    says(steerable.from_parts(bare, of(&[3, 20])), &["must have a bias"]);
    let layer = steerable.from_parts(good(), of(&[3, 20])).unwrap();
    let x = |shape: &[usize]| Multivectors::new(of(shape), &space.blades(), BladeAxis::First).unwrap();
    says(layer.forward(&x(&[8, 1, 2])), &["the layer's inputs"]);
    says(layer.forward(&x(&[8, 0, 3])), &["one row and one feature"]);
    let Some(other) = support::own(|_| ()) else { return };
    let elsewhere = other.zeros::<f32>([3, 20]).unwrap();
    assert!(matches!(steerable.from_parts(good(), elsewhere), Err(Error::Gpu { .. })));
}
