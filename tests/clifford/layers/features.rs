//! Norms and activations of multivectors.

use crate::layers::common::{U, algebras, assert_slope, dot, first, largest, near, read, upload, values};
use crate::layers::equivariance::{Layer, assert_equivariant};
use support::failure::says;
use support::strided::Lay;
use tilewise::clifford::layer::{FeatureFunction, MvLayerNorm, MvNormalization, MvSilu};
use tilewise::clifford::{BladeAxis, BladeOrder, Blades, Multivectors, Signature, grade};
use tilewise::reference::{MvFeaturesReference, MvFeaturesValues, gamma, store_tolerance};
use tilewise::{Element, Error, Fill, Gpu, Gradients, Parameters, Real, bf16, f16};

/// A function by definition, its parameters and an operand.
struct Case {
    definition: MvFeaturesReference,
    features: usize,
    of: MvFeaturesValues,
    g: Vec<f64>,
}

/// Of the squares of a grade at a position, their sum, and that of their absolute values.
#[derive(Clone, Copy)]
struct Square {
    q: f64,
    size: f64,
}

fn square(blades: &Blades, at: impl Fn(usize) -> f64, has: impl Fn(usize) -> bool) -> Square {
    let terms = blades.masks().iter().enumerate().filter(|(_, mask)| has(grade(**mask)));
    let terms: Vec<f64> =
        terms.map(|(k, &mask)| f64::from(blades.signature().square(mask)) * at(k).powi(2)).collect();
    Square { q: terms.iter().sum(), size: terms.iter().map(|x| x.abs()).sum() }
}

/// Random multivectors (blade, position) none of whose squares cancels to less than this part, in any grade and in all.
const LEFT: f64 = 0.05;

fn values_with_squares<T: Element>(blades: &Blades, positions: usize, seed: u64) -> Vec<f64> {
    let mut draws = Fill::Uniform.values::<T>(1 << 18, seed).into_iter().map(|x| x.to_f64());
    let mut all = vec![0.0; blades.len() * positions];
    for position in 0..positions {
        let one = loop {
            let one: Vec<f64> = draws.by_ref().take(blades.len()).collect();
            assert_eq!(one.len(), blades.len(), "enough is drawn");
            let grades = 0..=blades.signature().dimension();
            let mut squares: Vec<_> = grades.map(|g| square(blades, |k| one[k], |of| of == g)).collect();
            squares.push(square(blades, |k| one[k], |_| true));
            if squares.iter().all(|of| of.size == 0.0 || (of.size > 1e-4 && of.q.abs() > LEFT * of.size)) {
                break one;
            }
        };
        one.into_iter().enumerate().for_each(|(k, x)| all[k * positions + position] = x);
    }
    all
}

impl Case {
    fn new<T: Real>(function: FeatureFunction, blades: &Blades, rows: usize, features: usize) -> Self {
        let parts = function.parts(blades);
        let of = MvFeaturesValues {
            x: values_with_squares::<T>(blades, rows * features, 1),
            a: values::<T>(features * parts, 2),
            b: if function == FeatureFunction::Silu { values::<T>(features * parts, 3) } else { Vec::new() },
        };
        let g = values::<T>(of.x.len(), 4);
        let definition = MvFeaturesReference { function, blades: blades.clone(), rows };
        Self { definition, features, of, g }
    }

    fn grades(&self) -> usize {
        self.definition.blades.signature().dimension() + 1
    }

    fn layer<T: Real>(&self, gpu: &Gpu) -> Built<T> {
        let signature = self.definition.blades.signature();
        let both = [self.features, self.grades()];
        let a = |shape: &[usize]| upload::<T>(gpu, &self.of.a, shape);
        match self.definition.function {
            FeatureFunction::Normalization => {
                Built::Normalization(MvNormalization::new(signature, a(&both)).unwrap())
            }
            FeatureFunction::LayerNorm => {
                Built::LayerNorm(MvLayerNorm::new(signature, a(&both[..1])).unwrap())
            }
            FeatureFunction::Silu => {
                let b = upload(gpu, &self.of.b, &both);
                Built::Silu(MvSilu::new(signature, a(&both), b).unwrap())
            }
        }
    }

    /// What an f32 result may be off by: squares by their terms' roundings, and what follows from them.
    fn tolerance<T: Real>(&self, x: &[f64]) -> Vec<f64> {
        let blades = &self.definition.blades;
        let plane = x.len() / blades.len();
        let off = |position: usize, g: usize| -> f64 {
            let of = |has: &dyn Fn(usize) -> bool| square(blades, |k| x[k * plane + position], has);
            let parameter = position % self.features * self.grades() + g;
            match self.definition.function {
                FeatureFunction::Normalization => {
                    let (norm, off) = norm_of(of(&|of| of == g), blades.len());
                    over(sigmoid(self.of.a[parameter]), norm, off)
                }
                FeatureFunction::Silu => {
                    let of = of(&|of| of == g);
                    let (a, b) = (self.of.a[parameter], self.of.b[parameter]);
                    let scalar = x[blades.position(0).unwrap() * plane + position];
                    let (v, off) =
                        if g == 0 { (scalar, 0.0) } else { (of.q, gamma(blades.len() + 2) * of.size) };
                    // A sigmoid's slope is at most a quarter.
                    0.25 * (a.abs() * off + 4.0 * U * ((a * v).abs() + b.abs())) + 12.0 * U
                }
                FeatureFunction::LayerNorm => {
                    let row = position / self.features * self.features;
                    let norms: Vec<(f64, f64)> = (row..row + self.features)
                        .map(|i| norm_of(square(blades, |k| x[k * plane + i], |_| true), blades.len()))
                        .collect();
                    let n = self.features as f64;
                    let mean = norms.iter().map(|of| of.0).sum::<f64>() / n + 1e-6;
                    let off = norms.iter().map(|of| of.1).sum::<f64>() / n + gamma(self.features + 4) * mean;
                    let a = self.of.a[position % self.features].abs();
                    a * (1.0 / (mean - off) - 1.0 / mean) + 4.0 * U * a / mean
                }
            }
        };
        let each = |i: usize| {
            let (k, position) = (i / plane, i % plane);
            let off = off(position, grade(blades.masks()[k])) * x[i].abs();
            off + store_tolerance(8.0 * x[i].abs() + off, T::DTYPE)
        };
        (0..x.len()).map(each).collect()
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The smooth norm, and how far it may be off.
fn norm_of(of: Square, terms: usize) -> (f64, f64) {
    let norm = |q: f64| (q * q + 1e-16).powf(0.25);
    let off = gamma(terms + 2) * of.size;
    let [low, high] = [(of.q.abs() - off).max(0.0), of.q.abs() + off].map(norm);
    let n = norm(of.q);
    (n, (high - n).max(n - low) + 16.0 * U * n)
}

/// What 1 / (s (n - 1) + 1 + 1e-6) is off by.
fn over(s: f64, norm: f64, off: f64) -> f64 {
    let divisor = s * (norm - 1.0) + 1.0 + 1e-6;
    let off = s * off + 16.0 * U * (s * (norm - 1.0).abs() + 1.0);
    1.0 / (divisor - off).max(0.0) - 1.0 / divisor + 4.0 * U / divisor
}

enum Built<T: Real> {
    Normalization(MvNormalization<T>),
    LayerNorm(MvLayerNorm<T>),
    Silu(MvSilu<T>),
}

impl<T: Real> Built<T> {
    fn forward(&self, x: &Multivectors<T>) -> tilewise::Result<Multivectors<T>> {
        match self {
            Self::Normalization(layer) => layer.forward(x),
            Self::LayerNorm(layer) => layer.forward(x),
            Self::Silu(layer) => layer.forward(x),
        }
    }

    fn backward(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> tilewise::Result<(Multivectors<T>, Gradients)> {
        Ok(match self {
            Self::Normalization(layer) => layer.backward(x, g)?,
            Self::LayerNorm(layer) => layer.backward(x, g)?,
            Self::Silu(layer) => layer.backward(x, g)?,
        })
    }
}

fn check<T: Real>(
    gpu: &Gpu,
    function: FeatureFunction,
    blades: &Blades,
    [rows, features]: [usize; 2],
    lay: Lay,
) {
    let case = Case::new::<T>(function, blades, rows, features);
    let what =
        format!("{function:?}, {}, {rows} rows of {features}, {}, {lay:?}", blades.signature(), T::DTYPE);
    let layer = case.layer::<T>(gpu);
    let x = first::<T>(gpu, &case.of.x, blades, [rows, features], lay);
    let y = layer.forward(&x).unwrap();
    let tolerance = case.tolerance::<T>(&case.of.x);
    near(&read(y.tensor()), &case.definition.forward(&case.of), |i| tolerance[i], &format!("{what}: y"));
    let g = first::<T>(gpu, &case.g, blades, [rows, features], lay);
    let (dx, of) = layer.backward(&x, &g).unwrap();
    let want = case.definition.backward(&case.of, &case.g);
    // Squares are off by their rounding over what is left of them; what follows from them, by a few times as much.
    let relative = gamma(2 * blades.len() + 32) / LEFT;
    let most = |want: &[f64], terms: usize| (relative + gamma(terms)) * largest(want).max(0.1);
    let tolerance = most(&want.x, 0) + store_tolerance(largest(&want.x), T::DTYPE);
    near(&read(dx.tensor()), &want.x, |_| tolerance, &format!("{what}: gradient of x"));
    for (name, want) in [("a", &want.a), ("b", &want.b)] {
        let Some(found) = of.get(name) else { continue };
        let tolerance = most(want, rows * blades.len());
        near(&read(found), want, |_| tolerance, &format!("{what}: gradient of {name}"));
    }
    let again = layer.backward(&x, &g).unwrap();
    assert_eq!(read(layer.forward(&x).unwrap().tensor()), read(y.tensor()), "{what}: the same bits");
    assert_eq!(read(again.0.tensor()), read(dx.tensor()), "{what}: the same bits");
    assert_eq!(of.len(), if function == FeatureFunction::Silu { 2 } else { 1 });
    for ((_, a), (_, b)) in again.1.iter().zip(of.iter()) {
        assert_eq!(read(a), read(b), "{what}: the same bits");
    }
}

#[test]
fn definitions_have_the_slopes_that_they_say() {
    for (blades, function) in
        algebras().into_iter().flat_map(|of| FeatureFunction::ALL.map(|function| (of.blades(), function)))
    {
        let Case { definition, of, g, .. } = Case::new::<f32>(function, &blades, 2, 3);
        let gradients = definition.backward(&of, &g);
        let loss = |of: MvFeaturesValues| dot(&definition.forward(&of), &g);
        let what = format!("{function:?}, {}", blades.signature());
        assert_slope(&of.x, &gradients.x, |x| loss(MvFeaturesValues { x: x.to_vec(), ..of.clone() }), &what);
        assert_slope(&of.a, &gradients.a, |a| loss(MvFeaturesValues { a: a.to_vec(), ..of.clone() }), &what);
        assert_slope(&of.b, &gradients.b, |b| loss(MvFeaturesValues { b: b.to_vec(), ..of.clone() }), &what);
    }
}

#[test]
fn values_and_gradients_are_those_by_definition() {
    let Some(gpu) = support::gpu() else { return };
    // Functions share their frame: each algebra, layout and type has one of them by turns, and all in the full sweep.
    let full = support::is_full_sweep();
    let space = Signature::CL3.blades();
    let sizes = [[1, 1], [3, 65], [65, 3]];
    for (turn, function) in FeatureFunction::ALL.into_iter().enumerate() {
        let is_turn = |i: usize| full || i % FeatureFunction::ALL.len() == turn;
        for (i, signature) in algebras().into_iter().enumerate().filter(|(i, _)| is_turn(*i)) {
            check::<f32>(&gpu, function, &signature.blades(), sizes[(i + turn) % 3], Lay::Plain);
        }
        // Strips of several rows.
        if is_turn(0) {
            check::<f32>(&gpu, function, &Signature::CL2.blades(), [700, 65], Lay::Plain);
        }
        for (_, lay) in Lay::ALL.into_iter().enumerate().filter(|(i, _)| is_turn(*i)) {
            check::<f32>(&gpu, function, &space, [3, 5], lay);
        }
        if is_turn(0) {
            check::<f16>(&gpu, function, &space, [3, 5], Lay::Plain);
        }
        if is_turn(1) {
            check::<bf16>(&gpu, function, &space, [3, 5], Lay::Gaps);
            check::<f32>(&gpu, function, &space.ordered(BladeOrder::Ascending), [3, 4], Lay::Plain);
        }
        if is_turn(2)
            && let Some(bare) = support::bare()
        {
            check::<f16>(&bare, function, &space, [3, 5], Lay::Plain);
        }
    }
}

#[test]
fn versors_pass_through() {
    let Some(gpu) = support::gpu() else { return };
    for (signature, function) in
        algebras().into_iter().flat_map(|of| FeatureFunction::ALL.map(|function| (of, function)))
    {
        let blades = signature.blades();
        let case = Case::new::<f32>(function, &blades, 2, 3);
        let on_device = case.layer::<f32>(&gpu);
        let run = |x: &[f64]| {
            read(on_device.forward(&first(&gpu, x, &blades, [2, 3], Lay::Plain)).unwrap().tensor())
        };
        let definition =
            |x: &[f64]| case.definition.forward(&MvFeaturesValues { x: x.to_vec(), ..case.of.clone() });
        let tolerance = |x: &[f64]| case.tolerance::<f32>(x);
        let layer = Layer { definition: &definition, tolerance: &tolerance, device: &run };
        assert_equivariant(&layer, &blades, 6, &format!("{function:?}"));
    }
}

#[test]
fn large_values_have_norms() {
    let Some(gpu) = support::gpu() else { return };
    let blades = Signature::CL2.blades();
    let a = gpu.tensor(&[0.0f32; 3], [1, 3]).unwrap();
    let layer = MvNormalization::new(Signature::CL2, a).unwrap();
    let x = first::<f32>(&gpu, &[0.0, 3e15, 4e15, 0.0], &blades, [1, 1], Lay::Plain);
    let y = read(layer.forward(&x).unwrap().tensor()); // over (5e15 + 1) / 2
    near(&y, &[0.0, 1.2, 1.6, 0.0], |_| 1e-5, "a vector of 5e15");
}

#[test]
fn what_is_wrong_is_refused() {
    let Some(gpu) = support::gpu() else { return };
    let space = Signature::CL3;
    let of = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    says(MvNormalization::new(space, of(&[3, 3])), &["every grade"]);
    says(MvNormalization::new(space, of(&[0, 4])), &["every grade"]);
    says(MvLayerNorm::new(space, of(&[3, 4])), &["(features)"]);
    says(MvSilu::new(space, of(&[3, 4]), of(&[2, 4])), &["the same number of features"]);
    let six = Signature::new(6, 0, 0).unwrap();
    assert!(matches!(MvLayerNorm::new(six, of(&[1])), Err(Error::Input { .. })));
    let norm = MvLayerNorm::new(space, of(&[3])).unwrap();
    let x = |signature: Signature, shape: &[usize]| {
        Multivectors::new(of(shape), &signature.blades(), BladeAxis::First).unwrap()
    };
    says(norm.forward(&x(Signature::CL2, &[4, 1, 3])), &["Cl(2,0,0)"]);
    says(norm.forward(&x(space, &[8, 1, 2])), &["the number of features that the layer has"]);
    says(norm.forward(&x(space, &[8, 0, 3])), &["one row and one feature"]);
    let vectors = Multivectors::new(of(&[3, 1, 3]), &space.vectors(), BladeAxis::First).unwrap();
    says(norm.forward(&vectors), &["all 8 blades"]);
    let good = x(space, &[8, 1, 3]);
    says(norm.backward(&good, &x(space, &[8, 2, 3])), &["the same rows"]);
    let ascending = space.blades().ordered(BladeOrder::Ascending);
    let other = Multivectors::new(of(&[8, 1, 3]), &ascending, BladeAxis::First).unwrap();
    says(norm.backward(&good, &other), &["have the blades"]);
    let mut gradients = Gradients::new();
    gradients.add("a", of(&[2])).unwrap();
    says(norm.clone().descend(&gradients, 1.0), &["the gradient of `a` must have the shape"]);
    let Some(other) = support::own(|_| ()) else { return };
    let b = other.zeros::<f32>([3, 4]).unwrap();
    assert!(matches!(MvSilu::new(space, of(&[3, 4]), b), Err(Error::Gpu { .. })));
}

#[test]
fn one_launch_forward_and_two_back() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let blades = Signature::CL3.blades();
    for function in FeatureFunction::ALL {
        let case = Case::new::<f32>(function, &blades, 3, 5);
        let layer = case.layer::<f32>(&gpu);
        let x = first::<f32>(&gpu, &case.of.x, &blades, [3, 5], Lay::Plain);
        let before = gpu.stats().launches;
        layer.forward(&x).unwrap();
        let between = gpu.stats().launches;
        layer.backward(&x, &x).unwrap();
        assert_eq!([between - before, gpu.stats().launches - between], [1, 2], "{function:?}");
    }
}

#[test]
fn descent_follows_the_gradients() {
    let Some(gpu) = support::gpu() else { return };
    let of = |x: f32| gpu.tensor(&[x; 8], [2, 4]).unwrap();
    let mut silu = MvSilu::new(Signature::CL3, of(1.0), of(2.0)).unwrap();
    let mut gradients = Gradients::new();
    gradients.add("a", of(4.0)).unwrap();
    gradients.add("b", of(-4.0)).unwrap();
    silu.descend(&gradients, 0.25).unwrap();
    assert_eq!([silu.a(), silu.b()].map(read), [vec![0.0; 8], vec![3.0; 8]]);
}
