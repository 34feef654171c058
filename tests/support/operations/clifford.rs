//! Multivectors.

use super::{Row, row};
use tilewise::clifford::{BladeAxis, BladeOrder, MvProduct, Pga, Product, Signature, Unary};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("clifford::Multivectors::commutator", |it| it.space.x.commutator(&it.space.y)),
        row("clifford::Multivectors::conjugate", |it| it.space.x.conjugate()),
        row("clifford::Multivectors::dual", |it| it.space.x.dual()),
        row("clifford::Multivectors::exp", |it| it.space.bivectors.exp()),
        row("clifford::Multivectors::fat_dot", |it| it.space.x.fat_dot(&it.space.y)),
        row("clifford::Multivectors::geometric", |it| it.space.x.geometric(&it.space.y)),
        row("clifford::Multivectors::hestenes", |it| it.space.x.hestenes(&it.space.y)),
        row("clifford::Multivectors::interpolate", |it| {
            it.space.rotors.interpolate(&it.space.rotors, &it.space.times)
        }),
        row("clifford::Multivectors::inverse", |it| it.space.rotors.inverse()),
        row("clifford::Multivectors::inverse_backward", |it| it.space.x.inverse_backward(&it.space.y)),
        row("clifford::Multivectors::involute", |it| it.space.x.involute()),
        row("clifford::Multivectors::left_contraction", |it| it.space.x.left_contraction(&it.space.y)),
        row("clifford::Multivectors::log", |it| it.space.rotors.log()),
        row("clifford::Multivectors::norm", |it| it.space.x.norm()),
        row("clifford::Multivectors::norm_backward", |it| it.space.x.norm_backward(&it.space.norms)),
        row("clifford::Multivectors::normalized", |it| it.space.x.normalized()),
        row("clifford::Multivectors::outer", |it| it.space.x.outer(&it.space.y)),
        row("clifford::Multivectors::product", |it| it.space.x.product(Product::Geometric, &it.space.y)),
        row("clifford::Multivectors::product_backward", |it| {
            it.space.x.product_backward(Product::Geometric, &it.space.y, &it.space.y)
        }),
        row("clifford::Multivectors::project", |it| it.space.x.project(&[1])),
        row("clifford::Multivectors::regressive", |it| it.space.x.regressive(&it.space.y)),
        row("clifford::Multivectors::reordered", |it| {
            it.space.lines.reordered(Signature::PGA3D.null_first())
        }),
        row("clifford::Multivectors::reverse", |it| it.space.x.reverse()),
        row("clifford::Multivectors::right_contraction", |it| it.space.x.right_contraction(&it.space.y)),
        row("clifford::Multivectors::sandwich", |it| it.space.rotors.sandwich(&it.space.x)),
        row("clifford::Multivectors::scalar", |it| it.space.x.scalar(&it.space.y)),
        row("clifford::Multivectors::select", |it| {
            it.space.x.select(&Signature::CL3.blades().ordered(BladeOrder::Ascending))
        }),
        row("clifford::Multivectors::unary", |it| it.space.x.unary(Unary::Reverse)),
        row("clifford::Multivectors::unary_backward", |it| {
            it.space.x.unary_backward(Unary::Reverse, &Signature::CL3.blades())
        }),
        row("clifford::Multivectors::undual", |it| it.space.x.undual()),
        row("clifford::MvProduct::run", |it| MvProduct::new(Product::Outer, &it.space.x, &it.space.y).run()),
        row("clifford::Pga::coordinates_of", |it| {
            Pga::<3>::new(Signature::PGA3D)?.coordinates_of(&it.space.lines)
        }),
        row("clifford::Pga::points", |it| {
            Pga::<2>::new(Signature::PGA2D)?.points(&it.space.times, BladeAxis::Last)
        }),
    ]
}
