//! Values on the CPU, in f64, with a bound on the error of the same computation in f32.

use crate::expression::Value;
use tilewise::Result;
use tilewise::clifford::{BladeOrder, Blades, Multivector, Product, Unary};
use tilewise::reference::gamma;

/// Largest value that a driver may flush to zero, in each operation.
const FLUSHED: f64 = f32::MIN_POSITIVE as f64;
/// Roundings that bound a square root or a quotient, which drivers compute to within some units of the last place.
const ROUNDINGS: usize = 4;

/// A multivector, and for each of its blades a bound on the error in f32: the running error analysis of Higham,
/// *Accuracy and Stability of Numerical Algorithms*, section 3.3.
pub(crate) struct Bounded {
    pub(crate) value: Multivector,
    pub(crate) error: Multivector,
}

/// A function of the coefficients of two multivectors, blade by blade.
fn zipped(x: &Multivector, y: &Multivector, of: impl Fn(f64, f64) -> f64) -> Result<Multivector> {
    let pairs = x.coefficients().iter().zip(y.coefficients());
    let values: Vec<f64> = pairs.map(|(&x, &y)| of(x, y)).collect();
    Multivector::new(&ascending(x), &values)
}

/// All blades in the order of `coefficients`.
fn ascending(x: &Multivector) -> Blades {
    x.signature().blades().ordered(BladeOrder::Ascending)
}

/// Error of a value after `roundings` more roundings, if it had the error `error` before.
fn rounded(value: f64, error: f64, roundings: usize) -> f64 {
    let most = value.abs() + error;
    if most == 0.0 { 0.0 } else { error + gamma(roundings) * most + FLUSHED }
}

/// A product of absolute values, in which nothing cancels.
fn magnitude(product: Product, x: &Multivector, y: &Multivector) -> Result<Multivector> {
    let mut sums = vec![0.0; x.coefficients().len()];
    for (a, x_a) in (0..=u8::MAX).zip(x.coefficients()).filter(|(_, x_a)| **x_a != 0.0) {
        for (b, y_b) in (0..=u8::MAX).zip(y.coefficients()).filter(|(_, y_b)| **y_b != 0.0) {
            if let Some((c, _)) = product.of_blades(x.signature(), a, b) {
                sums[usize::from(c)] += (x_a * y_b).abs();
            }
        }
    }
    Multivector::new(&ascending(x), &sums)
}

impl Bounded {
    /// A number or a blade, rounded to f32.
    pub(crate) fn literal(x: &Multivector) -> Result<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "the bound is for this rounding")]
        let error = zipped(x, x, |x, _| (x - f64::from(x as f32)).abs())?;
        Ok(Self { value: x.clone(), error })
    }

    /// The largest absolute values that f32 may have.
    fn most(&self) -> Result<Multivector> {
        zipped(&self.value, &self.error, |x, error| x.abs() + error)
    }

    /// The quadratic form and its error.
    fn quadratic(&self) -> (f64, f64) {
        let signature = self.value.signature();
        let (mut exact, mut most) = (0.0, 0.0);
        for mask in (0..=signature.pseudoscalar()).filter(|&mask| signature.square(mask) != 0) {
            let x = self.value.coefficient(mask).abs();
            exact += x * x;
            most += (x + self.error.coefficient(mask)).powi(2);
        }
        let value = self.value.quadratic();
        (value, if most == 0.0 { 0.0 } else { sum_error(exact, most, signature.size()) })
    }
}

/// Error of a sum of at most `terms` products. Their absolute values sum up to `exact`, and to at most `most` with
/// operands in f32.
fn sum_error(exact: f64, most: f64, terms: usize) -> f64 {
    (most - exact) + gamma(terms) * most + terms as f64 * FLUSHED
}

impl Value for Bounded {
    fn add(&self, y: &Self) -> Result<Self> {
        let value = self.value.add(&y.value)?;
        let error = self.error.add(&y.error)?;
        let error = zipped(&value, &error, |value, error| rounded(value, error, 1))?;
        Ok(Self { value, error })
    }

    fn negative(&self) -> Result<Self> {
        Ok(Self { value: self.value.scaled(-1.0), error: self.error.clone() })
    }

    fn product(&self, product: Product, y: &Self) -> Result<Self> {
        let exact = magnitude(product, &self.value, &y.value)?;
        let most = magnitude(product, &self.most()?, &y.most()?)?;
        let terms = self.value.signature().size();
        let error = zipped(&exact, &most, |exact, most| match most {
            0.0 => 0.0,
            _ => sum_error(exact, most, terms),
        })?;
        Ok(Self { value: self.value.product(product, &y.value)?, error })
    }

    fn unary(&self, function: Unary) -> Result<Self> {
        let error = self.error.unary(function);
        Ok(Self { value: self.value.unary(function), error: zipped(&error, &error, |error, _| error.abs())? })
    }

    /// The reverse over the quadratic form. There is no bound if f32 cannot distinguish that form from zero.
    fn inverse(&self) -> Result<Self> {
        let value = self.value.inverse()?;
        let (square, of_square) = self.quadratic();
        let least = (square.abs() - of_square).max(0.0);
        let error = zipped(&value, &self.error.unary(Unary::Reverse), |value, error| match (value, error) {
            (0.0, 0.0) => 0.0,
            _ => rounded(value, (error.abs() + value.abs() * of_square) / least, ROUNDINGS),
        })?;
        Ok(Self { value, error })
    }

    fn norm(&self) -> Result<Self> {
        let signature = self.value.signature();
        let (norm, (square, of_square)) = (self.value.norm(), self.quadratic());
        // |sqrt a - sqrt b| = |a - b| / (sqrt a + sqrt b), and at most sqrt |a - b|.
        let apart = of_square / (norm + (square.abs() - of_square).max(0.0).sqrt());
        let error = rounded(norm, apart.min(of_square.sqrt()), ROUNDINGS);
        Ok(Self {
            value: Multivector::scalar_of(signature, norm),
            error: Multivector::scalar_of(signature, error),
        })
    }

    fn grade(&self, grade: usize) -> Result<Self> {
        Ok(Self { value: self.value.project(&[grade]), error: self.error.project(&[grade]) })
    }
}
