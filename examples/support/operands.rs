//! Operands of a product on the host, random or from `.npy` files.

use tilewise::gemm::Operand;
use tilewise::io::{MemoryOrder, Npy, NpyData};
use tilewise::{Element, Error, Fill, Gpu, Result, Tensor};

/// The source of a matrix.
pub enum Source {
    File(Npy),
    /// Random elements: the shape, and the seed.
    Random([usize; 2], u64),
}

/// The storage order of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    RowMajor,
    Transposed,
}

impl Source {
    /// The shape of the operand. A file that stores the transpose has the reversed shape.
    pub fn shape(&self, stored: Storage) -> Vec<usize> {
        match (self, stored) {
            (Self::Random(shape, _), _) => shape.to_vec(),
            (Self::File(file), Storage::RowMajor) => file.shape().to_vec(),
            (Self::File(file), Storage::Transposed) => file.shape().iter().rev().copied().collect(),
        }
    }

    pub fn matrix<T: Operand>(&self, stored: Storage) -> Result<Matrix<T>> {
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
                        return Err(Error::Input { what: "operands of another type".into(), why });
                    }
                };
                // The transpose of C order is Fortran order, and vice versa.
                let transposed = (file.order() == MemoryOrder::Fortran) != (stored == Storage::Transposed);
                let stored = if transposed { Storage::Transposed } else { Storage::RowMajor };
                Ok(Matrix { elements, shape, stored })
            }
        }
    }
}

/// An operand on the host: its shape, and its elements in storage order.
pub struct Matrix<T> {
    elements: Vec<T>,
    pub shape: Vec<usize>,
    stored: Storage,
}

impl<T: Operand> Matrix<T> {
    /// Uploads the elements in storage order. A transposed operand becomes a view.
    pub fn upload(&self, gpu: &Gpu) -> Result<Tensor<T>> {
        match self.stored {
            Storage::RowMajor => gpu.tensor(&self.elements, &self.shape),
            Storage::Transposed => Ok(gpu.tensor(&self.elements, [self.shape[1], self.shape[0]])?.t()),
        }
    }

    pub fn row_major(&self) -> Vec<T> {
        match self.stored {
            Storage::RowMajor => self.elements.clone(),
            Storage::Transposed => {
                let rows = self.shape[0];
                (0..rows).flat_map(|row| self.elements.iter().skip(row).step_by(rows).copied()).collect()
            }
        }
    }
}
