//! Operations by axis, index and shape: what each says of every mistake, word by word.

mod attention;
mod axes;
mod convolutions;
mod copies;
mod elements;
mod images;
mod indices;
mod numbers;
mod operands;
mod rotary;
