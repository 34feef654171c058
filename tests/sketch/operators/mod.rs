//! Operators: dense and sparse ones, Hadamard transforms, and products whose operands they generate.

mod dense;
mod hadamard;
mod seeded;
mod shares;
mod sign_half;
mod sparse;
