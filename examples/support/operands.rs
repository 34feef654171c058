//! Operands of a product on the host, random or out of `.npy` files.

use tilewise::Operand;
use tilewise::io::{MemoryOrder, Npy, NpyData};
use tilewise::{Element, Error, Fill, Gpu, Result, Tensor};

/// Where a matrix comes from.
pub(crate) enum Source {
    File(Npy),
    /// Its shape, and the seed.
    Random([usize; 2], u64),
}

/// How an operand is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    RowMajor,
    Transposed,
}

impl Source {
    /// The shape of the operand: a file that is stored transposed has the reverse.
    pub(crate) fn shape(&self, stored: Storage) -> Vec<usize> {
        match (self, stored) {
            (Self::Random(shape, _), _) => shape.to_vec(),
            (Self::File(file), Storage::RowMajor) => file.shape().to_vec(),
            (Self::File(file), Storage::Transposed) => file.shape().iter().rev().copied().collect(),
        }
    }

    pub(crate) fn matrix<T: Operand>(&self, stored: Storage) -> Result<Matrix<T>> {
        let shape = self.shape(stored);
        match self {
            Self::Random(_, seed) => {
                Ok(Matrix { elements: Fill::Uniform.values(shape.iter().product(), *seed), shape, stored })
            }
            Self::File(file) => {
                let elements = match file.data() {
                    NpyData::F32(elements) => elements.iter().map(|x| T::from_f64(x.to_f64())).collect(),
                    NpyData::F16(elements) => elements.iter().map(|x| T::from_f64(x.to_f64())).collect(),
                    NpyData::I8(elements) => elements.iter().map(|x| T::from_f64(x.to_f64())).collect(),
                    NpyData::I32(elements) => elements.iter().map(|x| T::from_f64(x.to_f64())).collect(),
                    _ => {
                        let why = "this example converts f32, f16, i8 and i32".into();
                        return Err(Error::Input { what: format!("operands of {}", file.dtype()), why });
                    }
                };
                // The transpose of C order is Fortran order, and the other way round.
                let turned = (file.order() == MemoryOrder::Fortran) != (stored == Storage::Transposed);
                let stored = if turned { Storage::Transposed } else { Storage::RowMajor };
                Ok(Matrix { elements, shape, stored })
            }
        }
    }
}

/// An operand on the host: its shape, and its elements as they are stored.
pub(crate) struct Matrix<T> {
    elements: Vec<T>,
    pub(crate) shape: Vec<usize>,
    stored: Storage,
}

impl<T: Operand> Matrix<T> {
    /// The elements as they are stored; what is stored transposed becomes a view.
    pub(crate) fn upload(&self, gpu: &Gpu) -> Result<Tensor<T>> {
        match self.stored {
            Storage::RowMajor => gpu.tensor(&self.elements, &self.shape),
            Storage::Transposed => Ok(gpu.tensor(&self.elements, [self.shape[1], self.shape[0]])?.t()),
        }
    }

    pub(crate) fn row_major(&self) -> Vec<T> {
        match self.stored {
            Storage::RowMajor => self.elements.clone(),
            Storage::Transposed => {
                let rows = self.shape[0];
                (0..rows).flat_map(|row| self.elements.iter().skip(row).step_by(rows).copied()).collect()
            }
        }
    }
}
