//! Fully connected products: by definition, by the device's counters, and what is refused.

mod agreement;
mod counts;
mod precision;
mod refused;
