//! Values on the device, in f32. Each stores only the blades that are not zero by construction.

use crate::expression::Value;
use tilewise::clifford::{BladeAxis, Blades, Multivector, Multivectors, Product, Signature, Unary};
use tilewise::{Gpu, Result, Tensor, ops};

/// One multivector, as a batch without axes.
pub(crate) struct OnGpu(Multivectors<f32>);

/// The blades that satisfy a condition, in short-lex order; the scalar if none does.
fn blades(signature: Signature, is_there: impl Fn(u8) -> bool) -> Result<Blades> {
    let all = signature.blades();
    let masks: Vec<u8> = all.masks().iter().copied().filter(|&mask| is_there(mask)).collect();
    if masks.is_empty() { Ok(signature.scalars()) } else { Blades::new(signature, &masks) }
}

impl OnGpu {
    /// A number or a blade, without any other blade.
    pub(crate) fn literal(gpu: &Gpu, x: &Multivector) -> Result<Self> {
        let blades = blades(x.signature(), |mask| x.coefficient(mask) != 0.0)?;
        #[expect(clippy::cast_possible_truncation, reason = "rounded, as the bound assumes")]
        let values: Vec<f32> = x.select(&blades).into_iter().map(|x| x as f32).collect();
        Self::of(gpu.tensor(&values, [values.len()])?, &blades)
    }

    fn of(tensor: Tensor<f32>, blades: &Blades) -> Result<Self> {
        Ok(Self(Multivectors::new(tensor, blades, BladeAxis::Last)?))
    }

    /// Reads the blades and their coefficients back.
    pub(crate) fn read(&self) -> Result<(Blades, Vec<f32>)> {
        Ok((self.0.blades().clone(), self.0.tensor().to_vec()?))
    }

    /// The coefficients of these blades, without a copy if they are all there is.
    fn on(&self, blades: &Blades) -> Result<Tensor<f32>> {
        if self.0.blades() == blades {
            return Ok(self.0.tensor().clone());
        }
        Ok(self.0.select(blades)?.tensor().clone())
    }
}

impl Value for OnGpu {
    fn add(&self, y: &Self) -> Result<Self> {
        let (of_x, of_y) = (self.0.blades(), y.0.blades());
        let either = |mask| of_x.position(mask).or(of_y.position(mask)).is_some();
        let blades = blades(self.0.signature(), either)?;
        Self::of(ops::add(&self.on(&blades)?, &y.on(&blades)?)?, &blades)
    }

    fn negative(&self) -> Result<Self> {
        let tensor = self.0.tensor();
        let minus = tensor.gpu().tensor(&[-1.0f32], [1])?;
        Self::of(ops::mul(tensor, &minus)?, self.0.blades())
    }

    fn product(&self, product: Product, y: &Self) -> Result<Self> {
        Ok(Self(self.0.product(product, &y.0)?))
    }

    fn unary(&self, function: Unary) -> Result<Self> {
        Ok(Self(self.0.unary(function)?))
    }

    fn inverse(&self) -> Result<Self> {
        Ok(Self(self.0.inverse()?))
    }

    fn norm(&self) -> Result<Self> {
        Ok(Self(self.0.norm()?))
    }

    fn grade(&self, grade: usize) -> Result<Self> {
        Ok(Self(self.0.project(&[grade])?))
    }
}
