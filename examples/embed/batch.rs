//! A batch of texts, padded to the longest.

use crate::wordpiece::Tokens;
use tilewise::{Element, Gpu, Real, Result, Tensor};

/// Texts of a batch.
pub(crate) const BATCH: usize = 8;

/// A batch of texts on a device.
pub(crate) struct Batch<T: Real> {
    /// The number of texts, and of rows that each has with its padding.
    pub(crate) shape: [usize; 2],
    /// (text, row)
    pub(crate) ids: Tensor<i32>,
    /// The number of tokens of each text: (text)
    pub(crate) lengths: Tensor<i32>,
    /// 1 for each token, 0 for padding: (text, 1, row)
    pub(crate) real: Tensor<T>,
}

/// The number of texts, and the length of each with its padding.
pub(crate) fn shape_of(texts: &[Tokens]) -> [usize; 2] {
    [texts.len(), texts.iter().map(|text| text.ids.len()).max().unwrap_or(0)]
}

impl<T: Real> Batch<T> {
    pub(crate) fn new(gpu: &Gpu, texts: &[Tokens], padding: i32) -> Result<Self> {
        let shape @ [_, longest] = shape_of(texts);
        let mut ids = vec![padding; texts.len() * longest];
        let mut real = vec![T::from_f64(0.0); ids.len()];
        for (row, text) in texts.iter().enumerate() {
            ids[row * longest..][..text.ids.len()].copy_from_slice(&text.ids);
            real[row * longest..][..text.ids.len()].fill(T::from_f64(1.0));
        }
        let lengths: Vec<i32> = texts.iter().map(|text| i32::from_f64(text.ids.len() as f64)).collect();
        Ok(Self {
            shape,
            ids: gpu.tensor(&ids, shape)?,
            lengths: gpu.tensor(&lengths, [texts.len()])?,
            real: gpu.tensor(&real, [texts.len(), 1, longest])?,
        })
    }
}
