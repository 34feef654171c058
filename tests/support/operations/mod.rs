//! The registration of operations: a row for every public function that can fail, with an example of a call of it.
//!
//! The tests of lost devices, captures, errors and launches go through these rows. The roles of operands are the fields of
//! the [`World`] that a call works on: a test replaces `a`, or all of them, and every row that reads it is tried.

mod clifford;
mod conv;
mod files;
mod gpu;
mod images;
mod layers;
mod networks;
mod ops;
pub mod results;
pub mod shapes;
mod sketch;
mod transformer;
mod world;

use std::any::Any;
use tilewise::Result;
use tilewise::planning::ops::{
    ReduceFunction, ReductionCall, TensorCall, real_calls, reduction_calls, tensor_calls,
};
pub use world::World;

/// What an example does, and what it gives.
type Example = Box<dyn Fn(&mut World) -> Result<Box<dyn Any>>>;

/// A public function that can fail.
pub struct Row {
    /// As `tests/house/api.txt` has it.
    pub name: &'static str,
    example: Example,
    /// Its line in the book, if the rows write it: types, bound, launches and gradient.
    pub book: Option<[&'static str; 4]>,
}

impl Row {
    /// Calls the function; this succeeds unless the device is lost. The [`results`] are read from what it gives.
    pub fn call(&self, it: &mut World) -> Result<Box<dyn Any>> {
        (self.example)(it)
    }

    /// The same, whose line in the book has these cells.
    fn listed(self, book: [&'static str; 4]) -> Self {
        Self { book: Some(book), ..self }
    }

    /// The function as its errors name it: by its last name, with its type if that has others of the name.
    pub fn said(&self) -> String {
        let parts: Vec<&str> = self.name.split("::").collect();
        let last = parts[parts.len() - 1];
        match parts[..parts.len() - 1].last() {
            Some(&"Gemm") if last == "run" => "matmul".into(),
            Some(&"Gemm") => self.name.into(),
            Some(&"Convolution") => "conv2d".into(),
            Some(&"Softmax") => last.replace("run", "softmax").replace("softmax_log", "log_softmax"),
            Some(&"CrossEntropy") => {
                last.replace("run_with", "cross_entropy_and").replace("run", "cross_entropy")
            }
            Some(&"Cqrrpt") => "cqrrpt".into(),
            Some(&"Lstsq") => "lstsq".into(),
            Some(&"RangeFinder") => "range".into(),
            Some(&"Rsvd") => "rsvd".into(),
            Some(&"MvProduct") => "product".into(),
            Some(&"Connected") if last == "run" => "LayerProduct::connected".into(),
            Some(&"Connected") => format!("LayerProduct::connected_{last}"),
            Some(&"SkLinearForward") => "SkLinear::apply".into(),
            Some(&"Gpu" | &"Tensor" | &"Multivectors" | &"Pga") => last.into(),
            Some(of) if of.starts_with(char::is_uppercase) => {
                format!("{}::{last}", of.trim_end_matches("Builder"))
            }
            _ => last.into(),
        }
    }
}

/// A row of a function and an example.
fn row<R: 'static>(name: &'static str, example: fn(&mut World) -> Result<R>) -> Row {
    let example = move |it: &mut World| example(it).map(|made| Box::new(made) as Box<dyn Any>);
    Row { name, example: Box::new(example), book: None }
}

/// A row whose example works on a part of the world.
fn row_of<S: 'static, R: 'static>(
    name: &'static str,
    part: fn(&mut World) -> &mut S,
    example: fn(&mut S) -> Result<R>,
) -> Row {
    let example = move |it: &mut World| example(part(it)).map(|made| Box::new(made) as Box<dyn Any>);
    Row { name, example: Box::new(example), book: None }
}

/// All rows that are written out.
fn written() -> Vec<Row> {
    let rooms = [
        gpu::rows,
        shapes::rows,
        images::rows,
        ops::rows,
        clifford::rows,
        layers::rows,
        sketch::rows,
        transformer::rows,
        conv::rows,
        networks::rows,
        files::rows,
    ];
    let rows = rooms.into_iter().flat_map(|rows| rows());
    #[cfg(feature = "ndarray")]
    let rows = rows.chain(gpu::of_ndarray());
    rows.collect()
}

/// The functions of elements and the reductions, which the library's tables list.
pub fn functions() -> Vec<Row> {
    let named = |(function, call): (_, TensorCall<f32>)| {
        let name = &*format!("ops::{function}").leak();
        let example = move |it: &mut World| -> Result<Box<dyn Any>> {
            Ok(match call {
                TensorCall::One(op) => Box::new(op(&it.a)?),
                TensorCall::Two(op) => Box::new(op(&it.a, &it.b)?),
                TensorCall::Three(op) => Box::new(op(&it.a, &it.b, &it.row)?),
                TensorCall::Compare(op) => Box::new(op(&it.a, &it.b)?),
                TensorCall::Mask(op) => Box::new(op(&it.mask)?),
                TensorCall::Masks(op) => Box::new(op(&it.mask, &it.mask)?),
            })
        };
        Row { name, example: Box::new(example), book: None }
    };
    let reduced = |(function, call): (ReduceFunction, ReductionCall<f32>)| {
        let name = &*format!("ops::{}", function.op()).leak();
        let example = move |it: &mut World| -> Result<Box<dyn Any>> {
            Ok(match call {
                ReductionCall::Along(op) => Box::new(op(&it.a, 0.into())?),
                ReductionCall::Place(op) => Box::new(op(&it.a, 1)?),
            })
        };
        Row { name, example: Box::new(example), book: None }
    };
    let reductions = reduction_calls().into_iter().map(reduced);
    tensor_calls().into_iter().chain(real_calls()).map(named).chain(reductions).collect()
}

/// All rows.
pub fn all() -> Vec<Row> {
    written().into_iter().chain(functions()).collect()
}
