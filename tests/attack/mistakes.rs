//! Steps that are mistakes: each is an error of its own kind at once, and what was recorded before stays right.

use crate::actor::Actor;
use crate::held::{Held, elements};
use crate::model::Model;
use crate::world::{Menu, SMALL_BINDING};
use std::sync::atomic::Ordering;
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::{Error, Gemm, Result, Tensor, matmul, ops};

/// The smallest tile that takes a product in parts: the quickest to compile.
pub(crate) fn small_tile() -> Tile {
    let smallest = GemmKernel::Tiled.tiles().iter().min_by_key(|tile| (tile.bm, tile.tm));
    *smallest.expect("a kernel has tiles")
}

impl Actor {
    pub(crate) fn mistake(&mut self) {
        let gpu = self.world.gpu.clone();
        let model = Model::random(&mut self.random, &[5, 7]);
        let operand = |model: &Model| gpu.tensor(&elements::<f32>(&model.values), &model.shape);
        let recorded = operand(&model).and_then(|a| Ok((ops::add(&a, &a)?, a)));
        let (sum, mut a) = match recorded {
            Ok(recorded) => recorded,
            Err(error) => return self.excuse(error),
        };
        let twice = model.with(&model, |x, y| x + y, 100).expect("small");
        let kind = self.random.below(14);
        self.say(format!("kind {kind}"));
        let error = match kind {
            0 => matmul(&a, &a).map(drop),
            1 => ops::add(&a, &a.t()).map(drop),
            2 => gpu.tensor(&[1.0f32], [2, 2]).map(drop),
            3 => {
                let view = a.t();
                let written = a.write(&elements::<f32>(&model.values));
                drop(view);
                written
            }
            4 => gpu.empty::<f32>([1 << 20, 1 << 20]).map(drop),
            5 => match self.other.tensor(&elements::<f32>(&model.values), &model.shape) {
                Ok(foreign) => ops::add(&a, &foreign).map(drop),
                Err(_) => return, // it has no room itself
            },
            6 => Gemm::new(&a, &a.t()).kernel(GemmKernel::Dot).run().map(drop),
            7 => Gemm::new(&a, &a.t()).beta(1.0).run().map(drop),
            8 => a.slice(1, 3..9).map(drop),
            9 => a.reshape([6, 6]).map(drop),
            10 => return self.split(&sum, &twice),
            _ => return self.of_operations(&a, &sum, &twice),
        };
        let is_right = |error: &Error| match kind {
            0..=2 | 8 | 9 => matches!(error, Error::Shape { .. }),
            3 | 7 => matches!(error, Error::Input { .. }),
            4 => matches!(error, Error::Limit { .. } | Error::OutOfMemory { .. }),
            5 => matches!(error, Error::Gpu { .. }),
            _ => matches!(error, Error::Unsupported { .. }),
        };
        let error = error.expect_err("it is a mistake");
        assert!(is_right(&error), "mistake {kind}: {error:?}");
        self.still_right(&sum, &twice);
        self.keep(Ok(Held::F32(a)), model);
    }

    /// Operands that an operation does not take: nothing is launched.
    fn of_operations(&mut self, a: &Tensor<f32>, sum: &Tensor<f32>, twice: &Model) {
        let of = crate::wrong::WRONG;
        let (name, is_right, call) = of[self.random.below(of.len())];
        self.say(name);
        // Other threads launch, and so do callbacks that are still to run.
        let is_alone = self.world.threads == 1 && self.world.callbacks.load(Ordering::Acquire) == 0;
        let launches = self.world.gpu.stats().launches;
        match call(a) {
            Ok(()) => panic!("{name} is a mistake"),
            Err(Error::OutOfMemory { .. }) if self.world.budget.is_some() => {}
            Err(error) => assert!(is_right(&error), "{name}: {error:?}"),
        }
        assert!(!is_alone || self.world.gpu.stats().launches == launches, "{name} launches");
        self.still_right(sum, twice);
    }

    /// A product in parts whose sums outgrow what the device binds: right, or refused while planning.
    fn split(&mut self, sum: &Tensor<f32>, twice: &Model) {
        // Its kernels are compiled where bindings are small, and where all are.
        let small = self.world.gpu.caps().limits.binding_bytes <= SMALL_BINDING;
        if small || self.menu == Menu::Whole {
            let a = Model::random(&mut self.random, &[48, 320]);
            let parts = [2, 5, 10][self.random.below(3)];
            let gpu = &self.world.gpu;
            let run = || -> Result<Held> {
                let a = gpu.tensor(&elements::<f32>(&a.values), &a.shape)?;
                let gemm = Gemm::new(&a, &a.t()).tile(small_tile()).split_k(SplitK::Splits(parts)).run();
                gemm.map(Held::F32)
            };
            let (result, want) = (run(), a.matmul(&a.t(), 1 << 24).expect("small"));
            match result {
                Err(Error::Limit { .. } | Error::Unsupported { .. }) => self.say("refused"),
                result => self.keep(result, want),
            }
        }
        self.still_right(sum, twice);
    }

    fn still_right(&mut self, sum: &Tensor<f32>, twice: &Model) {
        for _ in 0..2 {
            match sum.to_vec() {
                Ok(values) => {
                    assert_eq!(crate::held::integers(&values), twice.values, "recorded before a mistake")
                }
                Err(error) => self.excuse(error),
            }
        }
    }
}
