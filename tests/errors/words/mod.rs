//! Errors in the user's words: each names the call that was made and the operands as they were given. On wgpu's noop
//! backend, every public operation with each of its mistakes. No device.

mod bindings;
mod devices;
mod files;
mod operations;
mod rows;
mod said;
mod shapes;
mod transformer;

use tilewise::clifford::layer::LayerProduct;
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::sketch::{SkLinear, Sketch, SketchKind};
use tilewise::{Activation, Error, Fill, Gpu, Result, Tensor, linear};

/// The call that an error names.
fn op(error: &Error) -> String {
    match error {
        Error::Shape { op, .. }
        | Error::Unsupported { op, .. }
        | Error::Limit { op, .. }
        | Error::OutOfMemory { op, .. }
        | Error::Gpu { op, .. } => (*op).into(),
        Error::Input { what, .. } => what.split(": ").next().unwrap_or_default().into(),
        other => panic!("{other}"),
    }
}

/// What is wrong with the errors of calls.
#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    /// A call that must fail with an error that names it.
    fn fails<R>(&mut self, call: &str, result: Result<R>) -> Option<Error> {
        let Some(error) = result.err() else {
            self.0.push(format!("{call} does not fail"));
            return None;
        };
        if op(&error) != call {
            self.0.push(format!("{call} says `{error}`"));
        }
        Some(error)
    }

    /// As [`fails`](Self::fails), because of the shapes of operands, of which the error has no others.
    fn shapes<R>(&mut self, call: &str, given: &[&[usize]], result: Result<R>) {
        match self.fails(call, result) {
            Some(Error::Shape { lhs, rhs, .. }) => {
                let is_given = |shape: &Vec<usize>| given.contains(&&shape[..]) || shape.len() < 2;
                if !given.contains(&&lhs[..]) || !rhs.as_ref().is_none_or(is_given) {
                    self.0.push(format!("{call} says {lhs:?} and {rhs:?}, given were {given:?}"));
                }
            }
            Some(other) => self.0.push(format!("{call} says `{other}`: no shape")),
            None => {}
        }
    }

    /// As [`fails`](Self::fails), with an error of this kind.
    fn of_kind(&mut self, call: &str, result: Result<()>, is: impl Fn(&Error) -> bool) {
        if let Some(error) = self.fails(call, result).filter(|error| !is(error)) {
            self.0.push(format!("{call} says `{error}`, which is of another kind"));
        }
    }

    fn none(self) {
        assert!(self.0.is_empty(), "{} errors are in other words:\n{}", self.0.len(), self.0.join("\n"));
    }
}

fn random(gpu: &Gpu, shape: &[usize]) -> Tensor<f32> {
    gpu.random(shape, Fill::Uniform, 1).unwrap()
}

/// A tensor of this shape that takes no memory: one element, repeated.
fn wide(gpu: &Gpu, shape: &[usize]) -> Tensor<f32> {
    random(gpu, &[1]).as_strided(shape, &vec![0; shape.len()], 0).unwrap()
}

const PLANE: Signature = Signature::CL2;

/// Multivectors of the plane, all four blades first.
fn mv(tensor: Tensor<f32>) -> Multivectors<f32> {
    Multivectors::new(tensor, &PLANE.blades(), BladeAxis::First).unwrap()
}

fn product() -> LayerProduct {
    LayerProduct::new(PLANE)
}

fn sketched(gpu: &Gpu) -> SkLinear<f32> {
    SkLinear::builder(1, 2).random(gpu, [16, 12]).unwrap()
}

fn sketches() -> Vec<Sketch> {
    let kinds = [SketchKind::Sign, SketchKind::CountSketch, SketchKind::Hadamard];
    kinds.into_iter().map(|kind| Sketch::new(kind, [8, 16], 1).unwrap()).collect()
}

#[test]
fn a_weight_that_is_stored_in_out_is_told_to_be_transposed() {
    let gpu = support::noop();
    let (x, weight) = (random(&gpu, &[7, 64]), random(&gpu, &[64, 10]));
    let error = linear(&x, &weight, None, Activation::None).unwrap_err().to_string();
    assert_eq!(
        error,
        "linear: the weight must be (out, in) with in = 64, the last axis of x; got [64, 10] and [7, 64]. \
         Transpose it with .t() if it is stored (in, out)."
    );
    assert!(linear(&x, &weight.t(), None, Activation::None).is_ok());
    let neither = linear(&x, &random(&gpu, &[9, 10]), None, Activation::None).unwrap_err().to_string();
    assert!(!neither.contains("Transpose"), "{neither}");
}

#[test]
fn a_main_that_returns_an_error_prints_its_message() {
    let gpu = support::noop();
    let error = gpu.tensor(&[1.0f32], [2]).unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}
