//! What Panther's own code computed of sketched linear layers: what a file holds says how it is checked.

use std::cell::RefCell;
use std::collections::BTreeSet;
use support::oracles::assert_near;
use support::safetensors::Safetensors;
use support::sketches::small;
use tilewise::gemm::GemmKernel;
use tilewise::planning::gemm::Pin;
use tilewise::planning::sketch::pinned_layer;
use tilewise::reference::{SkLinearGradients, SkLinearReference};
use tilewise::sketch::SkLinear;
use tilewise::{Activation, Element, Error, Fill, Gpu, Real, Tensor, f16, matmul};

/// Of f32, relative to the largest value; of operands of f16, absolute: the vectors' README says both.
const F32: f64 = 2e-6;
const F16: f64 = 3e-4;
/// The kernels that real operands may have, in tiles that software drivers compile quickly.
fn pins() -> [Pin; 4] {
    let coop = GemmKernel::Coop.tiles().last().unwrap();
    [Pin::Kernel(GemmKernel::Naive), Pin::Kernel(GemmKernel::Gemv), Pin::Tile(small()), Pin::Tile(*coop)]
}

pub(crate) fn sklinear(gpu: &Gpu, file: &Safetensors, name: &str) {
    let has = |tensor: &str| has(file, tensor);
    if has("rows") {
        variance_law(gpu, file, name);
    } else if has("W") {
        module(gpu, file, name);
    } else if has("S1s") {
        stored(gpu, file, name);
    } else if has("y_interm_fp16") {
        halves(gpu, file, name);
    } else {
        seeded(gpu, file, name);
    }
}

fn has(file: &Safetensors, tensor: &str) -> bool {
    file.names().iter().any(|name| name == tensor)
}

/// A layer's sizes, operands and parameters in f64.
struct Case {
    layer: SkLinearReference,
    x: Vec<f64>,
    g: Vec<f64>,
    /// Of x without its last axis.
    in_front: Vec<usize>,
}

impl Case {
    fn read(file: &Safetensors) -> Self {
        let ((s1_shape, s1), (s2_shape, s2)) = (file.reals("S1s"), file.reals("S2s"));
        let [terms, inputs, rank] = s1_shape[..] else { panic!("{s1_shape:?}") };
        let (x_shape, x) = file.reals("x");
        let bias = if file.names().iter().any(|n| n == "bias") { file.reals("bias").1 } else { Vec::new() };
        let layer = SkLinearReference {
            features: [inputs, s2_shape[2]],
            terms,
            rank,
            s1,
            u1: file.reals("U1s").1,
            s2,
            u2: file.reals("U2s").1,
            bias,
        };
        Self { layer, x, g: file.reals("g").1, in_front: x_shape[..x_shape.len() - 1].to_vec() }
    }

    /// The portable inputs of the README, from the file's sizes and seed.
    fn seeded(file: &Safetensors) -> Self {
        let size = |key: &str| file.metadata(key).unwrap().parse::<usize>().unwrap();
        let [batch, inputs, outputs, terms, rank] = ["B", "I", "O", "T", "R"].map(size);
        let seed = size("seed") as u64;
        let scale = 2f64.powf(-(inputs.max(outputs) as f64).sqrt().log2().ceil());
        #[expect(clippy::cast_possible_truncation, reason = "as the README has it")]
        let sign = f64::from((1.0 / (rank as f64).sqrt()) as f32);
        let uniform = |part: u64, scale: f64, len: usize| {
            (0..len as u64).map(|i| uniform(seed + part, i) * scale).collect::<Vec<f64>>()
        };
        let signs = |part: u64, len: usize| {
            let word = |i: u64| splitmix(seed + part, i) >> 63;
            (0..len as u64).map(|i| if word(i) == 0 { sign } else { -sign }).collect::<Vec<f64>>()
        };
        // Files of f16 do not say: theirs have one.
        let biased = file.metadata("bias") != Some("0");
        let layer = SkLinearReference {
            features: [inputs, outputs],
            terms,
            rank,
            s1: uniform(2, scale, terms * inputs * rank),
            s2: uniform(3, scale, terms * rank * outputs),
            u1: signs(4, terms * rank * outputs),
            u2: signs(5, terms * inputs * rank),
            bias: if biased { uniform(6, 1.0, outputs) } else { Vec::new() },
        };
        let (x, g) = (uniform(1, 1.0, batch * inputs), uniform(7, 1.0, batch * outputs));
        Self { layer, x, g, in_front: vec![batch] }
    }

    /// What the README projects on.
    fn vector(file: &Safetensors, part: u64, len: usize) -> Vec<f64> {
        let seed: u64 = file.metadata("seed").unwrap().parse().unwrap();
        (0..len as u64).map(|i| uniform(seed + part, i)).collect()
    }

    fn upload<T: Real>(&self, gpu: &Gpu) -> (SkLinear<T>, Tensor<T>, Tensor<T>) {
        let SkLinearReference { features: [inputs, outputs], terms, rank, .. } = self.layer;
        let (into, out_of) = ([terms, inputs, rank], [terms, rank, outputs]);
        let tensor = |values: &[f64], shape: &[usize]| {
            gpu.tensor(&values.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>(), shape).unwrap()
        };
        let l = &self.layer;
        let factors =
            [tensor(&l.s1, &into), tensor(&l.u1, &out_of), tensor(&l.s2, &out_of), tensor(&l.u2, &into)];
        let bias = (!l.bias.is_empty()).then(|| tensor(&l.bias, &[outputs]));
        let layer = SkLinear::from_factors(factors.each_ref(), bias.as_ref(), Activation::None).unwrap();
        let rows = |features: usize| [&self.in_front[..], &[features]].concat();
        (layer, tensor(&self.x, &rows(inputs)), tensor(&self.g, &rows(outputs)))
    }
}

fn splitmix(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn uniform(seed: u64, i: u64) -> f64 {
    (splitmix(seed, i) >> 40) as f64 * 2f64.powi(-23) - 1.0
}

fn wide<T: Element>(x: &Tensor<T>) -> Vec<f64> {
    x.to_vec().unwrap().into_iter().map(Element::to_f64).collect()
}

/// Within the tolerance, relative to the largest value.
fn near(found: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_near(found, want, tolerance * largest(want), what);
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |most, x| most.max(x.abs()))
}

/// The gradients with Panther's shapes.
fn gradients(layer: &SkLinear<f32>, x: &Tensor<f32>, g: &Tensor<f32>) -> tilewise::Result<SkLinearGradients> {
    let (dx, of) = layer.backward(x, &layer.hidden(x)?, g)?;
    let [s1, s2, bias] = ["S1s", "S2s", "bias"].map(|name| of.get(name).map_or(Vec::new(), wide));
    Ok(SkLinearGradients { x: wide(&dx), s1, s2, bias })
}

/// Runs a check with each of these kernels that can have all of its products, and tells which.
fn with_kernels(what: &str, pins: &[Pin], check: impl Fn(Pin) -> tilewise::Result<()>) {
    let mut ran = Vec::new();
    for &pin in pins {
        match check(pin) {
            Ok(()) => ran.push(pin),
            Err(Error::Unsupported { .. }) => {}
            Err(error) => panic!("{what}, {pin:?}: {error}"),
        }
    }
    println!("{what}: {ran:?}");
    let always = [pins.first(), pins.iter().find(|&&pin| pin == Pin::Tile(small()))];
    assert!(always.into_iter().flatten().all(|pin| ran.contains(pin)), "{what}: {ran:?}");
}

/// A layer whose operands the file holds, and of its outputs and gradients what it holds.
fn stored(gpu: &Gpu, file: &Safetensors, name: &str) {
    let case = Case::read(file);
    let want = case.layer.backward(&case.x, &case.g);
    let y = case.layer.forward(&case.x);
    for (part, values, tolerance) in [
        ("y", &y, 1e-14),
        ("y_panther_f32", &y, F32),
        ("grad_x", &want.x, 1e-13),
        ("grad_S1s", &want.s1, 1e-13),
        ("grad_S2s", &want.s2, 1e-13),
        ("grad_bias", &want.bias, 1e-14),
    ] {
        if has(file, part) {
            near(values, &file.reals(part).1, tolerance, &format!("{name}: {part} of the reference"));
        }
    }
    agrees(gpu, &case, &y, &want, name);
}

/// Outputs and gradients on the device, by every kernel.
fn agrees(gpu: &Gpu, case: &Case, y: &[f64], want: &SkLinearGradients, name: &str) {
    let (layer, x, g) = case.upload::<f32>(gpu);
    // Strides that are multiples of four or not make kernels of their own, which software drivers compile for seconds:
    // all kernels for odd sizes, unless all are asked for.
    let pins = pins();
    let some =
        if support::is_full_sweep() || case.layer.features[0] % 2 == 1 { &pins[..] } else { &pins[..1] };
    with_kernels(&format!("{name}, outputs"), some, |pin| {
        near(&wide(&pinned_layer(layer.clone(), pin).forward(&x)?), y, F32, &format!("{name}: y, {pin:?}"));
        Ok(())
    });
    with_kernels(&format!("{name}, gradients"), some, |pin| {
        let found = gradients(&pinned_layer(layer.clone(), pin), &x, &g)?;
        near(&found.x, &want.x, F32, &format!("{name}: grad_x, {pin:?}"));
        near(&found.s1, &want.s1, F32, &format!("{name}: grad_S1s, {pin:?}"));
        near(&found.s2, &want.s2, F32, &format!("{name}: grad_S2s, {pin:?}"));
        near(&found.bias, &want.bias, F32, &format!("{name}: grad_bias, {pin:?}"));
        Ok(())
    });
}

/// A layer of Panther's Python class, in f32 itself: with inputs of one to three axes.
fn module(gpu: &Gpu, file: &Safetensors, name: &str) {
    let case = Case::read(file);
    let read = |part: &str| file.reals(part).1;
    let want = SkLinearGradients {
        x: read("grad_x"),
        s1: read("grad_S1s"),
        s2: read("grad_S2s"),
        bias: read("grad_bias"),
    };
    agrees(gpu, &case, &read("y"), &want, name);
    // S is the weight, sketched.
    let SkLinearReference { features: [inputs, outputs], terms, rank, .. } = case.layer;
    let tensor = |values: &[f64], shape: [usize; 2]| {
        gpu.tensor(&values.iter().map(|&x| f32::from_f64(x)).collect::<Vec<_>>(), shape).unwrap()
    };
    let weight = tensor(&read("W"), [outputs, inputs]);
    for t in 0..terms {
        let (into, out_of) = (inputs * rank, rank * outputs);
        let u1 = tensor(&case.layer.u1[t * out_of..][..out_of], [rank, outputs]);
        let u2 = tensor(&case.layer.u2[t * into..][..into], [inputs, rank]);
        let [s1, s2] = [matmul(&weight.t(), &u1.t()).unwrap(), matmul(&u2.t(), &weight.t()).unwrap()];
        near(&wide(&s1), &case.layer.s1[t * into..][..into], F32, &format!("{name}: S1 of term {t}"));
        near(&wide(&s2), &case.layer.s2[t * out_of..][..out_of], F32, &format!("{name}: S2 of term {t}"));
    }
}

/// Operands of f16, what lies between the products too, and sums of f32.
fn halves(gpu: &Gpu, file: &Safetensors, name: &str) {
    let (layer, x, _) = Case::seeded(file).upload::<f16>(gpu);
    let want = file.reals("y").1;
    // A software driver compiles for ten seconds for cooperative matrices: of sizes that are no multiples of theirs,
    // unless all are asked for.
    let ragged = !layer.rank().is_multiple_of(16);
    let pins = pins();
    let some = if ragged || support::is_full_sweep() { &pins[..] } else { &pins[..3] };
    with_kernels(name, some, |pin| {
        let y = wide(&pinned_layer(layer.clone(), pin).apply(&x).output::<f32>().run()?);
        let off = y.iter().zip(&want).map(|(y, want)| (y - want).abs()).fold(0.0, f64::max);
        assert!(off <= F16 && y.len() == want.len(), "{name}, {pin:?}: off by {off}");
        Ok(())
    });
}

/// A layer whose operands follow from a seed: of its outputs and gradients whatever the file holds, all, projections, samples
/// or norms, all of which is checked.
fn seeded(gpu: &Gpu, file: &Safetensors, name: &str) {
    let case = Case::seeded(file);
    let checked = RefCell::new(BTreeSet::new());
    // What the file holds of a name, which is checked then.
    let held = |part: &str| {
        has(file, part).then(|| {
            checked.borrow_mut().insert(part.to_owned());
            file.reals(part).1
        })
    };
    for (part, values) in [("x_check", &case.x), ("S1_check", &case.layer.s1), ("U1_check", &case.layer.u1)] {
        if let Some(spots) = held(part) {
            assert_eq!(spots, values[..spots.len()], "{name}: {part}");
        }
    }
    let SkLinearReference { features: [inputs, outputs], terms, rank, .. } = case.layer;
    let (layer, x, g) = case.upload::<f32>(gpu);
    let [of_out, of_in, of_rank] =
        [(8, outputs), (9, inputs), (10, rank)].map(|(part, len)| Case::vector(file, part, len));
    let stride = |key: &str| file.metadata(key).map_or(1, |stride| stride.parse::<usize>().unwrap());
    let check = |part: &str, found: &[f64], pin: Pin| {
        if let Some(want) = held(part) {
            near(found, &want, F32, &format!("{name}: {part}, {pin:?}"));
        }
    };
    // Of a projection on v what errors of its entries come to, as independent as they are.
    let dots = |part: &str, matrix: &[f64], v: &[f64], pin: Pin| {
        if let Some(want) = held(part) {
            let found: Vec<f64> =
                matrix.chunks_exact(v.len()).map(|row| row.iter().zip(v).map(|(x, v)| x * v).sum()).collect();
            let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let tolerance = F32 * largest(matrix) * length;
            assert_near(&found, &want, tolerance, &format!("{name}: {part}, {pin:?}"));
        }
    };
    // Of a sample too, relative to the largest of all.
    let sampled = |part: &str, values: &[f64], stride: usize, pin: Pin| {
        if let Some(want) = held(part) {
            let found: Vec<f64> = values.iter().step_by(stride).copied().collect();
            let tolerance = F32 * largest(values);
            assert_near(&found, &want, tolerance, &format!("{name}: {part}, {pin:?}"));
        }
    };
    with_kernels(name, &pins(), |pin| {
        let layer = pinned_layer(layer.clone(), pin);
        let y = wide(&layer.forward(&x)?);
        let found = gradients(&layer, &x, &g)?;
        check("y", &y, pin);
        sampled("y_sample", &y, stride("y_sample_stride"), pin);
        dots("y_dot_vO", &y, &of_out, pin);
        check("grad_x", &found.x, pin);
        sampled("gx_sample", &found.x, stride("y_sample_stride"), pin);
        dots("gx_dot_vI", &found.x, &of_in, pin);
        check("grad_bias", &found.bias, pin);
        check("grad_S1s", &found.s1, pin);
        sampled("gS1_sample", &found.s1, stride("sample_stride"), pin);
        dots("gS1_dot_vR", &found.s1, &of_rank, pin);
        check("grad_S2s", &found.s2, pin);
        sampled("gS2_sample", &found.s2, stride("sample_stride"), pin);
        dots("gS2_dot_vO", &found.s2, &of_out, pin);
        let across = |matrix: &[f64], rows: usize, cols: usize| -> Vec<f64> {
            let column = |t: usize, col: usize| {
                (0..rows).map(|row| matrix[(t * rows + row) * cols + col]).collect::<Vec<f64>>()
            };
            (0..terms).flat_map(|t| (0..cols).flat_map(move |col| column(t, col))).collect()
        };
        dots("gS1_vI_dot", &across(&found.s1, inputs, rank), &of_in, pin);
        dots("gS2_vR_dot", &across(&found.s2, rank, outputs), &of_rank, pin);
        let norms = held("norms").unwrap_or_default();
        for (values, norm) in [&y, &found.x, &found.s1, &found.s2].into_iter().zip(norms) {
            let own = values.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!((own - norm).abs() <= F32 * norm, "{name}, {pin:?}: a norm of {own}, not {norm}");
        }
        Ok(())
    });
    let checked = checked.into_inner();
    for part in file.names() {
        assert!(checked.contains(&part), "{name}: nothing checks {part}");
    }
    assert!(!checked.is_empty(), "{name} holds nothing");
}

/// $E\|y - xW^T\|^2 / \|xW^T\|^2 = (in + out) / 4RT$ of weights without structure, over so many of our own seeds.
fn variance_law(gpu: &Gpu, file: &Safetensors, name: &str) {
    let (shape, rows) = file.reals("rows");
    const SEEDS: u64 = 6;
    for row in rows.chunks(shape[1]) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes")]
        let [inputs, outputs, terms, rank] = [0, 1, 2, 3].map(|i| row[i] as usize);
        let weight = gpu.random::<f32>([outputs, inputs], Fill::Uniform, 1).unwrap();
        let x = gpu.random::<f32>([64, inputs], Fill::Uniform, 2).unwrap();
        let dense = wide(&matmul(&x, &weight.t()).unwrap());
        let size: f64 = dense.iter().map(|y| y * y).sum();
        let mut mean = 0.0;
        for seed in 0..SEEDS {
            let builder = SkLinear::builder(terms, rank).seed(seed).allow_larger();
            let y = wide(&builder.panther(&weight).unwrap().layer.forward(&x).unwrap());
            let off: f64 = y.iter().zip(&dense).map(|(y, dense)| (y - dense).powi(2)).sum();
            mean += off / size / SEEDS as f64;
        }
        let law = (inputs + outputs) as f64 / (4 * rank * terms) as f64;
        assert_eq!(law, row[5], "{name}: the law of {row:?}");
        println!(
            "{name}: {inputs} -> {outputs}, {terms} terms of rank {rank}: {mean:.3}, by the law {law:.3}"
        );
        assert!((mean / law - 1.0).abs() < 0.1, "{name}, {row:?}: {mean}");
    }
}
