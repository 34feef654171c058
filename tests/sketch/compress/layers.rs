//! What is compressed loads back as layers, whose outputs are those of the file's factors.

use super::model::{Model, matrix};
use faer::Mat;
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::reference::gamma;
use tilewise::sketch::{Budget, SkLinear};
use tilewise::{Activation, Fill};

#[test]
fn a_compressed_file_loads_back_and_gives_the_same_outputs() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "layers");
    let report = model.compress().budget(Budget::Params(0.6)).run(&gpu, &model.output).unwrap();
    let (dense, file) = (Safetensors::read(&model.input).unwrap(), Safetensors::read(&model.output).unwrap());
    for (told, prefix) in report.layers.iter().zip(["a.down.", "a.up."]) {
        let layer = SkLinear::<f32>::load(&file, &gpu, prefix, Activation::None).unwrap();
        assert_eq!([layer.outputs(), layer.inputs()], told.shape);
        assert_eq!((layer.terms(), layer.rank(), layer.params()), (told.terms, told.rank, told.params));
        assert_eq!(layer.bias().is_some(), prefix == "a.up.", "the dense layer's bias is the layer's");
        let weight = matrix(&dense, &told.name);
        let own = {
            let w = layer.to_weight().unwrap();
            let values = w.to_vec().unwrap();
            Mat::from_fn(w.shape()[0], w.shape()[1], |i, j| f64::from(values[i * w.shape()[1] + j]))
        };
        let error = (&own - &weight).norm_l2() / weight.norm_l2();
        assert!((error - told.rel_error).abs() < 1e-5, "{error}: {told:?}");

        let x = gpu.random::<f32>([9, layer.inputs()], Fill::Uniform, 3).unwrap();
        let (y, x64) = (layer.forward(&x).unwrap().to_vec().unwrap(), x.to_vec().unwrap());
        let bias = layer.bias().map_or(vec![0.0; layer.outputs()], |bias| bias.to_vec().unwrap());
        for (at, y) in y.iter().enumerate() {
            let (row, col) = (at / layer.outputs(), at % layer.outputs());
            let terms = (0..layer.inputs()).map(|k| f64::from(x64[row * layer.inputs() + k]) * own[(col, k)]);
            let want: f64 = f64::from(bias[col]) + terms.clone().sum::<f64>();
            // Factors, and the weight that they were multiplied out to, are in f32.
            let bound = 8.0 * gamma(layer.inputs()) * (1.0 + terms.map(f64::abs).sum::<f64>());
            assert!((f64::from(*y) - want).abs() <= bound, "{prefix} [{row}, {col}]: {y}, not {want}");
        }
        // Saved as a layer and loaded again, to the bit.
        let path = model.folder.join("layer.safetensors");
        layer.save(SafetensorsWriter::new(), "").unwrap().write(&path).unwrap();
        let again = SkLinear::load(&Safetensors::read(&path).unwrap(), &gpu, "", Activation::None).unwrap();
        assert_eq!(again.forward(&x).unwrap().to_vec().unwrap(), y);
    }
}
