//! Operations by axis, index and shape: what each says of every mistake, word by word.

mod axes;
mod copies;
mod indices;
mod numbers;
mod operands;
mod rotary;
