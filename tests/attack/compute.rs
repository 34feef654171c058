//! Steps that compute: new tensors of one or two, views, results written into tensors that are there.

use crate::actor::Actor;
use crate::held::{Held, Item, each, elements};
use crate::model::{Model, largest_of};
use crate::world::Menu;
use std::sync::Arc;
use tilewise::clifford::{BladeAxis, Multivectors, Product, Signature};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::sketch::{Scaling, Sketch, SketchKind};
use tilewise::{Activation, DType, Error, Gemm, Result, Tensor, f16, ops};

impl Actor {
    pub(crate) fn compute(&mut self) {
        let kinds = match self.menu {
            Menu::Plain => 4,
            Menu::Typed => 7,
            Menu::Many => 10,
            Menu::Whole => 13,
        };
        match self.random.below(kinds) {
            0 | 1 => self.product(),
            2 => self.elementwise(),
            3 => self.copy(),
            4 | 5 => self.cast(),
            6 => self.reduce(),
            7 => self.move_elements(),
            8 => self.layer(),
            9 => self.convolve(),
            10 => self.epilogue(),
            11 => self.sketch(),
            _ => self.clifford(),
        }
    }

    /// A matrix times another that is there, its own transpose, or a new one; of which the last may be dropped at once.
    fn product(&mut self) {
        let Some(at) = self.matrix() else { return };
        let (a, dtype) = (&self.items[at].model, self.items[at].tensor.dtype());
        if dtype == DType::I32 {
            return;
        }
        let k = a.shape[1];
        let fits = |model: &Model| model.shape.len() == 2 && model.shape[0] == k;
        let partner = self.find(|item| fits(&item.model) && item.tensor.dtype() == dtype);
        let (b, model) = match (self.random.below(3), partner) {
            (0, _) => (self.items[at].transposed(), self.items[at].model.t()),
            (1, Some(other)) => (self.items[other].whole(), self.items[other].model.clone()),
            _ => {
                let shape = [k, self.random.extent()];
                let model = Model::random(&mut self.random, &shape);
                match Held::upload(&self.world.gpu, dtype, &model) {
                    Ok(b) => (b, model),
                    Err(error) => return self.excuse(error),
                }
            }
        };
        let item = &self.items[at];
        let Some(want) = item.model.matmul(&model, largest_of(DType::F32)) else { return };
        let name = item.name();
        // Each shape may have a kernel of its own: mostly one that is compiled.
        let free = self.menu == Menu::Whole && self.random.chance(20);
        let parts = if free && self.random.chance(30) { SplitK::Splits(3) } else { SplitK::Auto };
        let item = &self.items[at];
        let result = match (&item.tensor, &b) {
            (Held::F32(a), Held::F32(b)) => product(a, b, free, parts).map(Held::F32),
            (Held::F16(a), Held::F16(b)) => product(a, b, free, parts).map(Held::F32),
            (Held::I8(a), Held::I8(b)) if free => tilewise::matmul(a, b).map(Held::I32),
            (Held::I8(a), Held::I8(b)) => Gemm::new(a, b).kernel(GemmKernel::Naive).run().map(Held::I32),
            _ => return,
        };
        self.say(format!("{name} by {:?}, {parts:?}", model.shape));
        drop(b);
        self.keep(result, want);
    }

    /// Sums, differences and products of elements, and an expression; a row is repeated.
    fn elementwise(&mut self) {
        let Some(at) = self.find(|item| matches!(item.tensor, Held::F32(_))) else { return };
        let Held::F32(a) = self.items[at].whole() else { return };
        let own = self.items[at].model.clone();
        let shape = own.shape.clone();
        let partner = self.find(|item| item.model.shape == shape && matches!(item.tensor, Held::F32(_)));
        let (b, model) = match partner {
            Some(other) if self.random.chance(60) => {
                (self.items[other].whole(), self.items[other].model.clone())
            }
            _ => {
                let row = shape.last().map_or(1, |&extent| extent);
                let model = Model::random(&mut self.random, &[row]);
                match Held::upload(&self.world.gpu, DType::F32, &model) {
                    Ok(b) => (b, model),
                    Err(error) => return self.excuse(error),
                }
            }
        };
        let Held::F32(b) = b else { return };
        let kind = self.random.below(if self.menu == Menu::Plain { 1 } else { 4 });
        let limit = largest_of(DType::F32);
        self.say(format!("{} of {:?} and {:?}", ["add", "sub", "mul", "map"][kind], own.shape, model.shape));
        let (result, want) = match kind {
            0 => (ops::add(&a, &b), own.with(&model, |x, y| x + y, limit)),
            1 => (ops::sub(&a, &b), own.with(&model, |x, y| x - y, limit)),
            2 => (ops::mul(&a, &b), own.with(&model, |x, y| x * y, limit)),
            _ => (
                ops::map(&[&a, &b], |[a, b]| a.less(&b).select(a * 2.0 - &b, b)),
                own.with(&model, |x, y| if x < y { 2 * x - y } else { y }, limit),
            ),
        };
        // What is not exact is recorded all the same, and dropped unread.
        match want {
            Some(want) => self.keep(result.map(Held::F32), want),
            None => drop(result),
        }
    }

    /// The same elements without gaps: a copy, or the same buffer where there are none.
    fn copy(&mut self) {
        let Some(at) = self.find(|_| true) else { return };
        let item = &self.items[at];
        let (is_same, model) = (each!(&item.tensor, t => t.layout().is_contiguous()), item.model.clone());
        let result = each!(&item.tensor, t => t.contiguous().map(Held::from));
        let buffer = if is_same { item.buffer.clone() } else { Arc::default() };
        let name = item.name();
        self.say(name);
        self.keep_sharing(result, model, buffer);
    }

    fn cast(&mut self) {
        let to = self.dtype();
        let Some(at) = self.find(|item| item.tensor.dtype() != to && item.model.largest() <= largest_of(to))
        else {
            return;
        };
        let item = &self.items[at];
        let (result, model) = (item.tensor.cast(to), item.model.clone());
        let name = format!("{} to {to}", item.name());
        self.say(name);
        self.keep(result, model);
    }

    /// relu(2 A A^T + bias) + residual, in f32 or f16.
    fn epilogue(&mut self) {
        let Some(at) = self.find(|item| matches!(item.tensor, Held::F32(_)) && item.model.shape.len() == 2)
        else {
            return;
        };
        let gpu = self.world.gpu.clone();
        let a = self.items[at].model.clone();
        let Some(product) = a.matmul(&a.t(), 1 << 10) else { return };
        let bias = Model::random(&mut self.random, &product.shape[1..]);
        let residual = Model::random(&mut self.random, &product.shape);
        let want = product
            .with(&bias, |x, y| (2 * x + y).max(0), 1 << 12)
            .and_then(|sums| sums.with(&residual, |x, y| x + y, largest_of(DType::F16)));
        let Some(want) = want else { return };
        let run = |halves: bool, a: &Tensor<f32>| -> Result<Held> {
            let bias = gpu.tensor(&elements::<f32>(&bias.values), &bias.shape)?;
            let residual = gpu.tensor(&elements::<f32>(&residual.values), &residual.shape)?;
            let at = a.t();
            let gemm = Gemm::new(a, &at).kernel(GemmKernel::Naive).alpha(2.0).bias(&bias);
            let gemm = gemm.activation(Activation::Relu);
            if halves {
                gemm.out::<f16>().residual(&residual.cast::<f16>()?).run().map(Held::F16)
            } else {
                gemm.residual(&residual).run().map(Held::F32)
            }
        };
        let halves = self.random.chance(50);
        let Held::F32(tensor) = &self.items[at].tensor else { return };
        let result = run(halves, tensor);
        self.keep(result, want);
    }

    /// A `CountSketch` of integers: each row of the result is the sum of some rows, with signs.
    fn sketch(&mut self) {
        let Some(at) = self.find(|item| matches!(item.tensor, Held::F32(_)) && item.model.shape.len() == 2)
        else {
            return;
        };
        let item = &self.items[at];
        let Held::F32(x) = &item.tensor else { return };
        let n = item.model.shape[0];
        let sketch =
            Sketch::new(SketchKind::CountSketch, [3, n], self.step).expect("a line has three places");
        let sketch = sketch.scaled(Scaling::Unscaled);
        let s = Model { shape: vec![3, n], values: crate::held::integers(&sketch.to_vec()) };
        let Some(want) = s.matmul(&item.model, largest_of(DType::F32)) else { return };
        let result = sketch.apply(x, 0).map(Held::F32);
        self.keep(result, want);
    }

    /// A vector times a vector of Cl(3): a scalar and a bivector of integers.
    fn clifford(&mut self) {
        let algebra = Signature::CL3;
        let vectors = Model::random(&mut self.random, &[5, 3]);
        let by = Model::random(&mut self.random, &[5, 3]);
        let terms = Product::Geometric.terms(&algebra.vectors(), &algebra.vectors()).expect("one algebra");
        let gpu = self.world.gpu.clone();
        let run = || -> Result<Held> {
            let operand = |model: &Model| {
                let tensor = gpu.tensor(&elements::<f32>(&model.values), &model.shape)?;
                Multivectors::new(tensor, &algebra.vectors(), BladeAxis::Last)
            };
            let product = operand(&vectors)?.geometric(&operand(&by)?)?;
            assert_eq!(product.blades(), &terms.out);
            Ok(Held::F32(product.into_tensor()))
        };
        let mut values = Vec::new();
        for (x, y) in vectors.values.chunks(3).zip(by.values.chunks(3)) {
            for &out in terms.out.masks() {
                let mut sum = 0;
                for (i, x) in x.iter().enumerate() {
                    for (j, y) in y.iter().enumerate().filter(|(j, _)| (1 << i) ^ (1 << j) == out) {
                        sum += x * y * i32::from(algebra.sign(1 << i, 1 << j));
                    }
                }
                values.push(sum);
            }
        }
        let shape = vec![5, values.len() / 5];
        self.keep(run(), Model { shape, values });
    }

    /// A view of some tensor, which shares its buffer.
    pub(crate) fn view(&mut self) {
        if self.random.chance(30) {
            return self.view_other_axes();
        }
        let Some(at) = self.find(|_| true) else { return };
        let shape = self.items[at].model.shape.clone();
        let rank = shape.len();
        let kind = self.random.below(5);
        let axis = self.random.below(rank);
        let start = self.random.below(shape[axis]);
        let end = start + 1 + self.random.below(shape[axis] - start);
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.rotate_left(self.random.below(rank));
        let item = &self.items[at];
        let (tensor, model, buffer) = (&item.tensor, &item.model, item.buffer.clone());
        let (result, model) = match kind {
            0 => (each!(tensor, t => Ok(t.t().into())), model.t()),
            1 => {
                (each!(tensor, t => t.slice(axis, start..end).map(Held::from)), model.slice(axis, start..end))
            }
            2 => (each!(tensor, t => t.permute(&axes).map(Held::from)), model.permute(&axes)),
            3 => (each!(tensor, t => Ok(t.clone().into())), model.clone()),
            _ => {
                let all: usize = shape.iter().product();
                let new =
                    if rank == 2 { vec![shape[0], 1, shape[1]] } else { vec![shape[0], all / shape[0]] };
                let result = each!(tensor, t => t.reshape(&new).map(Held::from));
                if let (Err(Error::Shape { .. }), false) = (&result, item.tensor.is_plain()) {
                    return; // gaps, or axes in another order
                }
                (result, model.reshape(&new))
            }
        };
        let name = item.name();
        self.say(format!("{name} to {:?}", model.shape));
        self.keep_sharing(result, model, buffer);
    }

    /// A product or sum into a tensor that is there: right if nobody shares it, an error and unchanged otherwise.
    pub(crate) fn into(&mut self) {
        if self.menu >= Menu::Many && self.random.chance(30) {
            return self.add_by_index();
        }
        let fits = |item: &Item| {
            let is_matrix = item.model.shape.len() == 2 && matches!(item.tensor, Held::F32(_));
            is_matrix && !item.tensor.overlaps()
        };
        let Some(at) = self.find(fits) else { return };
        let mut item = self.items.swap_remove(at);
        let k = 1 + self.random.below(9);
        let (m, n) = (item.model.shape[0], item.model.shape[1]);
        let a = Model::random(&mut self.random, &[m, k]);
        let b = Model::random(&mut self.random, &[k, n]);
        let beta = self.menu == Menu::Whole && self.random.chance(50);
        let product = a.matmul(&b, largest_of(DType::F32)).expect("small");
        let sum = beta.then(|| product.with(&item.model, |x, y| x + 2 * y, largest_of(DType::F32)));
        let (name, shared) = (item.name(), item.is_shared());
        self.say(format!("{name} by {k}, beta {beta}"));
        let gpu = &self.world.gpu;
        let Held::F32(c) = &mut item.tensor else { return };
        // Rows of C may have gaps between them, columns not.
        let stores = c.strides()[1] == 1 || n == 1;
        let run = |c: &mut Tensor<f32>| -> Result<()> {
            let a = gpu.tensor(&elements::<f32>(&a.values), &a.shape)?;
            let b = gpu.tensor(&elements::<f32>(&b.values), &b.shape)?;
            let beta = if beta { 2.0 } else { 0.0 };
            Gemm::new(&a, &b).kernel(GemmKernel::Naive).beta(beta).run_into(c)
        };
        match (run(c), sum) {
            (Ok(()), sum) => {
                assert!(!shared, "{name} is shared, but was written");
                // What is no longer exact is dropped.
                let Some(model) = sum.unwrap_or(Some(product)) else { return };
                item.model = model;
            }
            (Err(Error::Input { .. }), _) if shared => {}
            (Err(Error::Shape { .. }), _) if !stores => {}
            (Err(error), _) => self.excuse(error),
        }
        self.items.push(item);
    }
}

fn product<T: tilewise::Real>(
    a: &Tensor<T>,
    b: &Tensor<T>,
    free: bool,
    parts: SplitK,
) -> Result<Tensor<f32>> {
    let gemm = Gemm::new(a, b).split_k(parts);
    if free { gemm.run() } else { gemm.kernel(GemmKernel::Naive).run() }
}
