//! Multivectors.

use super::Written;
use tilewise::clifford::{BladeAxis, BladeOrder, MvProduct, Pga, Product, Signature, Unary};

pub(super) const CALLS: &[Written] = &[
    ("clifford::Multivectors::commutator", |it| it.space.x.commutator(&it.space.y).map(drop)),
    ("clifford::Multivectors::conjugate", |it| it.space.x.conjugate().map(drop)),
    ("clifford::Multivectors::dual", |it| it.space.x.dual().map(drop)),
    ("clifford::Multivectors::exp", |it| it.space.bivectors.exp().map(drop)),
    ("clifford::Multivectors::fat_dot", |it| it.space.x.fat_dot(&it.space.y).map(drop)),
    ("clifford::Multivectors::geometric", |it| it.space.x.geometric(&it.space.y).map(drop)),
    ("clifford::Multivectors::hestenes", |it| it.space.x.hestenes(&it.space.y).map(drop)),
    ("clifford::Multivectors::interpolate", |it| {
        it.space.rotors.interpolate(&it.space.rotors, &it.space.times).map(drop)
    }),
    ("clifford::Multivectors::inverse", |it| it.space.rotors.inverse().map(drop)),
    ("clifford::Multivectors::inverse_backward", |it| it.space.x.inverse_backward(&it.space.y).map(drop)),
    ("clifford::Multivectors::involute", |it| it.space.x.involute().map(drop)),
    ("clifford::Multivectors::left_contraction", |it| it.space.x.left_contraction(&it.space.y).map(drop)),
    ("clifford::Multivectors::log", |it| it.space.rotors.log().map(drop)),
    ("clifford::Multivectors::norm", |it| it.space.x.norm().map(drop)),
    ("clifford::Multivectors::norm_backward", |it| it.space.x.norm_backward(&it.space.norms).map(drop)),
    ("clifford::Multivectors::normalized", |it| it.space.x.normalized().map(drop)),
    ("clifford::Multivectors::outer", |it| it.space.x.outer(&it.space.y).map(drop)),
    ("clifford::Multivectors::product", |it| it.space.x.product(Product::Geometric, &it.space.y).map(drop)),
    ("clifford::Multivectors::product_backward", |it| {
        it.space.x.product_backward(Product::Geometric, &it.space.y, &it.space.y).map(drop)
    }),
    ("clifford::Multivectors::project", |it| it.space.x.project(&[1]).map(drop)),
    ("clifford::Multivectors::regressive", |it| it.space.x.regressive(&it.space.y).map(drop)),
    ("clifford::Multivectors::reordered", |it| {
        it.space.lines.reordered(Signature::PGA3D.null_first()).map(drop)
    }),
    ("clifford::Multivectors::reverse", |it| it.space.x.reverse().map(drop)),
    ("clifford::Multivectors::right_contraction", |it| it.space.x.right_contraction(&it.space.y).map(drop)),
    ("clifford::Multivectors::sandwich", |it| it.space.rotors.sandwich(&it.space.x).map(drop)),
    ("clifford::Multivectors::scalar", |it| it.space.x.scalar(&it.space.y).map(drop)),
    ("clifford::Multivectors::select", |it| {
        it.space.x.select(&Signature::CL3.blades().ordered(BladeOrder::Ascending)).map(drop)
    }),
    ("clifford::Multivectors::unary", |it| it.space.x.unary(Unary::Reverse).map(drop)),
    ("clifford::Multivectors::unary_backward", |it| {
        it.space.x.unary_backward(Unary::Reverse, &Signature::CL3.blades()).map(drop)
    }),
    ("clifford::Multivectors::undual", |it| it.space.x.undual().map(drop)),
    ("clifford::MvProduct::run", |it| {
        MvProduct::new(Product::Outer, &it.space.x, &it.space.y).run().map(drop)
    }),
    ("clifford::Pga::coordinates_of", |it| {
        Pga::<3>::new(Signature::PGA3D)?.coordinates_of(&it.space.lines).map(drop)
    }),
    ("clifford::Pga::points", |it| {
        Pga::<2>::new(Signature::PGA2D)?.points(&it.space.times, BladeAxis::Last).map(drop)
    }),
];
