//! Convolutions of Tilewise, and of CubeK, timed in turn on one adapter, every result checked.

mod algorithm;
mod compare;
mod cubek;
mod definition;
mod measure;
mod ours;
mod process;
mod rows;
mod run;
mod shape;

pub(crate) use compare::Results;
pub(crate) use measure::print;
pub(crate) use rows::{ConvRow, FailedRow};
pub(crate) use run::run;

use crate::case::Type;
use clap::Args;
use shape::Shape;
use std::path::PathBuf;

/// What is measured.
#[derive(Args)]
pub(crate) struct Options {
    /// Names of convolutions in `convolutions.txt`, separated by commas; by default all
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    shapes: Vec<Shape>,
    /// Types of images, weights and results
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TYPES", default_values = ["f32", "f16"])]
    dtypes: Vec<Type>,
    /// Rounds, in each of which every side is timed once
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: u64,
    /// Seconds after which the process of a case is ended
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Appends one JSON line for each case to this file as soon as the case is measured
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// One convolution in a process of its own.
#[derive(Args)]
pub(crate) struct Case {
    pub(crate) shape: Shape,
    #[arg(value_enum)]
    pub(crate) dtype: Type,
    #[arg(long, default_value_t = 15)]
    pub(crate) rounds: usize,
    /// Sides that are not tried, because they ended an earlier process of this case
    #[arg(long, value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Gets the name of each side before the side is tried
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: PathBuf,
}
