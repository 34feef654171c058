//! Operands that are larger than a binding: every operation computes them in windows, with the results of one window.

use support::TestGpu;
use support::strided::{Lay, Placed};
use tilewise::{Element, Gpu, Result, Tensor, ops};

mod convolutions;
mod elements;
mod images;
mod indices;
mod layers;
mod multivectors;
mod operators;
mod planes;
mod reductions;
mod rows;

/// The bytes of a binding of the small device.
const BINDING: u64 = 64 << 10;
/// A matrix of several windows, even of i8. Its rows do not begin at multiples of the alignment.
const MATRIX: [usize; 2] = [230, 401];

/// A device with small bindings, and one with large ones.
struct Pair {
    small: TestGpu,
    large: TestGpu,
}

impl Pair {
    fn open() -> Option<Self> {
        let small = support::adopted(|desc| desc.required_limits.max_storage_buffer_binding_size = BINDING)?;
        Some(Self { small, large: support::adopted(|_| ())? })
    }

    /// For operations of many kernels, whose windows are those of the plan on every driver.
    fn on_the_first_driver() -> Option<Self> {
        support::first_driver().and_then(|()| Self::open())
    }

    /// What both compute.
    fn both<T: Element>(&self, what: &str, run: impl Fn(&Gpu) -> Result<Tensor<T>>) -> [Vec<T>; 2] {
        [&self.small, &self.large].map(|gpu| {
            let before = gpu.stats().launches;
            let result = run(gpu).unwrap_or_else(|error| panic!("{what}: {error}"));
            let launches = gpu.stats().launches - before;
            assert!(launches > 1 || std::ptr::eq(gpu, &raw const self.large), "{what}: {launches} launches");
            result.to_vec().unwrap()
        })
    }

    /// Asserts that both compute the same bits.
    fn same<T: Element>(&self, what: &str, run: impl Fn(&Gpu) -> Result<Tensor<T>>) {
        let [found, want] = self.both(what, run);
        assert_eq!(found.len(), want.len(), "{what}");
        let bits = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        if bits(&found) == bits(&want) {
            return;
        }
        let at = (0..want.len()).find(|&i| bits(&found[i..=i]) != bits(&want[i..=i]));
        let at = at.expect("one differs");
        panic!("{what}: element {at} of {} is {:?}, not {:?}", want.len(), found[at], want[at]);
    }

    /// Asserts that what both compute is close: results may be summed in another order.
    fn close<T: Element>(&self, what: &str, off: f64, run: impl Fn(&Gpu) -> Result<Tensor<T>>) {
        let [found, want] = self.both(what, run);
        for (i, (found, want)) in found.iter().zip(&want).enumerate() {
            let (found, want) = (found.to_f64(), want.to_f64());
            // Of a row without keys both are infinite.
            let is_close = found == want || (found - want).abs() <= off * want.abs().max(1.0);
            assert!(is_close, "{what}: {i}: {found} for {want}");
        }
    }
}

/// The rows of a sweep over factors with these numbers of values.
fn sweep<const N: usize>(levels: [usize; N]) -> Vec<[usize; N]> {
    let all: Vec<usize> = (0..N).collect();
    let rows = support::pairs::sweep(&levels, &[&all]);
    rows.into_iter().map(|row| row.try_into().expect("a value of each factor")).collect()
}

/// All elements of several results, as one tensor.
fn joined(results: &[Tensor<f32>]) -> Result<Tensor<f32>> {
    let rows = results.iter().map(|of| of.contiguous()?.reshape([of.len()])).collect::<Result<Vec<_>>>()?;
    ops::concat(&rows.iter().collect::<Vec<_>>(), 0)
}

fn place<T: Element>(gpu: &Gpu, data: &[T], shape: &[usize], lay: Lay) -> Tensor<T> {
    Placed::new(gpu, data, shape, lay).tensor
}
