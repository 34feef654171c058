//! Factorisations.

mod example;
mod promises;
mod qr;
mod stages;
mod svd;
mod units;
