//! Sketched linear layers: outputs and gradients by definition.

use super::setup::{assert_near, layer, wide};
use support::strided::{Lay, Placed};
use tilewise::reference::{
    SkLinearGradients, SkLinearReference, activate, activation_slope, gamma, store_tolerance,
};
use tilewise::sketch::SkLinear;
use tilewise::{Activation, Element, Fill, Gpu, Gradients, Real, Tensor, bf16, f16};

/// What the layer is by definition: the numbers that it has.
fn definition<T: Real>(layer: &SkLinear<T>) -> SkLinearReference {
    let (terms, rank) = (layer.terms(), layer.rank());
    let features = [layer.inputs(), layer.outputs()];
    let by_term = |x: Tensor<T>| {
        let split = x.contiguous().unwrap().reshape([features[0], terms, rank]).unwrap();
        wide(&split.permute(&[1, 0, 2]).unwrap())
    };
    // As the formula has them, and not rounded to T, which the kernels do not either.
    let exact = |signs: Vec<f64>| -> Vec<f64> {
        let scale = 1.0 / (rank as f64).sqrt();
        signs.into_iter().map(|x| if layer.seed().is_some() { scale.copysign(x) } else { x }).collect()
    };
    SkLinearReference {
        features,
        terms,
        rank,
        s1: by_term(layer.s1().unwrap()),
        u1: exact(wide(&layer.u1().unwrap())),
        s2: wide(&layer.s2().unwrap()),
        u2: exact(by_term(layer.u2().unwrap())),
        bias: layer.bias().map_or(Vec::new(), wide),
    }
}

/// The same layer with magnitudes, for bounds.
fn magnitudes(layer: &SkLinearReference) -> SkLinearReference {
    let abs = |x: &[f64]| x.iter().map(|x| x.abs()).collect::<Vec<f64>>();
    let l = layer;
    let [s1, u1, s2, u2, bias] = [&l.s1, &l.u1, &l.s2, &l.u2, &l.bias].map(|x| abs(x));
    SkLinearReference { s1, u1, s2, u2, bias, ..*l }
}

fn abs(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x.abs()).collect()
}

/// Errors of both products and of what is rounded between them, over the sum of magnitudes.
fn share<T: Element>(layer: &SkLinearReference, inner: usize) -> f64 {
    let between = store_tolerance(1.0, T::DTYPE);
    gamma(inner) + gamma(2 * layer.terms * layer.rank + 2) + between
}

fn check_outputs<T: Real>(gpu: &Gpu, size: [usize; 4], in_front: &[usize], lay: Lay, activation: Activation) {
    let what = format!("{} {size:?} {in_front:?} {lay:?} {activation}", T::DTYPE);
    let layer = layer::<T>(gpu, size, activation);
    let shape = [in_front, &[size[0]]].concat();
    let data = Fill::Uniform.values::<T>(shape.iter().product(), 3);
    let x = Placed::new(gpu, &data, &shape, lay);
    let y = layer.forward(&x.tensor).unwrap();
    assert_eq!(y.shape(), [in_front, &[size[1]]].concat(), "{what}");
    let definition = definition(&layer);
    let data: Vec<f64> = data.into_iter().map(Element::to_f64).collect();
    let magnitude = magnitudes(&definition).forward(&abs(&data));
    let want: Vec<f64> = definition.forward(&data).into_iter().map(|y| activate(activation, y)).collect();
    let share = share::<T>(&definition, size[0]);
    let bound = |i: usize| {
        1.2 * share * magnitude[i] + store_tolerance(want[i], T::DTYPE) + 2f64.powi(-20) * want[i].abs()
    };
    assert_near(&wide(&y), &want, bound, &what);
    x.read();
}

#[test]
fn outputs_are_those_of_the_formula_whatever_shape_and_strides() {
    let Some(gpu) = support::gpu() else { return };
    let fronts: [&[usize]; 6] = [&[], &[5], &[2, 3], &[2, 1, 4], &[2, 3, 2, 2], &[1, 2, 1, 3, 2]];
    let sizes = [[33, 17, 1, 5], [64, 48, 1, 16], [7, 70, 3, 2], [1, 1, 1, 1], [130, 3, 2, 1]];
    for (i, in_front) in fronts.into_iter().enumerate() {
        for (j, size) in sizes.into_iter().enumerate() {
            let lay = Lay::ALL[(i + j) % 5];
            match (i + j) % 7 {
                3 => check_outputs::<f16>(&gpu, size, in_front, lay, Activation::None),
                5 => check_outputs::<bf16>(&gpu, size, in_front, lay, Activation::None),
                6 => check_outputs::<f32>(&gpu, size, in_front, lay, Activation::Gelu),
                _ => check_outputs::<f32>(&gpu, size, in_front, lay, Activation::None),
            }
        }
    }
}

fn parts(gradients: &Gradients) -> [Vec<f64>; 3] {
    ["S1s", "S2s", "bias"].map(|name| gradients.get(name).map_or(Vec::new(), wide))
}

fn check_gradients<T: Real>(gpu: &Gpu, size: [usize; 4], in_front: &[usize], lay: Lay) {
    let what = format!("{} {size:?} {in_front:?} {lay:?}", T::DTYPE);
    let layer = layer::<T>(gpu, size, Activation::None);
    let rows: usize = in_front.iter().product();
    let placed = |features: usize, seed: u64| {
        let shape = [in_front, &[features]].concat();
        Placed::new(gpu, &Fill::Uniform.values::<T>(rows * features, seed), &shape, lay)
    };
    let (x, g) = (placed(size[0], 4), placed(size[1], 5));
    let hidden = layer.hidden(&x.tensor).unwrap();
    let (dx, mut gradients) = layer.backward(&x.tensor, &hidden, &g.tensor).unwrap();
    let definition = definition(&layer);
    let wide_of = |x: &Placed<T>| x.read().into_iter().map(Element::to_f64).collect::<Vec<f64>>();
    let (x64, g64) = (wide_of(&x), wide_of(&g));
    let want = definition.backward(&x64, &g64);
    let most = magnitudes(&definition).backward(&abs(&x64), &abs(&g64));
    // Two products behind one another each, over features and rows.
    let share = 1.2 * (share::<T>(&definition, size[0] + size[1] + rows) + gamma(rows));
    assert_eq!(dx.shape(), x.tensor.shape());
    let off = |i: usize| share * most.x[i] + store_tolerance(want.x[i], T::DTYPE);
    assert_near(&wide(&dx), &want.x, off, &format!("{what}: x"));
    let check = |gradients: &Gradients, times: f64| {
        let [s1, s2, bias] = parts(gradients);
        for (name, found, want, most) in [
            ("S1", s1, &want.s1, &most.s1),
            ("S2", s2, &want.s2, &most.s2),
            ("b", bias, &want.bias, &most.bias),
        ] {
            let want: Vec<f64> = want.iter().map(|x| times * x).collect();
            assert_near(
                &found,
                &want,
                |i| 2.0 * times * share * most[i],
                &format!("{what}: {name}, {times}"),
            );
        }
    };
    check(&gradients, 1.0);
    let again = layer.backward_into(&x.tensor, &hidden, &g.tensor, &mut gradients).unwrap();
    assert_eq!(wide(&again), wide(&dx), "{what}");
    check(&gradients, 2.0);
}

#[test]
fn gradients_are_those_of_the_formula_and_add_to_given_ones() {
    let Some(gpu) = support::gpu() else { return };
    check_gradients::<f32>(&gpu, [33, 17, 2, 3], &[9], Lay::Plain);
    check_gradients::<f32>(&gpu, [20, 40, 1, 16], &[3, 5], Lay::Gaps);
    check_gradients::<f32>(&gpu, [5, 4, 1, 1], &[], Lay::Plain);
    check_gradients::<f16>(&gpu, [33, 17, 1, 5], &[2, 7], Lay::Reversed);
    check_gradients::<bf16>(&gpu, [16, 24, 1, 8], &[11], Lay::Odd);
}

/// A product on the way to the gradient of x has the shape of x here, because 2TR is the number of inputs.
#[test]
fn an_assigned_gradient_is_that_of_x_and_the_others_are_added() {
    let Some(gpu) = support::gpu() else { return };
    for activation in [Activation::None, Activation::Gelu] {
        let layer = layer::<f32>(&gpu, [16, 16, 1, 8], activation);
        let [x, g] = [4, 5].map(|seed| gpu.random::<f32>([7, 16], Fill::Uniform, seed).unwrap());
        let hidden = layer.hidden(&x).unwrap();
        let (want, gradients) = layer.backward(&x, &hidden, &g).unwrap();
        let (mut dx, mut added) = (gpu.empty::<f32>([7, 16]).unwrap(), Gradients::new());
        dx.assign(|| layer.backward_into(&x, &hidden, &g, &mut added)).unwrap();
        assert_eq!(dx.to_vec().unwrap(), want.to_vec().unwrap(), "{activation}");
        assert_eq!(parts(&added), parts(&gradients), "{activation}");
    }
}

/// The slope of what is applied to outputs counts, at sums that are computed again.
#[test]
fn gradients_go_through_activations() {
    let Some(gpu) = support::gpu() else { return };
    for activation in [Activation::Gelu, Activation::Tanh] {
        let layer = layer::<f32>(&gpu, [33, 17, 2, 3], activation);
        let x = gpu.random::<f32>([2, 5, 33], Fill::Uniform, 4).unwrap();
        let g = gpu.random::<f32>([2, 5, 17], Fill::Uniform, 5).unwrap();
        let (dx, gradients) = layer.backward(&x, &layer.hidden(&x).unwrap(), &g).unwrap();
        let definition = definition(&layer);
        let sums = definition.forward(&wide(&x));
        let slopes = sums.iter().map(|&z| activation_slope(activation, z));
        let through: Vec<f64> = wide(&g).iter().zip(slopes).map(|(g, slope)| g * slope).collect();
        let want = definition.backward(&wide(&x), &through);
        let [s1, s2, bias] = parts(&gradients);
        for (found, want) in [(wide(&dx), want.x), (s1, want.s1), (s2, want.s2), (bias, want.bias)] {
            let largest = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            assert_near(&found, &want, |_| 4e-6 * largest, &activation.to_string());
        }
    }
}

/// The definition's gradients against differences of the definition: on the CPU alone.
#[test]
fn gradients_by_definition_are_differences_of_outputs() {
    let values = |len: usize, seed: u64| -> Vec<f64> {
        Fill::Uniform.values::<f32>(len, seed).into_iter().map(f64::from).collect()
    };
    let (terms, rank, features, batch) = (2, 3, [5, 4], 3);
    let layer = SkLinearReference {
        features,
        terms,
        rank,
        s1: values(30, 1),
        u1: values(24, 2),
        s2: values(24, 3),
        u2: values(30, 4),
        bias: values(4, 5),
    };
    let (x, g) = (values(batch * features[0], 6), values(batch * features[1], 7));
    let loss = |layer: &SkLinearReference, x: &[f64]| -> f64 {
        layer.forward(x).iter().zip(&g).map(|(y, g)| y * g).sum()
    };
    let SkLinearGradients { x: dx, s1, s2, bias } = layer.backward(&x, &g);
    const STEP: f64 = 1e-5;
    type Part = fn(&mut SkLinearReference) -> &mut Vec<f64>;
    let of: [(Part, &Vec<f64>); 3] = [(|l| &mut l.s1, &s1), (|l| &mut l.s2, &s2), (|l| &mut l.bias, &bias)];
    for (part, want) in of {
        for (i, want) in want.iter().enumerate() {
            let at = |step: f64| {
                let mut layer = layer.clone();
                part(&mut layer)[i] += step;
                loss(&layer, &x)
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!((slope - want).abs() < 1e-8, "[{i}]: {slope}, not {want}");
        }
    }
    for (i, want) in dx.iter().enumerate() {
        let at = |step: f64| {
            let mut x = x.clone();
            x[i] += step;
            loss(&layer, &x)
        };
        let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        assert!((slope - want).abs() < 1e-8, "x [{i}]: {slope}, not {want}");
    }
}
