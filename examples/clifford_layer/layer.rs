//! A layer's product, steerable or fully connected, and its operands.

use crate::Direction;
use tilewise::clifford::layer::{Connected, LayerProduct, ProductGradients, ProductKind};
use tilewise::clifford::{BladeAxis, Multivectors};
use tilewise::{Fill, Gpu, Plan, Real, Result, Tensor};

/// A product of a layer.
#[derive(Clone, Copy)]
pub(crate) struct Layer {
    pub(crate) product: LayerProduct,
    pub(crate) kind: ProductKind,
}

/// Operands, weights and the gradient of the result.
pub(crate) struct Operands<T: Real> {
    pub(crate) x: Multivectors<T>,
    pub(crate) y: Multivectors<T>,
    pub(crate) g: Multivectors<T>,
    pub(crate) weight: Tensor<T>,
}

impl<T: Real> Operands<T> {
    /// Random numbers from -1 to 1. Weights are scaled down by the root of the number of features that are summed.
    pub(crate) fn random(gpu: &Gpu, layer: Layer, [rows, features]: [usize; 2]) -> Result<Self> {
        let blades = layer.product.blades();
        let batch = |seed| {
            let tensor = gpu.random::<T>([blades.len(), rows, features], Fill::Uniform, seed)?;
            Multivectors::new(tensor, &blades, BladeAxis::First)
        };
        let paths = layer.product.signature.paths().len();
        let shape = match layer.kind {
            ProductKind::Steerable => vec![features, paths],
            ProductKind::Connected => vec![paths, features, features],
        };
        let scale = match layer.kind {
            ProductKind::Steerable => 1.0,
            ProductKind::Connected => (features as f64).sqrt().recip(),
        };
        let values = Fill::Uniform.values::<T>(shape.iter().product(), 4);
        let values: Vec<T> = values.into_iter().map(|w| T::from_f64(w.to_f64() * scale)).collect();
        Ok(Self { x: batch(1)?, y: batch(2)?, g: batch(3)?, weight: gpu.tensor(&values, shape)? })
    }

    /// The last rows alone.
    pub(crate) fn last(&self, rows: usize) -> Result<Self> {
        let of = |x: &Multivectors<T>| {
            let all = x.tensor().shape()[1];
            Multivectors::new(x.tensor().slice(1, all - rows..)?, x.blades(), BladeAxis::First)
        };
        Ok(Self { x: of(&self.x)?, y: of(&self.y)?, g: of(&self.g)?, weight: self.weight.clone() })
    }
}

impl Layer {
    pub(crate) fn forward<T: Real>(&self, operands: &Operands<T>) -> Result<Multivectors<T>> {
        let Operands { x, y, weight, .. } = operands;
        match self.kind {
            ProductKind::Steerable => self.product.steerable(x, y, weight),
            ProductKind::Connected => self.product.connected(x, y, weight),
        }
    }

    pub(crate) fn backward<T: Real>(&self, operands: &Operands<T>) -> Result<ProductGradients<T>> {
        let Operands { x, y, g, weight } = operands;
        match self.kind {
            ProductKind::Steerable => self.product.steerable_backward(x, y, weight, g),
            ProductKind::Connected => self.product.connected_backward(x, y, weight, g),
        }
    }

    pub(crate) fn run<T: Real>(&self, operands: &Operands<T>, direction: Direction) -> Result<()> {
        match direction {
            Direction::Forward => self.forward(operands).map(drop),
            Direction::Backward => self.backward(operands).map(drop),
        }
    }

    /// The plan of the product or its gradients.
    pub(crate) fn plan<T: Real>(&self, operands: &Operands<T>, direction: Direction) -> Result<Plan> {
        let Operands { x, y, g, weight } = operands;
        if self.kind == ProductKind::Connected {
            let connected = Connected::new(self.product, x, y, weight)?;
            return if direction == Direction::Forward {
                connected.plan()
            } else {
                connected.plan_backward(g)
            };
        }
        match direction {
            Direction::Forward => self.product.plan_steerable(x, y, weight),
            Direction::Backward => self.product.plan_steerable_backward(x, y, weight, g),
        }
    }
}
