//! Linear layers of multivectors.

use crate::layers::common::{U, algebras, assert_slope, dot, first, laid, near, read, upload, values};
use crate::layers::equivariance::{Layer, assert_equivariant, assert_not_equivariant, result};
use support::failure::says;
use support::strided::Lay;
use tilewise::clifford::layer::{BiasOn, MvLinear};
use tilewise::clifford::{BladeAxis, BladeOrder, Blades, Multivectors, Signature};
use tilewise::reference::{MvLinearReference, MvLinearValues, gamma, store_tolerance};
use tilewise::{Error, Gpu, Parameters, Real, bf16, f16};

/// A layer by definition, its parameters and an operand.
pub(crate) struct Case {
    pub(crate) definition: MvLinearReference,
    pub(crate) of: MvLinearValues,
    pub(crate) g: Vec<f64>,
}

impl Case {
    pub(crate) fn new<T: Real>(blades: &Blades, rows: usize, features: [usize; 2], bias_on: BiasOn) -> Self {
        let [inputs, outputs] = features;
        let signature = blades.signature();
        let n = signature.dimension();
        let has_null = signature.pqr()[2] == 1;
        let of = MvLinearValues {
            x: values::<T>(blades.len() * rows * inputs, 1),
            weight: values::<T>((n + 1) * inputs * outputs, 2),
            bias: values::<T>(outputs, 3),
            null_weight: if has_null { values::<T>(n * inputs * outputs, 4) } else { Vec::new() },
        };
        let g = values::<T>(blades.len() * rows * outputs, 5);
        Self { definition: MvLinearReference { blades: blades.clone(), rows, features, bias_on }, of, g }
    }

    pub(crate) fn layer<T: Real>(&self, gpu: &Gpu) -> MvLinear<T> {
        let MvLinearReference { blades, features: [inputs, outputs], bias_on, .. } = &self.definition;
        let n = blades.signature().dimension();
        let weight = upload(gpu, &self.of.weight, &[n + 1, *inputs, *outputs]);
        let bias = upload(gpu, &self.of.bias, &[*outputs]);
        let mut builder = MvLinear::builder(blades.signature(), weight).bias(bias, *bias_on);
        if !self.of.null_weight.is_empty() {
            builder = builder.null_weight(upload(gpu, &self.of.null_weight, &[n, *inputs, *outputs]));
        }
        builder.build().unwrap()
    }

    /// Sums of absolute values: every output is a sum over inputs of at most two products and a bias.
    pub(crate) fn magnitude(&self, x: &[f64]) -> Vec<f64> {
        let abs = |x: &[f64]| x.iter().map(|x| x.abs()).collect::<Vec<_>>();
        let of = MvLinearValues {
            x: abs(x),
            weight: abs(&self.of.weight),
            bias: abs(&self.of.bias),
            null_weight: Vec::new(),
        };
        let null = MvLinearValues {
            weight: vec![0.0; of.weight.len()],
            null_weight: abs(&self.of.null_weight),
            bias: Vec::new(),
            x: of.x.clone(),
        };
        let [plain, null] = [of, null].map(|of| self.definition.forward(&of));
        plain.iter().zip(null).map(|(a, b)| a + b.abs()).collect()
    }

    pub(crate) fn tolerance<T: Real>(&self, x: &[f64]) -> Vec<f64> {
        let k = self.definition.features[0];
        let of = |m: f64| gamma(2 * k + 4) * m + 2.0 * store_tolerance(m, T::DTYPE);
        self.magnitude(x).into_iter().map(of).collect()
    }
}

/// Forward and every gradient on the device, of operands that lie in these ways.
fn check<T: Real>(gpu: &Gpu, blades: &Blades, rows: usize, features: [usize; 2], bias_on: BiasOn, lay: Lay) {
    let case = Case::new::<T>(blades, rows, features, bias_on);
    let what = format!("{}, {rows} rows of {features:?}, {}, {lay:?}", blades.signature(), T::DTYPE);
    let layer = case.layer::<T>(gpu);
    let x = first::<T>(gpu, &case.of.x, blades, [rows, features[0]], lay);
    let y = layer.forward(&x).unwrap();
    assert_eq!(y.tensor().shape(), [blades.len(), rows, features[1]], "{what}");
    let tolerance = case.tolerance::<T>(&case.of.x);
    near(&read(y.tensor()), &case.definition.forward(&case.of), |i| tolerance[i], &format!("{what}: y"));
    let g = first::<T>(gpu, &case.g, blades, [rows, features[1]], lay);
    let (dx, of) = layer.backward(&x, &g).unwrap();
    let want = case.definition.backward(&case.of, &case.g);
    // Values are at most 1: so many terms of at most 1.
    let k = features[1] as f64;
    let most = gamma(2 * features[1] + 4) * 2.0 * k + 3.0 * store_tolerance(2.0 * k, T::DTYPE);
    near(&read(dx.tensor()), &want.x, |_| most, &format!("{what}: gradient of x"));
    let gradient = |name| of.get(name).map_or(vec![], read);
    let terms = rows * blades.len();
    let most = gamma(terms + 4) * terms as f64;
    near(&gradient("linear_weight"), &want.weight, |_| most, &format!("{what}: gradient of the weight"));
    near(&gradient("linear_bias"), &want.bias, |_| most, &format!("{what}: gradient of the bias"));
    near(
        &gradient("null_weight"),
        &want.null_weight,
        |_| most,
        &format!("{what}: gradient of the null weight"),
    );
    assert_eq!(read(layer.forward(&x).unwrap().tensor()), read(y.tensor()), "{what}: the same bits");
}

#[test]
fn definitions_have_the_slopes_that_they_say() {
    for blades in algebras().map(Signature::blades) {
        for bias_on in [BiasOn::Scalar, BiasOn::EveryBlade] {
            let Case { definition, of, g } = Case::new::<f32>(&blades, 2, [2, 3], bias_on);
            let gradients = definition.backward(&of, &g);
            let loss = |of: MvLinearValues| dot(&definition.forward(&of), &g);
            let what = format!("{}", blades.signature());
            let with = |x: &[f64]| loss(MvLinearValues { x: x.to_vec(), ..of.clone() });
            assert_slope(&of.x, &gradients.x, with, &what);
            let with = |weight: &[f64]| loss(MvLinearValues { weight: weight.to_vec(), ..of.clone() });
            assert_slope(&of.weight, &gradients.weight, with, &what);
            let with = |bias: &[f64]| loss(MvLinearValues { bias: bias.to_vec(), ..of.clone() });
            assert_slope(&of.bias, &gradients.bias, with, &what);
            let with = |null: &[f64]| loss(MvLinearValues { null_weight: null.to_vec(), ..of.clone() });
            assert_slope(&of.null_weight, &gradients.null_weight, with, &what);
        }
    }
}

#[test]
fn values_and_gradients_are_those_by_definition() {
    let Some(gpu) = support::gpu() else { return };
    let sizes = [(1, [1, 1]), (3, [3, 65]), (3, [65, 3])];
    for (i, signature) in algebras().into_iter().enumerate() {
        let (rows, features) = sizes[i % 3];
        check::<f32>(&gpu, &signature.blades(), rows, features, BiasOn::Scalar, Lay::Plain);
    }
    let [pga, space] = [Signature::PGA3D.blades(), Signature::CL3.blades()];
    check::<f32>(&gpu, &space, 3, [5, 4], BiasOn::EveryBlade, Lay::Plain);
    check::<f16>(&gpu, &pga, 3, [5, 4], BiasOn::Scalar, Lay::Plain);
    check::<bf16>(&gpu, &space, 3, [5, 4], BiasOn::EveryBlade, Lay::Plain);
    for lay in Lay::ALL {
        check::<f32>(&gpu, &pga, 3, [5, 4], BiasOn::Scalar, lay);
    }
    check::<f32>(&gpu, &pga.ordered(BladeOrder::Ascending), 3, [5, 4], BiasOn::Scalar, Lay::Plain);
    check::<f16>(&gpu, &space.ordered(BladeOrder::Ascending), 2, [4, 4], BiasOn::Scalar, Lay::Gaps);
}

#[test]
fn blades_along_the_last_axis_and_several_axes_of_rows_are_taken() {
    let Some(gpu) = support::gpu() else { return };
    let blades = Signature::PGA3D.blades();
    let case = Case::new::<f32>(&blades, 6, [3, 4], BiasOn::Scalar);
    let layer = case.layer::<f32>(&gpu);
    let want = layer.forward(&first(&gpu, &case.of.x, &blades, [6, 3], Lay::Plain)).unwrap();
    let last: Vec<f64> =
        (0..18).flat_map(|i| (0..16).map(move |k| (i, k))).map(|(i, k)| case.of.x[k * 18 + i]).collect();
    let x = Multivectors::new(upload(&gpu, &last, &[2, 3, 3, 16]), &blades, BladeAxis::Last).unwrap();
    let found = layer.forward(&x).unwrap();
    assert_eq!(found.tensor().shape(), [16, 2, 3, 4]);
    let most = case.tolerance::<f32>(&case.of.x);
    near(&read(found.tensor()), &read(want.tensor()), |i| most[i], "blades along the last axis");
    let alone = first::<f32>(&gpu, &case.of.x[..48], &blades, [1, 3], Lay::Plain);
    let alone =
        Multivectors::new(alone.tensor().reshape([16, 3]).unwrap(), &blades, BladeAxis::First).unwrap();
    assert_eq!(layer.forward(&alone).unwrap().tensor().shape(), [16, 4]);
}

#[test]
fn versors_pass_through_and_a_bias_on_every_blade_stops_them() {
    let Some(gpu) = support::gpu() else { return };
    for signature in algebras() {
        let blades = signature.blades();
        for bias_on in [BiasOn::Scalar, BiasOn::EveryBlade] {
            let case = Case::new::<f32>(&blades, 2, [3, 3], bias_on);
            let on_device = case.layer::<f32>(&gpu);
            let run =
                |x: &[f64]| result(&on_device.forward(&first(&gpu, x, &blades, [2, 3], Lay::Plain)).unwrap());
            let definition =
                |x: &[f64]| case.definition.forward(&MvLinearValues { x: x.to_vec(), ..case.of.clone() });
            let tolerance = |x: &[f64]| case.tolerance::<f32>(x);
            let layer = Layer { definition: &definition, tolerance: &tolerance, device: &run };
            match bias_on {
                BiasOn::Scalar => assert_equivariant(&layer, &blades, 6, "linear"),
                BiasOn::EveryBlade => assert_not_equivariant(&layer, &blades, 6, "bias on every blade"),
            }
        }
    }
}

#[test]
fn descent_follows_the_gradients_and_clones_keep_what_they_had() {
    let Some(gpu) = support::gpu() else { return };
    let case = Case::new::<f32>(&Signature::PGA3D.blades(), 2, [3, 4], BiasOn::Scalar);
    let mut layer = case.layer::<f32>(&gpu);
    let before = layer.clone();
    let blades = Signature::PGA3D.blades();
    let x = first::<f32>(&gpu, &case.of.x, &blades, [2, 3], Lay::Plain);
    let g = first::<f32>(&gpu, &case.g, &blades, [2, 4], Lay::Plain);
    let (_, gradients) = layer.backward(&x, &g).unwrap();
    layer.descend(&gradients, 0.125).unwrap();
    let pairs = [
        (layer.weight(), before.weight(), gradients.get("linear_weight").unwrap(), &case.of.weight),
        (
            layer.null_weight().unwrap(),
            before.null_weight().unwrap(),
            gradients.get("null_weight").unwrap(),
            &case.of.null_weight,
        ),
        (layer.bias().unwrap(), before.bias().unwrap(), gradients.get("linear_bias").unwrap(), &case.of.bias),
    ];
    for (now, before, gradient, was) in pairs {
        let want: Vec<f64> = was.iter().zip(read(gradient)).map(|(x, g)| x - 0.125 * g).collect();
        near(&read(now), &want, |i| 2.0 * U * (1.0 + want[i].abs()), "descended");
        assert_eq!(&read(before), was, "clones");
    }
    let half = layer.cast::<f16>().unwrap();
    assert_eq!((half.inputs(), half.outputs(), half.bias_on()), (3, 4, BiasOn::Scalar));
}

#[test]
fn what_is_wrong_is_refused() {
    let Some(gpu) = support::gpu() else { return };
    let space = Signature::CL3;
    let of = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let new = |shape: &[usize]| MvLinear::new(space, of(shape));
    let layer = || new(&[4, 3, 2]).unwrap();
    says(new(&[3, 3, 2]), &["a matrix for each grade"]);
    says(new(&[4, 3]), &["a matrix for each grade"]);
    says(new(&[4, 0, 2]), &["a matrix for each grade"]);
    let six = Signature::new(6, 0, 0).unwrap();
    assert!(matches!(MvLinear::new(six, of(&[7, 1, 1])), Err(Error::Input { .. })));
    let builder = || MvLinear::builder(space, of(&[4, 3, 2]));
    says(builder().bias(of(&[3]), BiasOn::Scalar).build(), &["an element for each output"]);
    says(builder().null_weight(of(&[3, 3, 2])).build(), &["Cl(3,0,0) has 0"]);
    let two = MvLinear::builder(Signature::new(1, 0, 2).unwrap(), of(&[4, 3, 2]));
    says(two.null_weight(of(&[3, 3, 2])).build(), &["Cl(1,0,2) has 2"]);
    let pga = MvLinear::builder(Signature::PGA3D, of(&[5, 3, 2]));
    says(pga.null_weight(of(&[5, 3, 2])).build(), &["(n, in, out)"]);
    let x = |signature: Signature, shape: &[usize]| {
        let values = vec![0.0; shape.iter().product()];
        Multivectors::new(
            laid::<f32>(&gpu, &values, shape, Lay::Plain),
            &signature.blades(),
            BladeAxis::First,
        )
        .unwrap()
    };
    says(layer().forward(&x(Signature::CL2, &[4, 1, 3])), &["Cl(2,0,0)"]);
    says(layer().forward(&x(space, &[8, 1, 2])), &["the layer's inputs"]);
    says(layer().forward(&x(space, &[8, 0, 3])), &["one row and one feature"]);
    says(layer().forward(&x(space, &[8])), &["axis of features"]);
    let vectors = Multivectors::new(of(&[3, 1, 3]), &space.vectors(), BladeAxis::First).unwrap();
    says(layer().forward(&vectors), &["all 8 blades"]);
    let good = x(space, &[8, 1, 3]);
    says(layer().backward(&good, &x(space, &[8, 1, 3])), &["the layer's outputs"]);
    says(layer().backward(&good, &x(space, &[8, 2, 2])), &["the rows of x"]);
    let ascending = space.blades().ordered(BladeOrder::Ascending);
    let other = Multivectors::new(of(&[8, 1, 2]), &ascending, BladeAxis::First).unwrap();
    says(layer().backward(&good, &other), &["has the blades"]);
    let (_, gradients) = layer().backward(&good, &x(space, &[8, 1, 2])).unwrap();
    says(new(&[4, 2, 2]).unwrap().descend(&gradients, 1.0), &["the shape of the parameter"]);
    let mut biased = builder().bias(of(&[2]), BiasOn::Scalar).build().unwrap();
    let (_, of_biased) = biased.backward(&good, &x(space, &[8, 1, 2])).unwrap();
    says(layer().descend(&of_biased, 1.0), &["there is no parameter `linear_bias`"]);
    biased.descend(&gradients, 1.0).unwrap(); // without a gradient, the bias stays
}
