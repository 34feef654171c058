//! How precise products of f32 are: as asked for, by a product or of the device.

use super::agreement;
use crate::layers::common::{first, near, read, upload, values};
use support::strided::Lay;
use tilewise::clifford::layer::{Connected, Gate, GradeNorm, LayerProduct, ProductKind};
use tilewise::clifford::{Multivectors, Signature};
use tilewise::reference::{BoundedValues, LayerProductReference};
use tilewise::{Gpu, Precision, Tensor};

const ROWS: usize = 33;
const INPUTS: usize = 36;
const OUTPUTS: usize = 20;

/// Values and tensors of x, y, g and the weight.
struct Operands {
    values: [Vec<f64>; 4],
    x: Multivectors<f32>,
    y: Multivectors<f32>,
    g: Multivectors<f32>,
    weight: Tensor<f32>,
}

impl Operands {
    fn new(gpu: &Gpu, signature: Signature) -> Self {
        let (blades, paths) = (signature.blades(), signature.paths().len());
        let plane = blades.len() * ROWS;
        let lens = [plane * INPUTS, plane * INPUTS, plane * OUTPUTS, paths * INPUTS * OUTPUTS];
        let values = [0, 1, 2, 3].map(|i| values::<f32>(lens[i], 1 + i as u64));
        let of = |i: usize, features: usize, lay| first(gpu, &values[i], &blades, [ROWS, features], lay);
        let (x, y, g) = (of(0, INPUTS, Lay::Plain), of(1, INPUTS, Lay::Gaps), of(2, OUTPUTS, Lay::Reversed));
        let weight = upload(gpu, &values[3], &[paths, INPUTS, OUTPUTS]);
        Self { values, x, y, g, weight }
    }

    fn product(&self, product: LayerProduct) -> Connected<'_, f32> {
        Connected::new(product, &self.x, &self.y, &self.weight).unwrap()
    }
}

fn bits(tensor: &Tensor<f32>) -> Vec<u32> {
    tensor.to_vec().unwrap().into_iter().map(f32::to_bits).collect()
}

#[test]
fn fast_products_round_their_operands_and_no_others_do() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let signature = Signature::CL2;
    let operands = Operands::new(&gpu, signature);
    let Operands { values: [x, y, g, w], .. } = &operands;
    let plain = LayerProduct::new(signature).gate(Gate::None).norm(GradeNorm::None);
    let launched = |run: &dyn Fn()| {
        let before = gpu.stats().launches;
        run();
        gpu.stats().launches - before
    };
    for product in [plain, plain.gate(Gate::Gelu)] {
        let [strict, split, fast] = [Precision::Strict, Precision::Split, Precision::Fast]
            .map(|precision| operands.product(product).precision(precision));
        assert_eq!(bits(strict.run().unwrap().tensor()), bits(split.run().unwrap().tensor()));
        let o = fast.run().unwrap();
        assert_ne!(bits(o.tensor()), bits(strict.run().unwrap().tensor()));
        let reference = LayerProductReference::new(product, &signature.blades(), ROWS);
        let of = fast.backward(&operands.g).unwrap();
        let want = reference.connected_backward(x, y, w, g);
        agreement::near(&read(o.tensor()), &reference.connected(x, y, w), 2e-3, "fast");
        agreement::near(&read(of.x.tensor()), &want.x, 2e-3, "fast: gradient of x");
        agreement::near(&read(of.y.tensor()), &want.y, 2e-3, "fast: gradient of y");
        agreement::near(&read(&of.weight), &want.weight, 2e-3, "fast: gradient of the weight");
        // Both operands and the weight are rounded, a launch each, and for gradients g.
        let more = |fast: &dyn Fn(), strict: &dyn Fn()| launched(fast) - launched(strict);
        assert_eq!(more(&|| drop(fast.run()), &|| drop(strict.run())), 3);
        let g = &operands.g;
        assert_eq!(more(&|| drop(fast.backward(g)), &|| drop(strict.backward(g))), 4);
        let says = |plan: tilewise::Plan| plan.to_string().contains("rounded to f16 first");
        assert_eq!([says(fast.plan().unwrap()), says(strict.plan().unwrap())], [true, false]);
        let backward = [&fast, &split].map(|product| says(product.plan_backward(g).unwrap()));
        assert_eq!(backward, [true, false]);
    }
    // The bound: what of each operand is lost is as if it all were x's and y's.
    let o = operands.product(plain).precision(Precision::Fast).run().unwrap();
    let reference = LayerProductReference::new(plain, &signature.blades(), ROWS);
    let lost = (1.0 + 2f64.powi(-9) + 2f64.powi(-18)).sqrt() - 1.0;
    let rounded = |values: &[f64]| BoundedValues {
        bounds: values.iter().map(|x| x.abs() * lost).collect(),
        ..BoundedValues::exact(values)
    };
    let most = reference.bounded(ProductKind::Connected, &rounded(x), &rounded(y), w);
    near(&read(o.tensor()), &most.values, |i| most.bounds[i], "fast, by its bound");
}

#[test]
fn products_that_do_not_ask_have_the_precision_of_their_device() {
    let Some(fast) =
        support::first_driver().and_then(|()| support::own(|options| options.precision = Precision::Fast))
    else {
        return;
    };
    let product = LayerProduct::new(Signature::CL2);
    let operands = Operands::new(&fast, Signature::CL2);
    let default = product.connected(&operands.x, &operands.y, &operands.weight).unwrap();
    let of = |precision| bits(operands.product(product).precision(precision).run().unwrap().tensor());
    assert_eq!(bits(default.tensor()), of(Precision::Fast));
    assert_ne!(bits(default.tensor()), of(Precision::Strict));
}
