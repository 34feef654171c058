//! Operations by axis, index and shape: what each says of every mistake, word by word.

mod axes;
mod indices;
mod operands;
mod rotary;
