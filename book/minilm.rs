//! The weights of the example `embed` and what a run of them in f64 gave, for the chapter "A transformer, from tokens to vectors".

use std::path::{Path, PathBuf};
use tilewise::io::Safetensors;
use tilewise::{Error, Gpu, Result, Tensor};

/// The example's files.
pub struct Files {
    gpu: Gpu,
    weights: Safetensors,
    known: Safetensors,
}

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/minilm").join(file)
}

/// The vocabulary: line n, from 0, is the piece with the id n.
///
/// # Errors
/// [`Error::Input`] if the file cannot be read.
pub fn vocabulary() -> Result<String> {
    let path = path("vocab.txt");
    std::fs::read_to_string(&path)
        .map_err(|error| Error::Input { what: path.display().to_string(), why: error.to_string() })
}

impl Files {
    /// Reads the files.
    ///
    /// # Errors
    /// [`Error::Input`] if a file cannot be read.
    pub fn read(gpu: &Gpu) -> Result<Self> {
        let [weights, known] = ["encoder.safetensors", "expected.safetensors"].map(path);
        let [weights, known] = [Safetensors::read(weights)?, Safetensors::read(known)?];
        Ok(Self { gpu: gpu.clone(), weights, known })
    }

    fn tensor(&self, file: &Safetensors, name: &str) -> Result<Tensor<f32>> {
        #[expect(clippy::cast_possible_truncation, reason = "values of f64 are rounded to f32")]
        let values: Vec<f32> = file.values(name)?.into_iter().map(|x| x as f32).collect();
        self.gpu.tensor(&values, file.shape(name)?)
    }

    /// A weight of the encoder.
    ///
    /// # Errors
    /// [`Error::Input`] if there is none of this name.
    pub fn weight(&self, name: &str) -> Result<Tensor<f32>> {
        self.tensor(&self.weights, name)
    }

    /// A result of the run in f64, rounded to f32.
    ///
    /// # Errors
    /// [`Error::Input`] if there is none of this name.
    pub fn known(&self, name: &str) -> Result<Tensor<f32>> {
        self.tensor(&self.known, name)
    }

    /// The largest difference from a result of the run in f64, divided by the largest number of that result.
    ///
    /// # Errors
    /// [`Error::Input`] if there is none of this name, or if it has another number of elements.
    pub fn error(&self, found: &Tensor<f32>, name: &str) -> Result<f64> {
        let (found, known) = (found.to_vec()?, self.known.values(name)?);
        if found.len() != known.len() {
            let why = format!("has {} elements, not {}", known.len(), found.len());
            return Err(Error::Input { what: name.into(), why });
        }
        let largest = known.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        let errors = found.iter().zip(&known).map(|(found, known)| (f64::from(*found) - known).abs());
        Ok(errors
            .fold(0.0, |worst: f64, error| worst.max(if error.is_nan() { f64::INFINITY } else { error }))
            / largest)
    }
}
