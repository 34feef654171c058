//! Steps of convolutions of integers: of images that are views of the walk's matrices, and of volumes; with their gradients.

use crate::actor::Actor;
use crate::held::{Held, elements};
use crate::model::{Model, largest_of};
use tilewise::conv::{ConvOptions, Convolution, Padding, conv2d_backward, conv3d, conv3d_backward};
use tilewise::{Activation, DType, Element, Gpu, Real, Result, Tensor};

/// What is convolved: kernels of few kinds, so that few are compiled.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Channels of X and of the result.
    channels: [usize; 2],
    groups: usize,
    /// Depth, rows and columns.
    taps: [usize; 3],
    strides: [usize; 3],
    padding: [[usize; 2]; 3],
}

/// Each channel by itself, a plain product of windows, groups with a stride, and volumes.
const FORMS: [Form; 4] = [
    Form { channels: [4, 4], groups: 4, taps: [1, 3, 3], strides: [1; 3], padding: [[0; 2], [1; 2], [1; 2]] },
    Form { channels: [3, 5], groups: 1, taps: [1, 2, 3], strides: [1; 3], padding: [[0; 2], [1, 0], [1; 2]] },
    Form {
        channels: [4, 6],
        groups: 2,
        taps: [1, 3, 1],
        strides: [1, 2, 1],
        padding: [[0; 2], [1; 2], [0; 2]],
    },
    Form { channels: [2, 3], groups: 1, taps: [2; 3], strides: [1, 1, 2], padding: [[1, 0], [0, 1], [1; 2]] },
];

impl Form {
    /// Shapes of the weight and of the result. None, where the kernel is larger than the padded images.
    fn shapes(&self, x: &[usize]) -> Option<[Vec<usize>; 2]> {
        let mut y = vec![x[0]];
        for axis in 0..3 {
            let padded = x[1 + axis] + self.padding[axis].iter().sum::<usize>();
            y.push(padded.checked_sub(self.taps[axis])? / self.strides[axis] + 1);
        }
        y.push(self.channels[1]);
        let weight = [&[self.channels[1]][..], &self.taps, &[self.channels[0] / self.groups]].concat();
        Some([weight, y])
    }

    /// Calls `term` with the places in Y, X and the weight of each product of the convolution.
    fn each_term(&self, x: &[usize], weight: &[usize], y: &[usize], mut term: impl FnMut([usize; 3])) {
        let own = self.channels[0] / self.groups;
        each(y, |of_y, y_at| {
            let output = of_y[4];
            let group = output / (self.channels[1] / self.groups);
            each(&weight[1..], |tap, at| {
                let mut x_at = of_y[0];
                for axis in 0..3 {
                    let place = of_y[1 + axis] * self.strides[axis] + tap[axis];
                    let inside = place.checked_sub(self.padding[axis][0]);
                    let Some(place) = inside.filter(|&place| place < x[1 + axis]) else { return };
                    x_at = x_at * x[1 + axis] + place;
                }
                let taps: usize = weight[1..].iter().product();
                term([y_at, x_at * self.channels[0] + group * own + tap[3], output * taps + at]);
            });
        });
    }
}

/// Calls `visit` with the index and the place of each element of a shape.
fn each(shape: &[usize], mut visit: impl FnMut(&[usize], usize)) {
    for at in 0..shape.iter().product() {
        let mut rest = at;
        let mut index = vec![0; shape.len()];
        for (along, extent) in index.iter_mut().zip(shape).rev() {
            (*along, rest) = (rest % extent, rest / extent);
        }
        visit(&index, at);
    }
}

/// Operands on the host, and what is computed of them.
struct Convolved {
    form: Form,
    x: Model,
    weight: Model,
    residual: Model,
    y: Model,
}

impl Convolved {
    /// None where a sum may not be exact in this type.
    fn of(actor: &mut Actor, form: Form, x: Model, dtype: DType) -> Option<Self> {
        let [weight, y] = form.shapes(&x.shape)?;
        let weight = Model::random(&mut actor.random, &weight);
        let residual = Model::random(&mut actor.random, &y);
        let length = i64::try_from(weight.values.len() / weight.shape[0]).expect("a small kernel");
        if length * x.largest() * weight.largest() + residual.largest() > largest_of(dtype) {
            return None;
        }
        let mut sums = vec![0; residual.values.len()];
        form.each_term(&x.shape, &weight.shape, &y, |[y, of_x, tap]| {
            sums[y] += x.values[of_x] * weight.values[tap];
        });
        Some(Self { form, weight, y: Model { shape: y, values: sums }, residual, x })
    }

    /// The larger of the sums and 0, plus a residual.
    fn finished(&self) -> Model {
        let values = self.y.values.iter().zip(&self.residual.values).map(|(sum, r)| sum.max(&0) + r);
        Model { shape: self.y.shape.clone(), values: values.collect() }
    }

    /// The gradients of X and of the weight, where the residual is that of the result. None where they may not be exact.
    fn gradients(&self) -> Option<[Model; 2]> {
        let terms = i64::try_from(self.y.values.len().max(self.weight.values.len())).expect("small tensors");
        let largest = self.x.largest().max(self.weight.largest());
        if terms * largest * self.residual.largest() > largest_of(DType::F32) {
            return None;
        }
        let zeros = |of: &Model| Model { shape: of.shape.clone(), values: vec![0; of.values.len()] };
        let (mut of_x, mut of_weight) = (zeros(&self.x), zeros(&self.weight));
        self.form.each_term(&self.x.shape, &self.weight.shape, &self.y.shape, |[y, x, tap]| {
            of_x.values[x] += self.residual.values[y] * self.weight.values[tap];
            of_weight.values[tap] += self.residual.values[y] * self.x.values[x];
        });
        Some([of_x, of_weight])
    }
}

fn upload<T: Element>(gpu: &Gpu, model: &Model, shape: &[usize]) -> Result<Tensor<T>> {
    gpu.tensor(&elements::<T>(&model.values), shape)
}

/// The shape without the depth of images.
fn of_images(shape: &[usize]) -> Vec<usize> {
    [&shape[..1], &shape[2..]].concat()
}

/// What was computed: the result, and the gradients of X and of the weight, if it was asked for them.
type Results<T> = (Tensor<T>, Option<(Tensor<T>, Tensor<f32>)>);

/// The first two axes of five as one.
fn joined(shape: &[usize]) -> Vec<usize> {
    [&[shape[0] * shape[1]], &shape[2..]].concat()
}

/// The same elements along four axes: other steps take no more.
fn of_four_axes(volumes: &Tensor<f32>) -> Result<Tensor<f32>> {
    volumes.reshape(joined(volumes.shape()))
}

impl Actor {
    /// A convolution, of which the result and perhaps the gradients are kept.
    pub(crate) fn convolve(&mut self) {
        let form = FORMS[self.random.below(FORMS.len())];
        if form.taps[0] > 1 {
            return self.convolve_volumes(form);
        }
        // The columns of a matrix are channels of images that are one column wide.
        let fits = |shape: &[usize]| shape.len() == 2 && shape[1] >= form.channels[0];
        let Some(at) = self.find(|item| fits(&item.model.shape)) else { return };
        let model = self.items[at].model.slice(1, 0..form.channels[0]);
        let name = self.items[at].name();
        let item = self.items[at].whole();
        match item {
            Held::F32(x) => self.convolve_rows(form, &x, &model, &name),
            Held::F16(x) => self.convolve_rows(form, &x, &model, &name),
            _ => {}
        }
    }

    fn convolve_rows<T: Real>(&mut self, form: Form, matrix: &Tensor<T>, model: &Model, name: &str)
    where
        Held: From<Tensor<T>>,
    {
        let gpu = self.world.gpu.clone();
        let [rows, channels] = [model.shape[0], form.channels[0]];
        let x = Model { shape: vec![1, 1, rows, 1, channels], values: model.values.clone() };
        let Some(convolved) = Convolved::of(self, form, x, T::DTYPE) else { return };
        let [_, down, across] = form.strides;
        let options = ConvOptions::<2>::new()
            .stride([down, across])
            .padding(Padding::Explicit([form.padding[1], form.padding[2]]))
            .groups(form.groups);
        let backward = T::DTYPE == DType::F32 && self.random.chance(40);
        self.say(format!("{form:?} of {name}, backward {backward}"));
        let run = || -> Result<_> {
            let x = matrix.slice(1, 0..channels)?.unsqueeze(0)?.unsqueeze(2)?;
            let weight = upload::<T>(&gpu, &convolved.weight, &of_images(&convolved.weight.shape))?;
            let residual = upload::<T>(&gpu, &convolved.residual, &of_images(&convolved.residual.shape))?;
            let y = Convolution::new(&x, &weight)
                .options(options)
                .activation(Activation::Relu)
                .residual(&residual)
                .run()?;
            let gradients = if backward {
                let (of_x, found) = conv2d_backward(&x, &weight, None, &options, &residual)?;
                Some((of_x, found.get("weight").expect("it is there").clone()))
            } else {
                None
            };
            Ok((y, gradients))
        };
        let images = |model: Model| Model { shape: of_images(&model.shape), values: model.values };
        let done = run();
        self.keep_convolved(
            done,
            images(convolved.finished()),
            convolved.gradients().map(|all| all.map(images)),
        );
    }

    fn convolve_volumes(&mut self, form: Form) {
        let gpu = self.world.gpu.clone();
        let mut extent = |most| 1 + self.random.below(most);
        let shape = [extent(2), extent(4), extent(6), extent(6), form.channels[0]];
        let x = Model::random(&mut self.random, &shape);
        let Some(convolved) = Convolved::of(self, form, x, DType::F32) else { return };
        let options = ConvOptions::<3>::new().stride(form.strides).padding(Padding::Explicit(form.padding));
        let backward = self.random.chance(40);
        self.say(format!("{form:?} of {shape:?}, backward {backward}"));
        let run = || -> Result<_> {
            let x = upload::<f32>(&gpu, &convolved.x, &shape)?;
            let weight = upload(&gpu, &convolved.weight, &convolved.weight.shape)?;
            let y = of_four_axes(&conv3d(&x, &weight, None, &options)?)?;
            let gradients = if backward {
                let grad = upload(&gpu, &convolved.residual, &convolved.residual.shape)?;
                let (of_x, found) = conv3d_backward(&x, &weight, None, &options, &grad)?;
                Some((of_four_axes(&of_x)?, of_four_axes(found.get("weight").expect("it is there"))?))
            } else {
                None
            };
            Ok((y, gradients))
        };
        let done = run();
        let joined = |model: Model| Model { shape: joined(&model.shape), values: model.values };
        let gradients = convolved.gradients().map(|both| both.map(joined));
        self.keep_convolved(done, joined(convolved.y.clone()), gradients);
    }

    fn keep_convolved<T: Real>(&mut self, done: Result<Results<T>>, y: Model, gradients: Option<[Model; 2]>)
    where
        Held: From<Tensor<T>>,
    {
        let (result, found) = match done {
            Ok(done) => done,
            Err(error) => return self.excuse(error),
        };
        self.keep(Ok(result.into()), y);
        if let (Some((of_x, of_weight)), Some([x, weight])) = (found, gradients) {
            self.keep(Ok(of_x.into()), x);
            self.keep(Ok(Held::F32(of_weight)), weight);
        }
    }
}
