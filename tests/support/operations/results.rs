//! The tensors in what calls give, whatever its type is.

use std::any::Any;
use tilewise::attention::AttentionGradients;
use tilewise::clifford::Multivectors;
use tilewise::ops::{BatchNormed, CrossEntropyLoss, MaxPooled, Normed, RmsNormed};
use tilewise::{Element, Gradients, Result, Tensor, f16};

/// Reads the bytes of a tensor.
pub type Read = Box<dyn Fn() -> Result<Vec<u8>>>;

/// The tensors in something of one type.
type Known = fn(&dyn Any) -> Option<Vec<Read>>;

/// Every type that is known here.
const KNOWN: [Known; 16] = [
    |made| is::<()>(made).map(|()| vec![]),
    |made| is::<Tensor<f32>>(made).map(|y| vec![of(y)]),
    |made| is::<Tensor<f16>>(made).map(|y| vec![of(y)]),
    |made| is::<Tensor<i8>>(made).map(|y| vec![of(y)]),
    |made| is::<Tensor<i32>>(made).map(|y| vec![of(y)]),
    |made| is::<(Tensor<f32>, Tensor<f32>)>(made).map(|(x, y)| vec![of(x), of(y)]),
    |made| is::<Normed<f32>>(made).map(normed),
    |made| is::<MaxPooled<f32>>(made).map(|p| vec![of(&p.y), of(&p.indices)]),
    |made| is::<RmsNormed<f32>>(made).map(|n| vec![of(&n.y), of(&n.rstd)]),
    |made| {
        is::<(Tensor<f32>, Normed<f32>)>(made)
            .map(|(x, n)| [vec![of(x)], normed(n)].into_iter().flatten().collect())
    },
    |made| is::<(Tensor<f32>, RmsNormed<f32>)>(made).map(|(x, n)| vec![of(x), of(&n.y), of(&n.rstd)]),
    |made| {
        is::<BatchNormed<f32>>(made).map(|n| {
            let running = n.running.iter().flat_map(|r| [of(&r.mean), of(&r.variance)]);
            [of(&n.y), of(&n.mean), of(&n.variance), of(&n.rstd)].into_iter().chain(running).collect()
        })
    },
    |made| {
        is::<(Tensor<f32>, Gradients)>(made)
            .map(|(x, g)| [of(x)].into_iter().chain(g.iter().map(|(_, g)| of(g))).collect())
    },
    |made| is::<CrossEntropyLoss>(made).map(|l| vec![of(&l.loss), of(&l.log_sums)]),
    |made| {
        is::<(CrossEntropyLoss, Tensor<f32>)>(made).map(|(l, g)| vec![of(&l.loss), of(&l.log_sums), of(g)])
    },
    |made| is::<AttentionGradients<f32>>(made).map(|g| vec![of(&g.q), of(&g.k), of(&g.v)]),
];

/// The tensors in what a call gave. None if its type is not known here.
pub fn tensors(made: &dyn Any) -> Option<Vec<Read>> {
    let multivectors = is::<Multivectors<f32>>(made).map(|y| vec![of(y.tensor())]);
    multivectors.or_else(|| KNOWN.iter().find_map(|known| known(made)))
}

/// Their bytes.
pub fn bits(made: &dyn Any) -> Option<Result<Vec<Vec<u8>>>> {
    Some(tensors(made)?.iter().map(|read| read()).collect())
}

fn is<T: 'static>(made: &dyn Any) -> Option<&T> {
    made.downcast_ref()
}

/// Reads a tensor.
pub fn of<T: Element>(tensor: &Tensor<T>) -> Read {
    let tensor = tensor.clone();
    Box::new(move || Ok(bytemuck::cast_slice(&tensor.to_vec()?).to_vec()))
}

fn normed(n: &Normed<f32>) -> Vec<Read> {
    vec![of(&n.y), of(&n.mean), of(&n.rstd)]
}
