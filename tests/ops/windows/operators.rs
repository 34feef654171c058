//! Random operators along an axis.

use super::{Pair, place, sweep};
use support::failure::{Kind, fails};
use support::strided::Lay;
use support::values::values;
use tilewise::sketch::{Sketch, SketchKind, SparseAxis};
use tilewise::{DType, Real, f16};

const KINDS: [SketchKind; 5] = [
    SketchKind::Gaussian,
    SketchKind::Sign,
    SketchKind::CountSketch,
    SketchKind::SparseSign { axis: SparseAxis::Short, nonzeros: 3 },
    SketchKind::Hadamard,
];

#[test]
fn operators_along_each_axis() {
    fn of_type<T: Real>(pair: &Pair, [operator, lay, axis]: [usize; 3]) {
        let shape = [7, 30, 203];
        let x = values::<T>(&shape, 1.0, 1);
        let off = if T::DTYPE == DType::F32 { 1e-4 } else { 1e-2 };
        let (kind, is_adjoint) = (KINDS[operator / 2], operator % 2 == 1);
        let lay = [Lay::Odd, Lay::Reversed, Lay::Plain][lay];
        let what = format!("{kind:?} {lay:?} {axis} {}, adjoint: {is_adjoint}", T::DTYPE);
        pair.close(&what, off, |gpu| {
            let x = place(gpu, &x, &shape, lay);
            if is_adjoint {
                // The result is the larger one.
                Sketch::new(kind, [shape[axis], 2 * shape[axis]], 3)?.adjoint(&x, axis)
            } else {
                Sketch::new(kind, [5, shape[axis]], 3)?.apply(&x, axis)
            }
        });
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    for [operator, lay, axis, dtype] in sweep([2 * KINDS.len(), 3, 3, 2]) {
        let of_type = [of_type::<f32>, of_type::<f16>][dtype];
        of_type(&pair, [operator, lay, axis]);
    }
}

/// Five axes, of which a window has more than kernels step along: it is copied. A seed in a tensor belongs to every window.
#[test]
fn operators_of_many_axes_and_seeds_in_tensors() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    let shape = [3, 4, 6, 31, 20];
    let x = values::<f32>(&shape, 1.0, 1);
    for kind in KINDS {
        for axis in [1, 3] {
            let sketch = Sketch::new(kind, [3, shape[axis]], 3).unwrap();
            pair.close(&format!("{kind:?} {axis}"), 1e-4, |gpu| {
                let seed = gpu.tensor(&[0, 0, 77, 1], [2, 2])?.slice(0, 1..)?.reshape([2])?;
                let x = place(gpu, &x, &shape, Lay::Odd);
                sketch.seeded_by(&seed)?.apply(&x, axis)
            });
        }
    }
    // A line alone exceeds a binding.
    let x = pair.small.zeros::<f32>([2, 20_000]).unwrap();
    for kind in [SketchKind::CountSketch, SketchKind::Hadamard] {
        let sketch = Sketch::new(kind, [5, 20_000], 3).unwrap();
        fails(sketch.apply(&x, 1), Kind::Limit, &["slice along axis 1"]);
    }
}
