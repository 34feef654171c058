//! Model files compressed, on the device: within the budget and as well as it can be, through interruptions, and never by
//! halves. With the example `compress` as a user runs it. Any device will do.

mod budget;
mod embeddings;
mod example;
mod expanded;
mod interrupted;
mod layers;
mod model;
mod progress;
mod selected;
