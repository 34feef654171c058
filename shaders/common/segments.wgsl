//! Segments of k, in each of which both operands have other planes: a product has one, which is all of it.
