//! Steps that move elements: padded, repeated, one-hot, taken and added by index; views that only change axes; and random fills.

use crate::actor::Actor;
use crate::held::{Held, Item, each, elements, integers_of};
use crate::model::Model;
use crate::reals::Results;
use tilewise::reference::{self, Definition};
use tilewise::{DType, Element, Error, Fill, Result, Tensor, ops};

/// Elements of a result that is kept: what grows without end is dropped.
const ELEMENTS: usize = 1 << 13;

impl Actor {
    /// A new tensor with elements of another, in other places.
    pub(crate) fn move_elements(&mut self) {
        match self.random.below(6) {
            0 => self.pad(),
            1 => self.repeat(),
            2 => self.one_hot(),
            3 | 4 => self.take_by_index(),
            _ => self.fill(),
        }
    }

    fn pad(&mut self) {
        let fits = |item: &Item| is_f32_or_i8(item) && item.model.values.len() < ELEMENTS / 8;
        let Some(at) = self.find(fits) else { return };
        let (shape, value) = (self.items[at].model.shape.clone(), self.random.digit());
        let padding: Vec<(usize, usize)> =
            shape.iter().map(|_| (self.random.below(3), self.random.below(2))).collect();
        let item = &self.items[at];
        let name = format!("{} with {padding:?} of {value}", item.name());
        let values = reference::pad(&item.model.values, &shape, &padding, &value);
        let shape: Vec<usize> = shape.iter().zip(&padding).map(|(n, (a, b))| n + a + b).collect();
        let of = f64::from(value);
        let padded = each!(&item.tensor, t => ops::pad(t, &padding, Element::from_f64(of)).map(Held::from));
        self.say(name);
        if values.len() < ELEMENTS { self.keep(padded, Model { shape, values }) } else { drop(padded) }
    }

    fn repeat(&mut self) {
        let Some(at) = self.find(|item| item.model.values.len() < ELEMENTS / 4) else { return };
        let mut shape = self.items[at].model.shape.clone();
        let (axis, times) = (self.random.below(shape.len()), 1 + self.random.below(3));
        let item = &self.items[at];
        let name = format!("{} {times} times along {axis}", item.name());
        let values = reference::repeat(&item.model.values, &shape, axis, times);
        shape[axis] *= times;
        let repeated = each!(&item.tensor, t => ops::repeat(t, axis, times).map(Held::from));
        self.say(name);
        self.keep(repeated, Model { shape, values });
    }

    fn one_hot(&mut self) {
        let fits = |item: &Item| {
            let is_small = item.model.values.len() < ELEMENTS / 8 && item.model.shape.len() < 6;
            matches!(item.tensor, Held::I32(_)) && is_small
        };
        let Some(at) = self.find(fits) else { return };
        let classes = 1 + self.random.below(5);
        let item = &self.items[at];
        let Held::I32(ids) = &item.tensor else { return };
        let name = format!("{} of {classes} classes", item.name());
        let shape = [&item.model.shape[..], &[classes]].concat();
        let values = reference::one_hot::<i32>(&item.model.values, classes);
        let rows = ops::one_hot::<f32>(ids, classes).map(Held::F32);
        self.say(name);
        self.keep(rows, Model { shape, values });
    }

    /// Positions, elements or rows by indices; of integers some are out of range.
    fn take_by_index(&mut self) {
        let fits = |item: &Item| item.tensor.dtype() != DType::F16 && item.model.shape.len() < 6;
        let Some(at) = self.find(fits) else { return };
        let shape = self.items[at].model.shape.clone();
        let is_integer = !matches!(self.items[at].tensor, Held::F32(_));
        let (kind, axis) = (self.random.below(4), self.random.below(shape.len()));
        let index_shape: Vec<usize> = match kind {
            0 | 1 => vec![1 + self.random.below(9)],
            2 => {
                let mut extents: Vec<usize> =
                    shape.iter().map(|extent| 1 + self.random.below(*extent)).collect();
                extents[axis] = 1 + self.random.below(9);
                extents
            }
            _ if shape.len() == 2 => vec![1 + self.random.below(5), 1 + self.random.below(4)],
            _ => return,
        };
        let extent = if kind == 3 { shape[0] } else { shape[axis] };
        let may_miss = kind > 0 && is_integer && self.random.chance(30);
        let indices = self.indices(index_shape.iter().product(), extent, may_miss);
        let model = self.items[at].model.clone();
        let known: Vec<usize> = indices.iter().filter_map(|&index| usize::try_from(index).ok()).collect();
        let in_tensor = match self.world.gpu.tensor(&indices, &index_shape) {
            Ok(indices) => indices,
            Err(error) => return self.excuse(error),
        };
        let (x, name) = (&self.items[at].tensor, self.items[at].name());
        let values = &model.values;
        let (what, result, values, shape) = match kind {
            0 | 1 => (
                "positions",
                each!(x, t => if kind == 0 {
                    ops::index_select(t, axis, &known).map(Held::from)
                } else {
                    ops::index_select(t, axis, &in_tensor).map(Held::from)
                }),
                reference::index_select(values, &shape, axis, &indices),
                shape.iter().enumerate().map(|(i, n)| if i == axis { indices.len() } else { *n }).collect(),
            ),
            2 => (
                "elements",
                each!(x, t => ops::gather(t, axis, &in_tensor).map(Held::from)),
                reference::gather(values, &shape, axis, &indices, &index_shape),
                index_shape,
            ),
            _ => (
                "rows",
                each!(x, t => ops::embedding(t, &in_tensor).map(Held::from)),
                reference::embedding(values, shape[1], &indices),
                [&index_shape[..], &shape[1..]].concat(),
            ),
        };
        self.say(format!("{what} {indices:?} of {name} along {axis}"));
        if values.len() < ELEMENTS { self.keep(result, Model { shape, values }) } else { drop(result) }
    }

    /// Indices below an extent, or some that are not.
    fn indices(&mut self, count: usize, extent: usize, may_miss: bool) -> Vec<i32> {
        let index = |actor: &mut Self| match actor.random.below(9) {
            0 if may_miss => [-1, i32::MIN, i32::MAX][actor.random.below(3)],
            1 if may_miss => i32::try_from(extent).expect("a small tensor"),
            _ => i32::try_from(actor.random.below(extent)).expect("a small tensor"),
        };
        (0..count).map(|_| index(self)).collect()
    }

    /// Normal numbers, which the host knows to the bit.
    fn fill(&mut self) {
        let shape = [self.random.extent(), self.random.extent()];
        let seed = self.step;
        let filled = self.world.gpu.random::<f32>(shape, Fill::Normal, seed);
        let values = Fill::Normal.values::<f32>(shape.iter().product(), seed);
        let value: Vec<f64> = values.into_iter().map(f64::from).collect();
        let want = Definition { tolerance: vec![0.0; value.len()], value };
        self.keep_reals(format!("normal numbers {shape:?}"), filled.map(|filled| vec![(filled, want)]));
    }

    /// Values added to what indices name in a tensor that is there: right if nobody shares it, an error and unchanged otherwise.
    pub(crate) fn add_by_index(&mut self) {
        let fits = |item: &Item| {
            matches!(item.tensor, Held::F32(_) | Held::I32(_))
                && item.model.largest() < 1 << 20
                && !item.tensor.overlaps()
        };
        let Some(at) = self.find(fits) else { return };
        let mut item = self.items.swap_remove(at);
        let shape = item.model.shape.clone();
        let axis = self.random.below(shape.len());
        let of_elements = self.random.chance(50);
        let count = 1 + self.random.below(9);
        let mut index_shape = shape.clone();
        index_shape[axis] = count;
        let len = if of_elements { index_shape.iter().product() } else { count };
        let indices = self.indices(len, shape[axis], true);
        let model = Model::random(&mut self.random, &index_shape);
        let gpu = self.world.gpu.clone();
        let name = item.name();
        self.say(format!("{indices:?} along {axis} of {name}, of elements: {of_elements}"));
        let shared = item.is_shared();
        let of_indices = if of_elements { index_shape.clone() } else { vec![count] };
        let (c, values) = (&item.model.values, &model.values);
        let want = if of_elements {
            reference::scatter_add::<i32>(c, &shape, axis, &indices, &index_shape, values)
        } else {
            reference::index_add::<i32>(c, &shape, axis, &indices, values)
        };
        let added = gpu.tensor(&indices, of_indices).and_then(|indices| match &mut item.tensor {
            Held::F32(c) => {
                add(c, axis, &indices, &gpu.tensor(&elements(values), &index_shape)?, of_elements)
            }
            Held::I32(c) => {
                add(c, axis, &indices, &gpu.tensor(&elements(values), &index_shape)?, of_elements)
            }
            _ => Ok(()),
        });
        match added {
            Ok(()) => {
                assert!(!shared, "{name} is shared, but was written");
                item.model.values = integers_of(&want.value);
            }
            Err(Error::Input { .. }) if shared => {}
            Err(error) => self.excuse(error),
        }
        self.items.push(item);
    }

    /// The gradient of a table of which rows were looked up.
    pub(crate) fn look_up_backward(&mut self) -> Result<Results> {
        let (rows, d) = (1 + self.random.below(9), self.random.extent());
        let count = 1 + self.random.below(20);
        let ids = self.indices(count, rows, true);
        let g = Model::random(&mut self.random, &[count, d]);
        let padding = self.random.chance(50).then_some(0);
        self.say(format!("{ids:?} of {rows} rows of {d}"));
        let gpu = &self.world.gpu;
        let values = elements::<f32>(&g.values);
        let table = ops::embedding_backward(
            &gpu.tensor(&ids, [count])?,
            &gpu.tensor(&values, &g.shape)?,
            rows,
            padding,
        )?;
        Ok(vec![(table, reference::embedding_backward(&ids, &values, d, rows, padding))])
    }

    /// A view with another number of axes, or that repeats elements.
    pub(crate) fn view_other_axes(&mut self) {
        let Some(at) = self.find(|item| item.model.values.len() < ELEMENTS / 4) else { return };
        let mut shape = self.items[at].model.shape.clone();
        let rank = shape.len();
        let axis = self.random.below(rank);
        let kind = self.random.below(3);
        let times = 1 + self.random.below(4);
        let item = &self.items[at];
        let (tensor, buffer, name) = (&item.tensor, item.buffer.clone(), item.name());
        let values = item.model.values.clone();
        let (result, values) = match kind {
            0 if rank > 1 && shape[axis] == 1 => {
                shape.remove(axis);
                (each!(tensor, t => t.squeeze(axis).map(Held::from)), values)
            }
            1 if rank < 6 => {
                shape.insert(axis, 1);
                (each!(tensor, t => t.unsqueeze(axis).map(Held::from)), values)
            }
            _ if shape[axis] == 1 => {
                shape[axis] = times;
                let values = reference::repeat(&values, &item.model.shape, axis, times);
                (each!(tensor, t => t.broadcast_to(&shape).map(Held::from)), values)
            }
            _ if rank < 6 => {
                shape.insert(0, times);
                (each!(tensor, t => t.broadcast_to(&shape).map(Held::from)), values.repeat(times))
            }
            _ => return,
        };
        self.say(format!("{name} to {shape:?}"));
        self.keep_sharing(result, Model { shape, values }, buffer);
    }
}

fn is_f32_or_i8(item: &Item) -> bool {
    matches!(item.tensor, Held::F32(_) | Held::I8(_))
}

fn add<T: Element>(
    c: &mut Tensor<T>,
    axis: usize,
    indices: &Tensor<i32>,
    values: &Tensor<T>,
    of_elements: bool,
) -> Result<()> {
    if of_elements {
        ops::scatter_add(c, axis, indices, values)
    } else {
        ops::index_add(c, axis, indices, values)
    }
}
