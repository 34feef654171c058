//! Operations on elements and along axes, casts, and files of tensors.

mod attention;
mod attention_backward;
mod attention_cached;
mod attention_coop;
mod attention_masks;
mod attention_operands;
mod bits;
mod cast;
mod copies;
mod cross_entropy;
mod cumsum;
mod elements;
mod functions;
mod io;
mod losses;
mod maps;
mod masks;
mod norms;
mod places;
mod positions;
mod powers;
mod printed;
mod quotients;
mod ranges;
mod reductions;
mod rotary;
mod rotary_at;
mod rounding;
mod shapes;
mod softmax;
mod special;
#[path = "../support/mod.rs"]
mod support;
mod texts;
mod vectors;
mod windows;
