//! Products with an operand half of which is signs that are made in the kernel: the same bits as with all of it in memory.

use support::operand::{Placed, View};
use support::sketches::small;
use support::wgsl::sign_half;
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::gpu::CoopScalar::{F16, F32};
use tilewise::planning::gemm::{HalfAxis, HalfPosition, OuterAxis, SignHalf};
use tilewise::planning::sketch::staged_product;
use tilewise::sketch::{Scaling, Sketch, SketchKind};
use tilewise::{Activation, Error, Fill, Gpu, Real, Tensor, bf16, f16, reference};

/// What is computed of a case: m, the extent of a half and that of B's other axis, how the half lies, and in how many
/// parts of k.
#[derive(Clone, Copy, Debug)]
struct Case {
    signs: SignHalf,
    batch: usize,
    m: usize,
    half: usize,
    other: usize,
    view: View,
    split: SplitK,
}

/// Extents of halves: of one element, below, on and beyond a vector, a word of signs and a block.
const HALVES: [usize; 5] = [1, 3, 5, 16, 33];

impl Case {
    fn new(signs: SignHalf, half: usize, view: View) -> Self {
        Self { signs, batch: 1, m: 9, half, other: 21, view, split: SplitK::Splits(1) }
    }

    fn shape(&self) -> [usize; 3] {
        match self.signs.axis {
            HalfAxis::Outer => [self.m, 2 * self.half, self.other],
            HalfAxis::K => [self.m, self.other, 2 * self.half],
        }
    }

    /// The operator, as it stands in B: rows along one of its axes, columns along the other.
    fn sketch(&self) -> Sketch {
        let [along_k, along_n] = match self.signs.axis {
            HalfAxis::Outer => [self.other, self.half],
            HalfAxis::K => [self.half, self.other],
        };
        let shape = match self.signs.outer {
            OuterAxis::Rows => [along_n, along_k],
            OuterAxis::Columns => [along_k, along_n],
        };
        let shape = shape.map(|extent| extent.max(1));
        Sketch::new(SketchKind::Sign, shape, 0xfeed_0000_0007).unwrap().scaled(Scaling::Unscaled)
    }

    /// B (k, n), of the half in memory and the signs.
    fn whole<T: Real>(&self, memory: &[T]) -> Vec<T> {
        let [_, n, k] = self.shape();
        let (sketch, entries) = (self.sketch(), self.sketch().to_vec());
        let element = |at: usize| {
            let mut place = [at / n, at % n];
            let axis = if self.signs.axis == HalfAxis::K { 0 } else { 1 };
            let second = place[axis] >= self.half;
            place[axis] -= if second { self.half } else { 0 };
            let [p, j] = place;
            if second == (self.signs.half == HalfPosition::First) {
                let columns = if self.signs.axis == HalfAxis::K { n } else { self.half };
                return memory[p * columns + j];
            }
            let [row, column] = if self.signs.outer == OuterAxis::Rows { [j, p] } else { [p, j] };
            T::from_f64(f64::from(entries[row * sketch.shape()[1] + column]))
        };
        (0..k * n).map(element).collect()
    }
}

fn bits<T: Real>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

/// A product with an alpha, a bias and an activation against the one of which all is in memory, bit for bit; of integers
/// against the CPU too.
fn check<T: Real, C: Real>(gpu: &Gpu, case: Case, pinned: Option<Tile>) {
    let ([m, n, k], sketch) = (case.shape(), case.sketch());
    let half = if case.signs.axis == HalfAxis::K { [case.half, n] } else { [k, case.half] };
    let bias: Vec<f32> = (0..n).map(|j| (j % 5) as f32 - 2.0).collect();
    let bias = gpu.tensor(&bias, [n]).unwrap();
    for fill in [Fill::Integers, Fill::Uniform] {
        let a = fill.values::<T>(case.batch * m * k, 1);
        let memory = fill.values::<T>(half[0] * half[1], 2);
        let b = case.whole(&memory);
        let x = gpu.tensor(&a, [case.batch, m, k]).unwrap();
        let memory = Placed::new(gpu, &memory, half, case.view);
        // By elements too, so that all products in memory share a pipeline.
        let whole = Placed::new(gpu, &b, [k, n], View::Gaps);
        let product = |b: &Tensor<T>, signs| -> Vec<C> {
            let product = staged_product(&x, b, signs).out::<C>().alpha(0.5).bias(&bias);
            let product = product.activation(Activation::Relu).split_k(case.split);
            let product = if let Some(tile) = pinned { product.tile(tile) } else { product };
            // Rows that are no whole vectors, so that all products share a pipeline.
            let flat = gpu.zeros::<C>([case.batch * m * n + 7]).unwrap();
            let mut c = flat.as_strided(&[case.batch, m, n], &[m * n, n, 1], 7).unwrap();
            drop(flat);
            product.run_into(&mut c).unwrap_or_else(|error| panic!("{case:?}: {error}"));
            c.to_vec().unwrap()
        };
        let found = product(&memory.tensor, Some((&sketch, case.signs)));
        let want = product(&whole.tensor, None);
        assert_eq!(bits(&found), bits(&want), "{case:?} {} to {}", T::DTYPE, C::DTYPE);
        if fill != Fill::Integers {
            continue;
        }
        for (i, found) in found.chunks(m * n).enumerate() {
            let sums = reference::gemm(&a[i * m * k..][..m * k], &b, [m, n, k]).value;
            let want =
                sums.iter().enumerate().map(|(at, sum)| (sum / 2.0 + (at % n % 5) as f64 - 2.0).max(0.0));
            let want: Vec<C> = want.map(C::from_f64).collect();
            assert_eq!(found, want, "{case:?} {} to {}", T::DTYPE, C::DTYPE);
        }
    }
}

/// How halves lie: lanes run along the outer axis, or along k. With poison around every row and column.
fn view(signs: SignHalf) -> View {
    // Each axis, half and orientation meets both.
    let SignHalf { axis, half, outer, .. } = signs;
    let across = axis as usize + half as usize + usize::from(outer == OuterAxis::Columns);
    if across.is_multiple_of(2) { View::Gaps } else { View::TransposedGaps }
}

fn all() -> Vec<SignHalf> {
    sign_half().collect()
}

#[test]
fn every_half_of_every_extent_has_the_bits_of_a_product_in_memory() {
    let Some(gpu) = support::gpu() else { return };
    // Of axis, half and orientation every pair, unless all three are asked for.
    let all = all();
    let forms = support::by_sweep(&[0, 1, 2, 3, 4, 5, 6, 7][..], &[0, 3, 5, 6], &[0, 3]);
    for signs in forms.iter().map(|&form| all[form]) {
        for half in HALVES {
            check::<f32, f32>(&gpu, Case::new(signs, half, view(signs)), Some(small()));
        }
        // More of all than one block has, repeated for a batch of A; every second element of every second row of B.
        let steps = if view(signs) == View::Gaps { View::Gaps } else { View::Steps };
        let case = Case { batch: 3, m: 70, other: 67, ..Case::new(signs, 37, steps) };
        check::<f32, f32>(&gpu, case, Some(small()));
        // Nothing along k is the bias alone.
        if signs.axis == HalfAxis::K {
            check::<f32, f32>(&gpu, Case::new(signs, 0, view(signs)), Some(small()));
        }
    }
}

#[test]
fn halves_of_every_type_have_the_bits_of_a_product_in_memory() {
    let Some(gpu) = support::gpu() else { return };
    let (first, last) = (all()[0], all()[7]);
    for half in [3, 16] {
        check::<f16, f16>(&gpu, Case::new(last, half, view(last)), Some(small()));
        check::<bf16, bf16>(&gpu, Case::new(first, half, view(first)), Some(small()));
    }
    let Some(bare) = support::bare() else { return };
    for half in [3, 16] {
        check::<f16, f16>(&bare, Case::new(first, half, view(first)), Some(small()));
    }
}

#[test]
fn parts_of_long_sums_have_the_bits_of_a_product_in_memory() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let signs = all()[1];
    assert_eq!(signs.axis, HalfAxis::K);
    for (half, split) in [(70, SplitK::Splits(3)), (701, SplitK::Splits(5)), (4096, SplitK::Auto)] {
        let case = Case { batch: 2, m: 3, other: 5, split, ..Case::new(signs, half, view(signs)) };
        // The tile and the parts are chosen as for the product in memory.
        check::<f32, f32>(&gpu, case, None);
    }
}

/// The smallest tile of cooperative matrices that the device has; says so where it has none.
fn coop(gpu: &Gpu) -> Option<Tile> {
    let mut tiles = GemmKernel::Coop.tiles().iter().rev();
    let tile = tiles.find(|tile| gpu.caps().coop(tile.fragment, F16, F32).is_ok());
    if tile.is_none() {
        println!("unable: {} has no cooperative matrices of f16", gpu.caps().adapter);
    }
    tile.copied()
}

#[test]
fn on_cooperative_matrices_halves_have_the_bits_of_a_product_in_memory() {
    let Some(gpu) = support::gpu() else { return };
    let Some(tile) = coop(&gpu) else { return };
    // A pipeline takes a software driver nine seconds.
    for signs in sign_half().take(if support::is_full_sweep() { 8 } else { 1 }) {
        let view = view(signs);
        for half in HALVES {
            check::<f16, f32>(&gpu, Case::new(signs, half, view), Some(tile));
        }
        let case = Case { batch: 2, m: 41, other: 75, ..Case::new(signs, 70, view) };
        check::<f16, f32>(&gpu, case, Some(tile));
        if support::is_full_sweep() {
            check::<f16, f32>(&gpu, Case { split: SplitK::Splits(3), ..case }, Some(tile));
        }
    }
}

#[test]
fn modules_make_halves_with_the_bits_of_a_product_in_memory() {
    let Some((gpu, tile)) = support::coop_khr_of_f16() else { return };
    let tile = Some(tile);
    let all = all();
    for signs in
        support::by_sweep(&[0, 1, 2, 3, 4, 5, 6, 7][..], &[0, 3, 5, 6], &[0, 3]).iter().map(|&form| all[form])
    {
        let view = view(signs);
        for half in HALVES {
            check::<f16, f32>(&gpu, Case::new(signs, half, view), tile);
        }
        let case = Case { batch: 2, m: 41, other: 75, ..Case::new(signs, 70, view) };
        check::<f16, f16>(&gpu, case, tile);
        check::<f16, f32>(&gpu, Case { split: SplitK::Splits(3), ..case }, tile);
    }
}

#[test]
fn signs_are_never_in_memory() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    for signs in [all()[0], all()[1]] {
        let sketch = Sketch::new(SketchKind::Sign, [256, 256], 1).unwrap();
        let [k, n] = if signs.axis == HalfAxis::K { [512, 256] } else { [256, 512] };
        let x = gpu.random::<f32>([64, k], Fill::Uniform, 2).unwrap();
        let memory = gpu.random::<f32>([256, 256], Fill::Uniform, 3).unwrap();
        let product =
            staged_product(&x, &memory, Some((&sketch, signs))).split_k(SplitK::Splits(1)).tile(small());
        let before = gpu.stats();
        let y = product.run().unwrap();
        let after = gpu.stats();
        assert_eq!(y.shape(), [64, n]);
        let read = after.bytes_bound_for_reading - before.bytes_bound_for_reading;
        assert_eq!(read, 4 * (64 * k as u64 + 256 * 256), "{signs:?}");
        assert_eq!(after.launches - before.launches, 1);
        assert_eq!(after.bytes_in_use - before.bytes_in_use, 4 * 64 * n as u64, "nothing but the product");
    }
}

#[test]
fn what_cannot_be_bound_and_what_is_no_matrix_are_errors() {
    let limit =
        |desc: &mut wgpu::DeviceDescriptor| desc.required_limits.max_storage_buffer_binding_size = 32 << 10;
    let Some(gpu) = support::adopted(limit) else { return };
    let sketch = Sketch::new(SketchKind::Sign, [1, 1], 1).unwrap();
    for signs in sign_half() {
        let shapes = |half: usize| match signs.axis {
            HalfAxis::K => ([4, 2 * half], [half, 64]),
            HalfAxis::Outer => ([4, 64], [64, half]),
        };
        let tensors = |half| {
            let (a, b) = shapes(half);
            (gpu.zeros::<f32>(a).unwrap(), gpu.zeros::<f32>(b).unwrap())
        };
        // The whole of B would take 48 KiB: half of it can be bound, and there are no panels.
        let (a, b) = tensors(96);
        let plan = staged_product(&a, &b, Some((&sketch, signs))).plan().unwrap();
        assert!(!plan.to_string().contains("panels"), "{plan}");
        let (a, b) = tensors(160);
        let product = staged_product(&a, &b, Some((&sketch, signs)));
        assert!(matches!(product.plan(), Err(Error::Limit { needed: 40_960, .. })), "{signs:?}");
        assert!(matches!(product.run(), Err(Error::Limit { needed: 40_960, .. })), "{signs:?}");
        let batch = b.reshape([1, b.shape()[0], b.shape()[1]]).unwrap();
        assert!(matches!(staged_product(&a, &batch, Some((&sketch, signs))).run(), Err(Error::Shape { .. })));
        let line = b.reshape([b.len()]).unwrap();
        assert!(matches!(staged_product(&a, &line, Some((&sketch, signs))).run(), Err(Error::Shape { .. })));
    }
}
