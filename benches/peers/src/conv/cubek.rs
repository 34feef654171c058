//! The peer on the GPU: CubeK's algorithms.

use super::algorithm::Algorithm;
use super::definition::{Definition, Operands};
use super::shape::Shape;
use crate::case::Type;
use crate::cubek::{CubeK, caught, element};
use crate::error::{Error, Result};
use crate::side::{Side, Time};
use bench::definition::POISON;
use bytemuck::Pod;
use cubecl::client::Client;
use cubecl::future::block_on;
use cubecl::ir::ElemType;
use cubecl::std::tensor::TensorHandle;
use cubek_convolution::{
    ConvolutionArgs, ConvolutionInputs, DepthwiseTensors, DirectTensors, launch_depthwise, launch_direct,
    launch_ref,
};
use cubek_matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek_std::InputBinding;
use std::time::Instant;
use tilewise::{Element, Real};

pub(crate) const NAME: &str = "CubeK";

/// Operands on CubeK's device.
pub(crate) struct Convolutions<'a> {
    cubek: &'a CubeK,
    shape: &'a Shape,
    dtype: Type,
    integers: [TensorHandle; 2],
    sets: Vec<[TensorHandle; 2]>,
}

impl<'a> Convolutions<'a> {
    /// Of this number of sets.
    pub(crate) fn new<T: Real>(
        cubek: &'a CubeK,
        shape: &'a Shape,
        dtype: Type,
        definition: &Definition<T>,
        sets: usize,
    ) -> Self {
        let tensor = |extents: [usize; 4], of: &[T]| {
            let handle = cubek.client().create_from_slice(bytemuck::cast_slice(of));
            TensorHandle::new_contiguous(extents, handle, element(dtype))
        };
        let set = |of: &Operands<T>| [tensor(shape.x(), &of.x), tensor(shape.weight(), &of.weight)];
        let sets = (0..sets).map(|_| set(&definition.uniform)).collect();
        Self { cubek, shape, dtype, integers: set(&definition.integers), sets }
    }

    /// Convolutions by one of CubeK's algorithms.
    pub(crate) fn algorithm<T: Real>(&self, algorithm: Algorithm, definition: &Definition<T>) -> Side<'_> {
        let kernel = algorithm.to_string();
        Side::new(NAME, kernel, definition, || {
            let y = self.poisoned::<T>();
            let into = y.clone();
            let launch = move |set: &[TensorHandle; 2]| {
                self.launch(&algorithm, set, into.clone())?;
                Ok(into.clone())
            };
            self.prepared(definition, launch)
        })
    }

    fn client(&self) -> &Client {
        self.cubek.client()
    }

    /// Checks the result of the integers, computes the first result, and makes the timing of a launch.
    fn prepared<'b, T: Real>(
        &'b self,
        definition: &Definition<T>,
        mut launch: impl FnMut(&[TensorHandle; 2]) -> Result<TensorHandle> + 'b,
    ) -> Result<(Vec<f32>, Time<'b>)> {
        let mut result = |set| caught(NAME, || self.read::<T>(launch(set)?));
        definition
            .check_integers(&result(&self.integers)?)
            .map_err(|why| Error::Side { side: NAME.into(), why })?;
        let first = result(&self.sets[0])?;
        let mut next = 0;
        let time: Time<'b> = Box::new(move |count| {
            caught(NAME, || {
                let start = Instant::now();
                let mut last = None;
                for _ in 0..count {
                    next += 1;
                    last = Some(launch(&self.sets[next % self.sets.len()])?);
                }
                // Waits, and reports launches that failed: those wrote no output.
                let handles = last.iter().map(|y| &y.handle);
                block_on(self.client().sync_buffers(handles)).map_err(|why| Error::side(NAME, why))?;
                Ok(start.elapsed().as_secs_f64())
            })
        });
        Ok((first, time))
    }

    /// A result without any element that a convolution has.
    fn poisoned<T: Real>(&self) -> TensorHandle {
        let values = vec![T::from_f64(POISON.into()); self.shape.y().iter().product()];
        let handle = self.client().create_from_slice(bytemuck::cast_slice(&values));
        TensorHandle::new_contiguous(self.shape.y(), handle, element(self.dtype))
    }

    fn read<T: Real + Pod>(&self, y: TensorHandle) -> Result<Vec<f32>> {
        let bytes = self.client().read_one(y.handle).map_err(|why| Error::side(NAME, why))?;
        let values: Vec<T> = bytemuck::pod_collect_to_vec(&bytes);
        Ok(values.iter().map(|y| f32::from_f64(y.to_f64())).collect())
    }

    fn launch(&self, algorithm: &Algorithm, [x, weight]: &[TensorHandle; 2], y: TensorHandle) -> Result<()> {
        let Self { shape, .. } = self;
        let (client, of) = (self.client(), element(self.dtype));
        let args =
            ConvolutionArgs { stride: [shape.stride; 2], padding: [shape.padding; 2], dilation: [1; 2] };
        let [input, weight] = [x, weight].map(|tensor| tensor.clone().binding());
        let out = y.binding();
        let launched = match algorithm {
            Algorithm::Product(strategy) => {
                let bound = |binding| InputBinding::new(binding, of);
                let inputs = ConvolutionInputs::Forward {
                    input: bound(input),
                    weight: bound(weight),
                    bias: None,
                    out,
                };
                launch_ref(strategy, client, inputs, args, elements(of))
            }
            Algorithm::Direct => {
                let tensors = DirectTensors { input, weight, bias: None, out };
                launch_direct(client, tensors, args, shape.groups, of)
            }
            Algorithm::Depthwise(strategy) => {
                let tensors = DepthwiseTensors { input, weight, out };
                launch_depthwise(client, tensors, args, shape.groups, of, *strategy)
            }
        };
        launched.map_err(|why| Error::side(NAME, why))
    }
}

/// The types of a convolution: all are that of its operands.
fn elements(of: ElemType) -> MatmulElems {
    MatmulElems::from_globals(&MatmulGlobalElems { lhs: of, rhs: of, out: of })
}
