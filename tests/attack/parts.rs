//! Steps that write into parts of buffers that other tensors share, tensors in the application's own buffers, and
//! tensors joined.

use crate::actor::Actor;
use crate::held::{Held, Item, each, elements};
use crate::model::Model;
use std::collections::HashMap;
use std::sync::Arc;
use tilewise::{Element, Error, Gpu, Result, Tensor, f16, ops, reference, wgpu};

impl Actor {
    /// Two tensors in one buffer of the application, which ends where they may end.
    pub(crate) fn buffer_of_the_application(&mut self) {
        let shape = [self.random.extent(), self.random.extent()];
        let models = [(); 2].map(|()| Model::random(&mut self.random, &shape));
        let (before, between) = (self.random.below(70), self.random.below(5));
        let is_half = self.menu != crate::world::Menu::Plain && self.random.chance(50);
        self.say(format!("two of {shape:?} from {before}, {between} apart"));
        let gpu = self.world.gpu.clone();
        let tensors = if is_half {
            placed::<f16>(&gpu, &models, before, between).map(|tensors| tensors.map(Held::F16))
        } else {
            placed::<f32>(&gpu, &models, before, between).map(|tensors| tensors.map(Held::F32))
        };
        let buffer = Arc::new(());
        match tensors {
            Ok(tensors) => {
                for (tensor, model) in tensors.into_iter().zip(models) {
                    self.keep_sharing(Ok(tensor), model, buffer.clone());
                }
            }
            Err(error) => self.excuse(error),
        }
    }

    /// Writes into a part of a tensor, which all tensors of its buffer see; or fails to, without the word of the caller. The
    /// position is the host's, or in a tensor.
    pub(crate) fn write_part(&mut self) {
        let fits = |item: &Item| item.model.shape.len() > 1 && !item.tensor.overlaps();
        let Some(at) = self.find(fits) else { return };
        let axis = self.random.below(self.items[at].model.shape.len());
        let extent = self.items[at].model.shape[axis];
        let start = self.random.below(extent);
        let end = start + 1 + self.random.below(extent - start);
        let part = self.items[at].model.slice(axis, start..end);
        let model = Model::random(&mut self.random, &part.shape);
        let (is_named, shared) = (self.random.chance(80), self.items[at].is_shared());
        let name = self.items[at].name();
        self.say(format!("{start}..{end} of axis {axis} of {name}, {is_named}"));
        let gpu = self.world.gpu.clone();
        let new = match Held::upload(&gpu, self.items[at].tensor.dtype(), &model) {
            Ok(new) => new,
            Err(error) => return self.excuse(error),
        };
        let slice = each!(&self.items[at].tensor, t => t.slice(axis, start..end).map(Held::from));
        let slice = slice.expect("it lies in the axis");
        let place = if self.random.chance(40) {
            let position = if end == extent && self.random.chance(50) { i32::MAX } else { integer(start) };
            match gpu.tensor(&[position], [1]) {
                Ok(position) => Some((axis, position)),
                Err(error) => return self.excuse(error),
            }
        } else {
            None
        };
        let whole = self.items[at].whole();
        let c = if place.is_some() { &whole } else { &slice };
        let written = match (&new, c) {
            (Held::F32(a), Held::F32(c)) => copy(a, c, is_named, place.as_ref()),
            (Held::F16(a), Held::F16(c)) => copy(a, c, is_named, place.as_ref()),
            (Held::I8(a), Held::I8(c)) => copy(a, c, is_named, place.as_ref()),
            (Held::I32(a), Held::I32(c)) => copy(a, c, is_named, place.as_ref()),
            _ => return,
        };
        match written {
            Ok(()) => {
                assert!(is_named, "{name}: the slice shares its buffer with the whole ({shared})");
                let places = each!(&slice, t => places(t));
                let new: HashMap<usize, i32> = places.into_iter().zip(model.values).collect();
                let buffer = self.items[at].buffer.clone();
                for item in self.items.iter_mut().filter(|item| Arc::ptr_eq(&item.buffer, &buffer)) {
                    update(item, &new);
                }
            }
            Err(Error::Input { .. }) if !is_named => {}
            Err(error) => self.excuse(error),
        }
    }

    /// A copy of a part of a tensor, from a position that is in a tensor.
    pub(crate) fn copy_part(&mut self) {
        let Some(at) = self.find(|item| item.model.shape.len() > 1) else { return };
        let axis = self.random.below(self.items[at].model.shape.len());
        let extent = self.items[at].model.shape[axis];
        let start = self.random.below(extent);
        let end = start + 1 + self.random.below(extent - start);
        let name = self.items[at].name();
        self.say(format!("{start}..{end} of axis {axis} of {name}"));
        let model = self.items[at].model.slice(axis, start..end);
        let position = self.world.gpu.tensor(&[integer(start)], [1]);
        let copied = position.and_then(|position| {
            each!(&self.items[at].tensor, t => ops::slice_at(t, axis, &position, end - start).map(Held::from))
        });
        self.keep(copied, model);
    }

    /// A tensor and another, or itself, one after another along an axis, or stacked.
    pub(crate) fn join(&mut self) {
        let Some(at) = self.find(|item| item.model.shape.len() < 6) else { return };
        let (shape, dtype) = (self.items[at].model.shape.clone(), self.items[at].tensor.dtype());
        let other = self.find(|item| item.model.shape == shape && item.tensor.dtype() == dtype).unwrap_or(at);
        let axis = self.random.below(shape.len());
        let is_stacked = self.random.chance(30);
        let [a, b] = [&self.items[at], &self.items[other]];
        let joined = match (&a.tensor, &b.tensor) {
            (Held::F32(a), Held::F32(b)) => join(a, b, axis, is_stacked).map(Held::F32),
            (Held::F16(a), Held::F16(b)) => join(a, b, axis, is_stacked).map(Held::F16),
            (Held::I8(a), Held::I8(b)) => join(a, b, axis, is_stacked).map(Held::I8),
            (Held::I32(a), Held::I32(b)) => join(a, b, axis, is_stacked).map(Held::I32),
            _ => return,
        };
        let [x, y] = [&a.model.values[..], &b.model.values];
        let mut model = Model { shape: shape.clone(), values: Vec::new() };
        if is_stacked {
            model.shape.insert(axis, 2);
            model.values = reference::stack(&[x, y], &shape, axis);
        } else {
            model.shape[axis] *= 2;
            model.values = reference::concat(&[(x, &shape[..]), (y, &shape[..])], axis);
        }
        let names = format!("{} and {} along {axis}", a.name(), b.name());
        self.say(names);
        // What grows without end is dropped.
        if model.values.len() < 1 << 14 { self.keep(joined, model) } else { drop(joined) }
    }
}

/// Two tensors of these elements in a new buffer of the application's, which it has written.
fn placed<T: Element>(
    gpu: &Gpu,
    models: &[Model; 2],
    before: usize,
    between: usize,
) -> Result<[Tensor<T>; 2]> {
    let len = models[0].values.len();
    let starts = [before, before + len + between];
    let size = size_of::<T>();
    let bytes = ((starts[1] + len) * size).next_multiple_of(16);
    let buffer = support::app::buffer(
        gpu.device(),
        bytes as u64,
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
    );
    let mut data = vec![0xffu8; bytes]; // NaN
    for (model, start) in models.iter().zip(starts) {
        let values = elements::<T>(&model.values);
        data[start * size..(start + len) * size].copy_from_slice(bytemuck::cast_slice(&values));
    }
    gpu.queue().write_buffer(&buffer, 0, &data);
    let tensor = |at: usize| {
        let start = (starts[at] * size) as u64;
        Tensor::from_buffer(gpu, buffer.clone(), start.., &models[at].shape)
    };
    Ok([tensor(0)?, tensor(1)?])
}

/// Copies to a tensor, or to the position along an axis of it.
fn copy<T: Element>(
    a: &Tensor<T>,
    c: &Tensor<T>,
    is_named: bool,
    place: Option<&(usize, Tensor<i32>)>,
) -> Result<()> {
    let mut c = if is_named { c.writable_view() } else { c.clone() };
    match place {
        Some((axis, at)) => ops::copy_into_at(a, &mut c, *axis, at),
        None => ops::copy_into(a, &mut c),
    }
}

fn integer(position: usize) -> i32 {
    i32::try_from(position).expect("a small tensor")
}

fn join<T: Element>(a: &Tensor<T>, b: &Tensor<T>, axis: usize, is_stacked: bool) -> Result<Tensor<T>> {
    if is_stacked { ops::stack(&[a, b], axis) } else { ops::concat(&[a, b], axis) }
}

/// The places of a tensor's elements in its buffer, row-major.
fn places<T: Element>(tensor: &Tensor<T>) -> Vec<usize> {
    let mut places = vec![tensor.layout().offset()];
    for (&extent, &stride) in tensor.shape().iter().zip(tensor.strides()) {
        places = places.iter().flat_map(|&at| (0..extent).map(move |i| at + i * stride)).collect();
    }
    places
}

/// The values of a tensor after these places of its buffer were written.
fn update(item: &mut Item, new: &HashMap<usize, i32>) {
    let places = each!(&item.tensor, t => places(t));
    for (value, place) in item.model.values.iter_mut().zip(places) {
        *value = new.get(&place).copied().unwrap_or(*value);
    }
}
