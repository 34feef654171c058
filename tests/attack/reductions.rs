//! Steps that reduce: functions of the elements along one axis, several or all, and cumulative sums.

use crate::actor::Actor;
use crate::held::{Held, Item, elements, integers_of};
use crate::model::{Model, largest_of};
use crate::world::Menu;
use tilewise::ops::{self, Axes};
use tilewise::reference::{self, Definition};
use tilewise::{DType, Result, Tensor};

/// The largest integers that are squared and multiplied.
const LARGEST: i64 = 1 << 10;

/// The operand of a reduction: what is reduced to one element lies together, and there are two axes.
struct Lines {
    axes: Axes,
    model: Model,
    /// The number of lines, and their length.
    sizes: [usize; 2],
    /// The shape of the result.
    shape: Vec<usize>,
}

impl Lines {
    fn of(model: &Model, axes: &[usize]) -> Self {
        let rank = model.shape.len();
        let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
        let of_axes: Axes = if axes.len() == rank { (..).into() } else { axes.into() };
        let shape: Vec<usize> = kept.iter().map(|&axis| model.shape[axis]).collect();
        let lines: usize = shape.iter().product();
        let model = model.permute(&[&kept, axes].concat());
        let sizes = [lines, model.values.len() / lines];
        Self { axes: of_axes, model, sizes, shape: with_an_axis(shape) }
    }

    fn length(&self) -> i64 {
        i64::try_from(self.sizes[1]).expect("a small tensor")
    }

    /// The definition of a reduction.
    fn defined(&self, function: impl Fn(&[f32], [usize; 3]) -> Definition) -> Definition {
        let [lines, length] = self.sizes;
        function(&elements(&self.model.values), [lines, length, 1])
    }

    /// The same of a function whose results are integers.
    fn exact(&self, function: impl Fn(&[f32], [usize; 3]) -> Definition) -> Model {
        Model { shape: self.shape.clone(), values: integers_of(&self.defined(function).value) }
    }
}

impl Actor {
    /// A reduction or a cumulative sum along an axis.
    pub(crate) fn reduce(&mut self) {
        if self.menu >= Menu::Many && self.random.chance(50) {
            return self.reduce_any();
        }
        let Some(at) = self.find(|item| item.model.shape.len() > 1) else { return };
        let axis = self.random.below(self.items[at].model.shape.len());
        let kind = if self.menu == Menu::Plain { 2 } else { self.random.below(4) };
        let item = &self.items[at];
        let Held::F32(a) = &item.tensor else { return };
        let limit = largest_of(DType::F32);
        let (what, want, result) = match kind {
            0 => ("the largest", item.model.max(axis), ops::max(a, axis)),
            1 => ("cumulative sums", item.model.cumsum(axis, limit), ops::cumsum(a, axis)),
            _ => ("sums", item.model.sum(axis, limit), ops::sum(a, axis)),
        };
        let Some(want) = want else { return };
        let name = format!("{what} of {} along {axis}", item.name());
        let result = result.map(Held::F32);
        self.say(name);
        self.keep(result, want);
    }

    /// Any function along any axes, in any order; of integers, those that there are.
    fn reduce_any(&mut self) {
        let fits = |item: &Item| item.tensor.dtype() != DType::F16 && item.model.largest() <= LARGEST;
        let Some(at) = self.find(fits) else { return };
        let model = self.items[at].model.clone();
        let mut axes: Vec<usize> = (0..model.shape.len()).filter(|_| self.random.chance(60)).collect();
        if self.random.chance(50) {
            axes.reverse();
        }
        let kind = self.random.below(12);
        self.say(format!("function {kind} of {} along {axes:?}", self.items[at].name()));
        if kind > 9 {
            return self.reduce_to_places(at);
        }
        let lines = Lines::of(&model, &axes);
        let axes = lines.axes.clone();
        let a = match self.items[at].whole() {
            Held::F32(a) => a,
            Held::I8(a) if kind < 5 => {
                let total = ops::sum(&a, axes).and_then(|total| total.reshape(&lines.shape));
                return self.keep(total.map(Held::I32), lines.exact(reference::sum));
            }
            Held::I32(a) => {
                let most = ops::max(&a, axes).and_then(|most| most.reshape(&lines.shape));
                return self.keep(most.map(Held::I32), lines.exact(reference::max));
            }
            _ => return,
        };
        let (length, largest) = (lines.length(), model.largest());
        let is_sum_exact = |largest: i64| length * largest <= largest_of(DType::F32);
        let (result, want) = match kind {
            0 if is_sum_exact(largest) => (ops::sum(&a, axes), lines.exact(reference::sum)),
            1 if is_sum_exact(largest * largest) => {
                (ops::sum_squares(&a, axes), lines.exact(reference::sum_squares))
            }
            2 => (ops::max(&a, axes), lines.exact(reference::max)),
            3 => (ops::min(&a, axes), lines.exact(reference::min)),
            4 => (ops::max_abs(&a, axes), lines.exact(reference::max_abs)),
            _ => return self.reduce_to_reals(&a, &lines, kind),
        };
        let result = result.and_then(|result| result.reshape(&lines.shape));
        self.keep(result.map(Held::F32), want);
    }

    /// Means, variances, norms and products, which may be no integers.
    fn reduce_to_reals(&mut self, a: &Tensor<f32>, lines: &Lines, kind: usize) {
        let (axes, length) = (lines.axes.clone(), lines.sizes[1]);
        // Products of more would overflow.
        #[expect(clippy::cast_precision_loss, reason = "a small tensor")]
        let is_product_small = length as f64 * (lines.model.largest().max(1) as f64).log2() < 100.0;
        let correction = self.random.below(2).min(length - 1);
        let (what, result, want): (_, Result<Tensor<f32>>, Definition) = match kind {
            6 => ("norms", ops::norm(a, axes), lines.defined(reference::norm)),
            7 if is_product_small => ("products", ops::prod(a, axes), lines.defined(reference::prod)),
            8 | 9 => (
                "variances",
                ops::var(a, axes, correction),
                lines.defined(|a, shape| reference::var(a, shape, correction)),
            ),
            _ => ("means", ops::mean(a, axes), lines.defined(reference::mean)),
        };
        self.keep_reals(what.into(), result.map(|result| vec![(result, want)]));
    }

    /// The places of the largest or smallest elements along an axis.
    fn reduce_to_places(&mut self, at: usize) {
        let item = &self.items[at];
        let axis = self.random.below(item.model.shape.len());
        let lines = Lines::of(&item.model, &[axis]);
        let is_largest = self.random.chance(50);
        let result = match &item.tensor {
            Held::F32(a) if is_largest => ops::argmax(a, axis),
            Held::F32(a) => ops::argmin(a, axis),
            Held::I32(a) if is_largest => ops::argmax(a, axis),
            _ => return,
        };
        let [rows, length] = lines.sizes;
        let of = if is_largest { reference::argmax } else { reference::argmin };
        let places = of(&elements::<f32>(&lines.model.values), [rows, length, 1]);
        let values = places.into_iter().map(|place| i32::try_from(place).expect("a small tensor")).collect();
        let result = result.and_then(|result| result.reshape(&lines.shape));
        self.keep(result.map(Held::I32), Model { shape: lines.shape, values });
    }
}

/// The walk's tensors have at least one axis.
fn with_an_axis(shape: Vec<usize>) -> Vec<usize> {
    if shape.is_empty() { vec![1] } else { shape }
}
