//! Functions of multivectors (blade, row, feature): the view's first axis has the blades of an algebra.

use super::{On, REALS, Row, flat, no_form};
use tilewise::clifford::layer::{FeatureFunction, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Blades, Product, Signature, Unary};
use tilewise::planning::Plan;
use tilewise::planning::clifford::{CliffordProblem, Function, LogBranch, MvLayout};
use tilewise::planning::clifford_layer::{FeaturesProblem, RowFunction, RowOperandLayouts, RowProblem};
use tilewise::{Layout, Result};

pub(super) const ROWS: [Row; 4] = [
    ("clifford", REALS, |on| {
        let algebra = algebra(on)?;
        let (all, even, scalars) = (algebra.blades(), algebra.even(), algebra.scalars());
        let same = |function: Function| (function, vec![all.clone(); function.operands()], all.clone());
        let chosen = on.choose(&[
            same(Function::Product(Product::Geometric)),
            same(Function::Inverse),
            same(Function::InverseBackward),
            same(Function::Unary(Unary::Reverse)),
            same(Function::Negate([u64::MAX; 4])),
            same(Function::BackwardX(Product::Geometric)),
            same(Function::BackwardY(Product::Geometric)),
            (Function::NormBackward, vec![all.clone(), scalars.clone()], all.clone()),
            (Function::Norm, vec![all.clone()], scalars),
            (Function::Select, vec![all.clone()], even),
        ]);
        function(on, chosen)
    }),
    ("versors", REALS, |on| {
        let algebra = algebra(on)?;
        let [even, odd, turns] = [algebra.even(), algebra.odd(), algebra.bivectors()];
        let of = on.choose(&[algebra.vectors(), algebra.points(), algebra.blades()]);
        let chosen = on.choose(&[
            (Function::Sandwich, vec![even.clone(), of.clone()], of.clone()),
            (Function::Sandwich, vec![odd, of.clone()], of),
            (Function::Normalize, vec![even.clone()], even.clone()),
            (Function::Exp, vec![turns.clone()], even.clone()),
            (Function::Log(LogBranch::OfMotor), vec![even.clone()], turns.clone()),
            (Function::Log(LogBranch::Shortest), vec![even.clone()], turns.clone()),
            (Function::LogBetween, vec![even; 2], turns),
        ]);
        function(on, chosen)
    }),
    ("features", REALS, |on| {
        let (blades, function) = (small_algebra(on)?.blades(), on.choose(&FeatureFunction::ALL));
        let parameter = flat(&[on.x.shape()[2], function.parts(&blades)])?;
        let (parameters, g) = (vec![&parameter; function.parameters()], on.choose(&[None, Some(on.x)]));
        on.plan(FeaturesProblem::new(function, &blades, &on.x, g.as_ref(), &parameters, on.dtype))
    }),
    ("layer rows", REALS, |on| {
        let algebra = small_algebra(on)?;
        let (function, norms) = on.choose(&[
            (RowFunction::Steerable, &GradeNorm::ALL[..]),
            (RowFunction::SteerableBackward, &GradeNorm::ALL),
            (RowFunction::Normalize, &GradeNorm::ALL[1..]),
            (RowFunction::NormalizeBackward, &GradeNorm::ALL[1..]),
        ]);
        let product = LayerProduct::new(algebra).norm(on.choose(norms)).gate(on.choose(&Gate::ALL));
        let (x, w) = (on.x, flat(&[on.x.shape()[2], algebra.paths().len()])?);
        let layouts = RowOperandLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
        on.plan(RowProblem::new(function, product, &product.blades(), layouts, on.dtype))
    }),
];

/// An algebra of the view's blades.
fn algebra(on: &mut On<'_>) -> Result<Signature> {
    let of = match *on.x.shape() {
        [4, _, _] => &[Signature::CL2][..],
        [8, _, _] => &[Signature::CL3, Signature::PGA2D],
        [16, _, _] => &[Signature::PGA3D, Signature::PGA3D.null_first(), Signature::SPACETIME],
        [32, _, _] => &[Signature::CGA3D],
        [64, _, _] => &[Signature::new(3, 3, 0)?],
        _ => return Err(no_form()),
    };
    Ok(on.choose(of))
}

/// The same, if kernels hold all of its blades.
fn small_algebra(on: &mut On<'_>) -> Result<Signature> {
    if on.x.shape()[0] > 32 { Err(no_form()) } else { algebra(on) }
}

/// A function with the blades of its operands and of its result, whose axis is the first or the last.
fn function(on: &mut On<'_>, (function, blades, out): (Function, Vec<Blades>, Blades)) -> Result<Plan> {
    let axis = on.choose(&[BladeAxis::First, BladeAxis::Last]);
    // One of two operands may be the same for all features.
    let same = if blades.len() == 2 { on.choose(&[None, Some(0), Some(1)]) } else { None };
    let x = on.x;
    let placed = |blades: &Blades| -> Result<Layout> {
        let of = x.slice(0, ..blades.len())?;
        if axis == BladeAxis::Last { of.permute(&[1, 2, 0]) } else { Ok(of) }
    };
    let mut operands: Vec<Layout> = blades.iter().map(placed).collect::<Result<_>>()?;
    if let Some(same) = same {
        let features = if axis == BladeAxis::Last { 1 } else { 2 };
        operands[same] = operands[same].slice(features, ..1)?;
    }
    // Gradients lie as what they are of.
    let is_gradient = matches!(function, Function::InverseBackward | Function::NormBackward);
    let c = placed(&out)?;
    let c = if is_gradient { c } else { flat(c.shape())? };
    let of: Vec<_> =
        operands.iter().zip(&blades).map(|(layout, blades)| MvLayout { layout, blades }).collect();
    on.plan(CliffordProblem::new(function, &of, MvLayout { layout: &c, blades: &out }, axis, on.dtype))
}
