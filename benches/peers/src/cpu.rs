//! The CPU, for scale: the crate `gemm`, with all threads. Operands in f16 are converted to f32 before.

use crate::case::Size;
use crate::side::{Side, Time};
use bench::definition::{Definition, POISON};
use gemm::Parallelism;
use std::time::Instant;
use tilewise::Element;

/// Products of pairs of operands that take turns, into one output.
struct Products {
    size: Size,
    pairs: Vec<[Vec<f32>; 2]>,
    next: usize,
    c: Vec<f32>,
}

/// Products on the CPU.
pub(crate) fn side<'a, T: Element>(
    operands: [&[T]; 2],
    size: Size,
    pairs: usize,
    definition: &Definition,
) -> Side<'a> {
    let kernel = format!("f32, {} threads", rayon::current_num_threads());
    Side::new("gemm", kernel, definition, || {
        let [a, b] = operands.map(|x| x.iter().map(|x| f32::from_f64(x.to_f64())).collect::<Vec<_>>());
        let pairs = (0..pairs).map(|_| [a.clone(), b.clone()]).collect();
        let mut products = Products { size, pairs, next: 0, c: vec![POISON; size.m * size.n] };
        products.multiply();
        let first = products.c.clone();
        let time: Time<'a> = Box::new(move |count| {
            let start = Instant::now();
            (0..count).for_each(|_| products.multiply());
            Ok(start.elapsed().as_secs_f64())
        });
        Ok((first, time))
    })
}

impl Products {
    /// Computes the product of the next pair.
    #[expect(unsafe_code, reason = "the crate takes pointers")]
    fn multiply(&mut self) {
        let Size { m, n, k } = self.size;
        let [a, b] = &self.pairs[self.next];
        self.next = (self.next + 1) % self.pairs.len();
        assert_eq!([a.len(), b.len(), self.c.len()], [m * k, k * n, m * n], "the operands have their sizes");
        let [rows_of_a, rows_of_b, rows_of_c] = [k, n, n].map(|stride| stride.cast_signed());
        let c = self.c.as_mut_ptr();
        // SAFETY: the three matrices have the asserted lengths, are row-major, and do not overlap.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                c,
                1,
                rows_of_c,
                false,
                a.as_ptr(),
                1,
                rows_of_a,
                b.as_ptr(),
                1,
                rows_of_b,
                0.0,
                1.0,
                false,
                false,
                false,
                Parallelism::Rayon(0),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::rows::Outcome;
    use tilewise::Fill;

    #[test]
    fn products_on_the_cpu_are_right() {
        let size = Size { m: 17, n: 33, k: 65 };
        let (a, b) = (Fill::Uniform.values::<f32>(17 * 65, 1), Fill::Uniform.values::<f32>(65 * 33, 2));
        let mut side = side([&a, &b], size, 2, &Definition::new(&a, &b, size.array(), u64::MAX));
        side.round();
        let row = side.row(size.flops(), side.seconds());
        assert!(matches!(row.outcome, Outcome::Timed(timed) if timed.ratios == [1.0]), "{}", row.kernel);
    }
}
