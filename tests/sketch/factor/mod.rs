//! Factorisations.

mod example;
mod qr;
mod stages;
mod svd;
