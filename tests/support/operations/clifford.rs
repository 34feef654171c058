//! Multivectors.

use super::Row;
use super::world::Space;
use tilewise::Result;
use tilewise::clifford::{BladeAxis, BladeOrder, MvProduct, Pga, Product, Signature, Unary};

/// A row that works on the world's space alone.
fn of<R: 'static>(name: &'static str, example: fn(&mut Space) -> Result<R>) -> Row {
    super::row_of(name, |it| &mut it.space, example)
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        of("clifford::Multivectors::commutator", |s| s.x.commutator(&s.y)),
        of("clifford::Multivectors::conjugate", |s| s.x.conjugate()),
        of("clifford::Multivectors::dual", |s| s.x.dual()),
        of("clifford::Multivectors::exp", |s| s.bivectors.exp()),
        of("clifford::Multivectors::fat_dot", |s| s.x.fat_dot(&s.y)),
        of("clifford::Multivectors::geometric", |s| s.x.geometric(&s.y)),
        of("clifford::Multivectors::hestenes", |s| s.x.hestenes(&s.y)),
        of("clifford::Multivectors::interpolate", |s| s.rotors.interpolate(&s.rotors, &s.times)),
        of("clifford::Multivectors::inverse", |s| s.rotors.inverse()),
        of("clifford::Multivectors::inverse_backward", |s| s.x.inverse_backward(&s.y)),
        of("clifford::Multivectors::involute", |s| s.x.involute()),
        of("clifford::Multivectors::left_contraction", |s| s.x.left_contraction(&s.y)),
        of("clifford::Multivectors::log", |s| s.rotors.log()),
        of("clifford::Multivectors::norm", |s| s.x.norm()),
        of("clifford::Multivectors::norm_backward", |s| s.x.norm_backward(&s.norms)),
        of("clifford::Multivectors::normalized", |s| s.x.normalized()),
        of("clifford::Multivectors::outer", |s| s.x.outer(&s.y)),
        of("clifford::Multivectors::product", |s| s.x.product(Product::Geometric, &s.y)),
        of("clifford::Multivectors::product_backward", |s| {
            s.x.product_backward(Product::Geometric, &s.y, &s.y)
        }),
        of("clifford::Multivectors::project", |s| s.x.project(&[1])),
        of("clifford::Multivectors::regressive", |s| s.x.regressive(&s.y)),
        of("clifford::Multivectors::reordered", |s| s.lines.reordered(Signature::PGA3D.null_first())),
        of("clifford::Multivectors::reverse", |s| s.x.reverse()),
        of("clifford::Multivectors::right_contraction", |s| s.x.right_contraction(&s.y)),
        of("clifford::Multivectors::sandwich", |s| s.rotors.sandwich(&s.x)),
        of("clifford::Multivectors::scalar", |s| s.x.scalar(&s.y)),
        of("clifford::Multivectors::select", |s| {
            s.x.select(&Signature::CL3.blades().ordered(BladeOrder::Ascending))
        }),
        of("clifford::Multivectors::unary", |s| s.x.unary(Unary::Reverse)),
        of("clifford::Multivectors::unary_backward", |s| {
            s.x.unary_backward(Unary::Reverse, &Signature::CL3.blades())
        }),
        of("clifford::Multivectors::undual", |s| s.x.undual()),
        of("clifford::MvProduct::run", |s| MvProduct::new(Product::Outer, &s.x, &s.y).run()),
        of("clifford::Pga::coordinates_of", |s| Pga::<3>::new(Signature::PGA3D)?.coordinates_of(&s.lines)),
        of("clifford::Pga::points", |s| Pga::<2>::new(Signature::PGA2D)?.points(&s.times, BladeAxis::Last)),
    ]
}
