//! All checks of one product with one tile.

use super::operand::{Placed, View, poison};
use super::wgsl;
use tilewise::gemm::{Accumulator, Float, Tile};
use tilewise::planning::Problem;
use tilewise::planning::gemm::{GemmTypes, Pin};
use tilewise::{Caps, Element, Error, Fill, Gemm, Gpu, Real, reference};

/// A product of a sweep: the tile, m, n and k, and the memory layouts of A, B and C.
#[derive(Debug)]
pub struct Case {
    pub tile: Tile,
    pub shape: [usize; 3],
    pub views: [View; 3],
}

impl Case {
    /// The product's kernel as text. None if the device cannot run the tile.
    pub fn kernel(&self, types: GemmTypes, caps: &Caps) -> Option<String> {
        let problem = wgsl::problem(self.shape, types, self.views).pinned(Pin::Tile(self.tile));
        problem.plan(caps).ok().map(|plan| plan.steps()[0].kernel.to_string())
    }
}

/// The types of a product, and their instance of [`check`].
pub struct Typed {
    pub types: GemmTypes,
    pub check: fn(&Gpu, &Case) -> usize,
}

impl Typed {
    pub const fn of<T: Float, C: Real>() -> Self {
        Self { types: GemmTypes::new(T::DTYPE, C::DTYPE), check: check::<T, C> }
    }
}

/// Checks a product with one tile: integers must be exact, reals within the bound, and everything outside C unchanged. Returns
/// the number of computed products, which is 0 if the device cannot run the tile.
pub fn check<T: Float, C: Real>(gpu: &Gpu, case: &Case) -> usize {
    check_summed::<T, C>(gpu, case, Accumulator::F32)
}

/// As [`check`], with this accumulator.
pub fn check_summed<T: Float, C: Real>(gpu: &Gpu, case: &Case, sums: Accumulator) -> usize {
    let [m, n, k] = case.shape;
    let mut launches = 0;
    for fill in [Fill::Integers, Fill::Uniform] {
        let (a, b) = (fill.values::<T>(m * k, 1), fill.values::<T>(k * n, 2));
        let want = reference::gemm(&a, &b, case.shape).accumulator(sums);
        let a = Placed::new(gpu, &a, [m, k], case.views[0]);
        let b = Placed::new(gpu, &b, [k, n], case.views[1]);
        let mut c = Placed::new(gpu, &vec![poison::<C>(); m * n], [m, n], case.views[2]);
        let product = Gemm::new(&a.tensor, &b.tensor).out::<C>().accumulator(sums).tile(case.tile);
        match product.run_into(&mut c.tensor) {
            Err(Error::Unsupported { .. }) => return 0,
            computed => computed.unwrap_or_else(|error| panic!("{case:?}: {error}")),
        }
        launches += 1;
        let buffer = c.read_buffer();
        let got = c.elements(&buffer);
        match fill {
            Fill::Integers => {
                let want: Vec<C> = want.value.iter().map(|&v| C::from_f64(v)).collect();
                assert_eq!(got, want, "{case:?} {} to {}, sums {sums:?}", T::DTYPE, C::DTYPE);
            }
            Fill::Uniform | Fill::Normal => {
                let found = want.compare(&got);
                assert!(found.ok(), "{case:?} {} to {}, sums {sums:?}: {found:?}", T::DTYPE, C::DTYPE);
            }
        }
        outside_c_is_unchanged(&c, &buffer, case);
    }
    launches
}

/// Checks a product of i8 with one tile and all values of i8: it must be exact, and everything outside C unchanged. Returns the
/// number of computed products, as [`check`].
pub fn check_integers(gpu: &Gpu, case: &Case) -> usize {
    let [m, n, k] = case.shape;
    let (a, b) = (Fill::Uniform.values::<i8>(m * k, 1), Fill::Uniform.values::<i8>(k * n, 2));
    let want = reference::gemm(&a, &b, case.shape);
    let a = Placed::new(gpu, &a, [m, k], case.views[0]);
    let b = Placed::new(gpu, &b, [k, n], case.views[1]);
    let mut c = Placed::new(gpu, &vec![poison::<i32>(); m * n], [m, n], case.views[2]);
    match Gemm::new(&a.tensor, &b.tensor).tile(case.tile).run_into(&mut c.tensor) {
        Err(Error::Unsupported { .. }) => return 0,
        computed => computed.unwrap_or_else(|error| panic!("{case:?}: {error}")),
    }
    let buffer = c.read_buffer();
    let found = want.compare(&c.elements(&buffer));
    assert_eq!((found.max_abs_err, found.bound_ratio), (0.0, 0.0), "{case:?}: {found:?}");
    outside_c_is_unchanged(&c, &buffer, case);
    1
}

/// The bits of the elements, which are equal to themselves even for NaN.
fn outside_c_is_unchanged<C: Element>(c: &Placed<C>, buffer: &[C], case: &Case) {
    let bits = |values: &[C]| bytemuck::cast_slice::<C, u8>(values).to_vec();
    let expected = c.expected(&c.elements(buffer));
    assert_eq!(bits(buffer), bits(&expected), "{case:?}: something outside C was written");
}
