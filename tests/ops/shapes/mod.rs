//! Operations that change shapes, take elements by index and add them back, and random values.

mod gather;
mod padded;
mod random;
mod scatter;
mod views;
