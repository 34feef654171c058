//! Versors before a layer's products by themselves and behind them.

use crate::layers::common::{algebras, first, read, upload, values};
use crate::layers::equivariance::{Layer, assert_equivariant};
use support::strided::Lay;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{GradeNorm, LayerProduct, ProductKind};
use tilewise::reference::{BoundedValues, LayerProductReference};

const ROWS: usize = 2;
const FEATURES: usize = 3;

/// Values (blade, row, feature) of both operands, whose rows lie one behind the other's.
fn operands(x: &[f64]) -> [Vec<f64>; 2] {
    let plane = ROWS * FEATURES;
    let half =
        |from: usize| x.chunks(2 * plane).flat_map(|blade| blade[from..from + plane].to_vec()).collect();
    [half(0), half(plane)]
}

#[test]
fn versors_pass_through_products() {
    let Some(gpu) = support::gpu() else { return };
    let of = |signature, norm| LayerProduct::new(signature).norm(norm);
    let mut products: Vec<LayerProduct> =
        algebras().map(|signature| of(signature, GradeNorm::Invariant)).into();
    // Where the metric is definite the other norm is as good.
    products.extend([Signature::CL2, Signature::CL3].map(|signature| of(signature, GradeNorm::Rms)));
    for (kind, product) in [ProductKind::Steerable, ProductKind::Connected]
        .into_iter()
        .flat_map(|kind| products.iter().map(move |product| (kind, *product)))
    {
        let blades = product.blades();
        let paths = product.signature.paths().len();
        let shape = match kind {
            ProductKind::Steerable => vec![FEATURES, paths],
            ProductKind::Connected => vec![paths, FEATURES, FEATURES],
        };
        let weight = values::<f32>(shape.iter().product(), 3);
        let on_device = upload::<f32>(&gpu, &weight, &shape);
        let reference = LayerProductReference::new(product, &blades, ROWS);
        let definition = |x: &[f64]| {
            let [x, y] = operands(x);
            match kind {
                ProductKind::Steerable => reference.steerable(&x, &y, &weight),
                ProductKind::Connected => reference.connected(&x, &y, &weight),
            }
        };
        let tolerance = |values: &[f64]| {
            let [x, y] = operands(values).map(|operand| BoundedValues::exact(&operand));
            let out = reference.bounded(kind, &x, &y, &weight);
            out.bounds
        };
        let run = |x: &[f64]| {
            let [x, y] =
                operands(x).map(|operand| first(&gpu, &operand, &blades, [ROWS, FEATURES], Lay::Plain));
            let out = match kind {
                ProductKind::Steerable => product.steerable(&x, &y, &on_device),
                ProductKind::Connected => product.connected(&x, &y, &on_device),
            };
            read(out.unwrap().tensor())
        };
        let layer = Layer { definition: &definition, tolerance: &tolerance, device: &run };
        assert_equivariant(&layer, &blades, 2 * ROWS * FEATURES, &format!("{kind:?}, {}", product.norm));
    }
}
