//! The functions of elements, which the table lists.

use super::{Call, Work};
use tilewise::planning::ops::{real_calls, tensor_calls};

/// A call of each function of tensors.
pub(crate) fn calls() -> Vec<Call> {
    let all = tensor_calls().into_iter().chain(real_calls());
    all.map(|(function, call)| (&*format!("ops::{function}").leak(), Work::Function(call))).collect()
}
