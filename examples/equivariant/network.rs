//! The network of Clifford layers.

use crate::Learner;
use crate::data::{ALGEBRA, CORNERS, Data, normals, predicted};
use tilewise::clifford::Multivectors;
use tilewise::clifford::layer::{
    CliffordLayer, Gate, GradeNorm, LayerProduct, MvLinear, ProductKind, Residual,
};
use tilewise::{Element, Gpu, Parameters, Result, Tensor, ops};

/// Number of layers. Two are enough: a volume is a product of three vectors.
const LAYERS: usize = 2;
/// Rate of descent for at most 8 features, found by trial. For more it is divided by the root of their number over 8.
const RATE: f64 = 0.1;
/// Factors of the initial weights of the products and of the readout. Predictions start small, because nothing else bounds
/// repeated products.
const SHARES: [f32; 2] = [0.25, 0.5];

/// An embedding of the corners, layers, and a readout. Only the layers' products are nonlinear. A gate would depend on
/// scalars, which corners do not have, and a norm would remove the scale, on which volumes depend.
pub(crate) struct Network {
    pub(crate) embedding: MvLinear<f32>,
    pub(crate) layers: Vec<CliffordLayer<f32>>,
    pub(crate) readout: MvLinear<f32>,
    rate: f64,
    predicted: Tensor<f32>,
}

impl Network {
    pub(crate) fn random(gpu: &Gpu, hidden: usize, seed: u64) -> Result<Self> {
        let product = LayerProduct::new(ALGEBRA).gate(Gate::None).norm(GradeNorm::None);
        let builder =
            CliffordLayer::<f32>::builder(product, ProductKind::Steerable).residual(Residual::Operand);
        let share = gpu.tensor(&[SHARES[0]], [])?;
        let layer = |i: usize| {
            let builder = builder.seed(seed.wrapping_add(i as u64));
            let drawn = builder.random::<f32>(gpu, [hidden, hidden])?;
            builder.from_parts(drawn.linear().clone(), ops::mul(drawn.weight(), &share)?)
        };
        Ok(Self {
            embedding: linear(gpu, [CORNERS, hidden], 1.0, seed ^ 0x656d_6265)?,
            layers: (0..LAYERS).map(layer).collect::<Result<_>>()?,
            readout: linear(gpu, [hidden, 1], f64::from(SHARES[1]), seed ^ 0x7265_6164)?,
            rate: RATE * (8.0 / hidden.max(8) as f64).sqrt(),
            predicted: predicted(gpu)?,
        })
    }

    /// (blade, row, corner) -> (blade, row, 1)
    pub(crate) fn forward(&self, x: &Multivectors<f32>) -> Result<Multivectors<f32>> {
        let embedded = self.embedding.forward(x)?;
        let last = self.layers.iter().try_fold(embedded, |x, layer| layer.forward(&x))?;
        self.readout.forward(&last)
    }

    /// Errors of the predictions y; 0 for blades that are not predicted.
    fn off_by(&self, y: &Multivectors<f32>, data: &Data) -> Result<Tensor<f32>> {
        ops::mul(&ops::sub(y.tensor(), &data.multivectors)?, &self.predicted)
    }
}

impl Learner for Network {
    fn parameters(&self) -> usize {
        let of_layers = self.layers.iter().flat_map(Parameters::parameters).map(|(_, of)| of.len());
        self.embedding.weight().len() + of_layers.sum::<usize>() + self.readout.weight().len()
    }

    fn off(&self, data: &Data) -> Result<Tensor<f32>> {
        self.off_by(&self.forward(&data.vectors)?, data)
    }

    fn step(&mut self, data: &Data) -> Result<Tensor<f32>> {
        let mut inputs = vec![self.embedding.forward(&data.vectors)?];
        for layer in &self.layers {
            inputs.push(layer.forward(&inputs[inputs.len() - 1])?);
        }
        let last = &inputs[inputs.len() - 1];
        let y = self.readout.forward(last)?;
        let off = self.off_by(&y, data)?;
        let g = Multivectors::new(off.clone(), y.blades(), y.axis())?;
        let rate = f32::from_f64(self.rate / data.count as f64);
        let (mut g, of_readout) = self.readout.backward(last, &g)?;
        self.readout.descend(&of_readout, rate)?;
        for (layer, x) in self.layers.iter_mut().zip(&inputs).rev() {
            let (through, gradients) = layer.backward(x, &g)?;
            layer.descend(&gradients, rate)?;
            g = through;
        }
        let (_, of_embedding) = self.embedding.backward(&data.vectors, &g)?;
        self.embedding.descend(&of_embedding, rate)?;
        Ok(off)
    }
}

/// A linear map without a bias, with normal weights of the deviation share / sqrt(in).
fn linear(gpu: &Gpu, [inputs, outputs]: [usize; 2], share: f64, seed: u64) -> Result<MvLinear<f32>> {
    let grades = ALGEBRA.dimension() + 1;
    let mut normal = normals(seed);
    let deviation = share / (inputs as f64).sqrt();
    let weight: Vec<f32> =
        (0..grades * inputs * outputs).map(|_| f32::from_f64(deviation * normal())).collect();
    MvLinear::new(ALGEBRA, gpu.tensor(&weight, [grades, inputs, outputs])?)
}
