//! The self-test of a row in SPIR-V as plain data: the module, its operands, and the check of its result. The rows are those that
//! WGSL cannot express (`self_test.rs` has the others).

use super::self_test::{TestSize, encode, plan_of_words};
use super::test_modules::{Functions, module};
use crate::Result;
use crate::caps::{Caps, CoopRow, CoopScalar, CoopScope, RowSizes, Verdict};
use crate::kernel::Kernel;
use crate::layout::{F8E4M3, F8E5M2, Fill};
use crate::plan::{Access, Dims, Plan};

/// Matrices along k: enough that sums accumulate and that staged data is replaced.
const ITERATIONS: usize = 4;
/// Products: one for each pair of orders of A and B. A workgroup has two subgroups, which compute one each, or computes two in turn.
const PRODUCTS: usize = 4;
/// Columns of A and rows of B that a product of a workgroup's matrices with edges leaves out.
const CUT: usize = 3;
/// What the self-test computes.
pub(super) const WORK: TestSize = TestSize { workgroups: 2, iterations: 4 };

/// A row to test, with the subgroup size to test it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gpu) struct ModuleCase {
    pub(in crate::gpu) row: CoopRow,
    pub(in crate::gpu) subgroup: u32,
    /// The functions of elements that the test includes.
    functions: Functions,
}

impl ModuleCase {
    /// The plan of this much work.
    pub(in crate::gpu) fn plan_of(&self, work: TestSize, caps: &Caps) -> Result<Plan> {
        let [m, n, k] = self.row.tested_sizes();
        let kernel = Kernel::new(module(&self.row, self.functions).unwrap_or_default())
            .param("LANES", self.lanes())
            .param("SUBGROUP", self.subgroup)
            .param("M", m)
            .param("N", n)
            .param("K", k);
        let [a, b, c] = self.bytes(work);
        let buffers = [("A", a, Access::Read), ("B", b, Access::Read), ("C", c, Access::Update)];
        plan_of_words(caps, kernel, work.workgroups.into(), Dims::of(&[work.iterations]), buffers)
    }

    /// The test of a row, if a module can run it on this device.
    pub(in crate::gpu) fn of(row: &CoopRow, subgroup: u32, caps: &Caps) -> Option<Self> {
        let functions = Functions::of(row, caps);
        (caps.spirv && module(row, functions).is_some()).then_some(Self { row: *row, subgroup, functions })
    }

    /// Invocations of a workgroup.
    fn lanes(&self) -> u32 {
        match self.row.sizes {
            RowSizes::Multiples { invocations } if self.row.scope == CoopScope::Workgroup => invocations,
            _ => 2 * self.subgroup,
        }
    }

    fn shape(&self) -> [usize; 3] {
        self.row.tested_sizes().map(|extent| extent as usize)
    }

    /// The uploaded operands: for each product and iteration, a matrix A, and a matrix B, in the product's order.
    pub(in crate::gpu) fn operands(&self) -> [Vec<u8>; 2] {
        self.integers().map(|integers| integers.into_iter().flat_map(|x| encode(x, self.row.a)).collect())
    }

    /// Bytes of the operands. If there are more products than those of the test, they read the same operands.
    pub(in crate::gpu) fn bytes(&self, work: TestSize) -> [usize; 3] {
        let [m, n, k] = self.shape();
        let matrices = PRODUCTS * work.iterations as usize * self.row.a.size();
        [matrices * m * k, matrices * k * n, 2 * work.workgroups as usize * self.record() * 4]
    }

    /// Numbers that a product stores.
    fn record(&self) -> usize {
        let [m, n, _] = self.shape();
        2 * (m * n + self.subgroup as usize)
    }

    /// The elements of A and of B: integers that the type holds, and as large as exact sums allow, so that sums in a narrower type
    /// show.
    fn integers(&self) -> [Vec<i32>; 2] {
        let most = match self.row.a {
            CoopScalar::I8 | CoopScalar::F16 => 127.0,
            _ => 255.0,
        };
        #[expect(clippy::cast_possible_truncation, reason = "an integer of at most 8 bits")]
        let integer = |x: f32| held((x * (most + 0.5)).round().clamp(-most, most), self.row.a) as i32;
        let [m, n, k] = self.shape();
        [(m * k, 1), (k * n, 2)].map(|(matrix, seed)| {
            let uniform = Fill::Uniform.values::<f32>(PRODUCTS * ITERATIONS * matrix, seed);
            uniform.into_iter().map(integer).collect()
        })
    }

    /// A term of a product: of an entry, and of an index along k of one iteration.
    fn term(
        &self,
        product: usize,
        iteration: usize,
        [row, k0, col]: [usize; 3],
        [a, b]: &[Vec<i32>; 2],
    ) -> i32 {
        let [m, n, k] = self.shape();
        let a_at = if product & 1 == 1 { k0 * m + row } else { row * k + k0 };
        let b_at = if product & 2 == 2 { col * k + k0 } else { k0 * n + col };
        a[iteration * m * k + a_at] * b[iteration * k * n + b_at]
    }

    /// The results of all products, by rows, of these operands.
    fn product(&self, operands: &[Vec<i32>; 2]) -> Vec<Vec<i32>> {
        let [m, n, k] = self.shape();
        let sum = |product: usize, entry: usize| -> i32 {
            let place = |at: usize| [entry / n, at % k, entry % n];
            let term = |at: usize| self.term(product, product * ITERATIONS + at / k, place(at), operands);
            (0..ITERATIONS * k).map(term).sum()
        };
        (0..PRODUCTS).map(|product| (0..m * n).map(|entry| sum(product, entry)).collect()).collect()
    }

    /// The numbers that a product stores besides `sums`: the sums again, or the results of functions of elements or at edges.
    fn second(&self, product: usize, sums: &[i32], operands: &[Vec<i32>; 2]) -> Vec<i32> {
        match (self.row.sizes, self.row.scope) {
            (RowSizes::Exact, _) if self.functions == Functions::None => sums.to_vec(),
            (_, CoopScope::Subgroup) => self.others(product, sums, &operands[1]),
            (_, CoopScope::Workgroup) => self.clipped(product, operands),
        }
    }

    /// As `clipped` of the module for a workgroup's matrices.
    fn clipped(&self, product: usize, operands: &[Vec<i32>; 2]) -> Vec<i32> {
        let [m, n, k] = self.shape();
        let last = product * ITERATIONS + ITERATIONS - 1;
        let entry = |at: usize| {
            let (row, col) = (at / n, at % n);
            if row == m - 1 || col == n - 1 {
                return 1;
            }
            (0..k - CUT).map(|k0| self.term(product, last, [row, k0, col], operands)).sum()
        };
        (0..m * n).map(entry).collect()
    }

    /// As `others` of the module for a subgroup's matrices with functions of elements.
    fn others(&self, product: usize, sums: &[i32], b: &[i32]) -> Vec<i32> {
        let [m, n, k] = self.shape();
        let last = (product * ITERATIONS + ITERATIONS - 1) * k * n;
        let entry = |at: usize| {
            let (row, col) = (&sums[at / n * n..][..n], at % n);
            let term = |(at, &sum): (usize, &i32)| {
                let b_at = if product & 2 == 2 { col * k + at } else { at * n + col };
                (sum & 63) * b[last + b_at]
            };
            row.iter().enumerate().map(term).sum::<i32>() + row.iter().max().copied().unwrap_or_default()
        };
        (0..m * n).map(entry).collect()
    }

    /// The numbers that each product stores: its sums, and the numbers that it computes from them.
    fn results(&self) -> Vec<Vec<i32>> {
        let operands = &self.integers();
        let both = |(product, sums): (usize, Vec<i32>)| {
            let second = self.second(product, &sums, operands);
            [sums, second].concat()
        };
        self.product(operands).into_iter().enumerate().map(both).collect()
    }

    /// The verdict on C as the device left it: every number must be right, and all lanes must be of one subgroup of the size that
    /// the module was compiled for.
    pub(in crate::gpu) fn judge(&self, bytes: &[u8]) -> Verdict {
        if bytes.len() != self.bytes(WORK)[2] {
            return Verdict::Wrong;
        }
        let number = |word: [u8; 4]| match self.row.c {
            CoopScalar::F32 => f64::from(f32::from_le_bytes(word)),
            _ => f64::from(i32::from_le_bytes(word)),
        };
        let numbers: Vec<f64> = bytes.as_chunks().0.iter().copied().map(number).collect();
        let [m, n, _] = self.shape();
        let subgroup = self.subgroup as usize;
        let sizes = |record: &[f64]| record[2 * m * n..][..subgroup].to_vec();
        let is_size = |size: f64| (1.0..=128.0).contains(&size);
        if sizes(&numbers).iter().any(|&size| is_size(size) && size != f64::from(self.subgroup)) {
            return Verdict::OtherSubgroups;
        }
        let is_right = |(record, want): (&[f64], Vec<i32>)| {
            let want = want.into_iter().map(f64::from);
            let mut lanes = record[2 * m * n + subgroup..].to_vec();
            lanes.sort_by(f64::total_cmp);
            record[..2 * m * n].iter().copied().eq(want)
                && sizes(record).iter().all(|&size| size == f64::from(self.subgroup))
                && lanes.into_iter().eq((0..self.subgroup).map(f64::from))
        };
        let is_exact = numbers.chunks(self.record()).zip(self.results()).all(is_right);
        if is_exact { Verdict::Verified } else { Verdict::Wrong }
    }
}

/// The number of the type that is nearest to an integer of at most 8 bits: an integer too.
fn held(integer: f32, scalar: CoopScalar) -> f32 {
    match scalar {
        CoopScalar::E4m3 => F8E4M3::from_f32(integer).to_f32(),
        CoopScalar::E5m2 => F8E5M2::from_f32(integer).to_f32(),
        _ => integer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;
    use CoopScalar::{Bf16, E4m3, E5m2, F16, F32, I8, I32};
    use half::{bf16, f16};

    fn cases() -> Vec<ModuleCase> {
        let case = |([m, n, k], ab, c, subgroup): ([u32; 3], CoopScalar, CoopScalar, u32)| {
            let [lavapipe, ..] = fixtures::lavapipe().rows[..] else { panic!("it lists rows") };
            let row = CoopRow { m, n, k, a: ab, b: ab, c, ..lavapipe };
            ModuleCase { row, subgroup, functions: Functions::None }
        };
        [
            ([8, 8, 8], I8, I32, 8),
            ([16, 16, 32], I8, I32, 32),
            ([8, 16, 16], F16, F32, 16),
            ([16; 3], Bf16, F32, 64),
            ([16, 16, 32], E4m3, F32, 32),
            ([16; 3], E5m2, F32, 64),
        ]
        .map(case)
        .into_iter()
        .chain([
            ModuleCase { functions: Functions::Nv2, ..case(([8, 16, 16], F16, F32, 32)) },
            ModuleCase { functions: Functions::Maintenance1, ..case(([16; 3], Bf16, F32, 32)) },
        ])
        .chain([([8, 8, 8], I8, I32, 8), ([32, 16, 16], F16, F32, 32), ([16, 8, 16], Bf16, F32, 16)].map(
            |of| {
                let exact = case(of);
                let row = CoopRow { sizes: RowSizes::Multiples { invocations: 0 }, ..exact.row };
                ModuleCase { row, ..exact }
            },
        ))
        .chain([([32, 16, 32], I8, I32, 32), ([32, 16, 16], F16, F32, 32)].map(|of| {
            let exact = case(of);
            let sizes = RowSizes::Multiples { invocations: 128 };
            ModuleCase { row: CoopRow { sizes, scope: CoopScope::Workgroup, ..exact.row }, ..exact }
        }))
        .collect()
    }

    /// The contents of C on a device that computes these results.
    fn left_by(case: &ModuleCase, results: &[Vec<i32>]) -> Vec<i32> {
        let size = case.subgroup as i32;
        let record = |results: &Vec<i32>| {
            let lanes = (0..size).rev().collect();
            [results.clone(), vec![size; case.subgroup as usize], lanes].concat()
        };
        results.iter().flat_map(record).collect()
    }

    fn decoded(bytes: &[u8], scalar: CoopScalar) -> Vec<f64> {
        let half = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
        match scalar {
            F16 => bytes.chunks(2).map(|x| f16::from_bits(half(x)).to_f64()).collect(),
            Bf16 => bytes.chunks(2).map(|x| bf16::from_bits(half(x)).to_f64()).collect(),
            E4m3 => bytes.iter().map(|&x| F8E4M3::from_bits(x).to_f32().into()).collect(),
            E5m2 => bytes.iter().map(|&x| F8E5M2::from_bits(x).to_f32().into()).collect(),
            _ => bytes.iter().map(|&x| x.cast_signed().into()).collect(),
        }
    }

    fn judged(case: &ModuleCase, left: &[i32]) -> Verdict {
        let bytes: Vec<u8> = match case.row.c {
            F32 => left.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect(),
            _ => left.iter().flat_map(|&x| x.to_le_bytes()).collect(),
        };
        case.judge(&bytes)
    }

    #[test]
    fn the_exact_product_is_right_and_its_sums_are_exact() {
        for case in cases() {
            let (product, results) = (case.product(&case.integers()), case.results());
            assert_eq!(judged(&case, &left_by(&case, &results)), Verdict::Verified, "{case:?}");
            let uploaded = case.operands().map(|bytes| decoded(&bytes, case.row.a));
            let integers = case.integers().map(|all| all.into_iter().map(f64::from).collect::<Vec<_>>());
            assert_eq!(uploaded, integers, "{case:?}: the type holds the integers");
            let largest = results.iter().flatten().map(|x| x.abs()).max().unwrap();
            assert!(largest < 1 << 24, "{case:?}: {largest}");
            let in_half = product.iter().flatten().filter(|&&x| x % 64 == 0 && x.abs() < 65_504).count();
            assert!(in_half * 10 < product.len() * product[0].len(), "{case:?}: sums in f16 show");
        }
    }

    /// Matrices of 8 bits on some GPUs are said to sum in 14 significant bits, less than the bound of products allows.
    #[test]
    fn sums_of_fewer_bits_than_those_of_f32_are_found() {
        for case in cases().into_iter().filter(|case| [E4m3, E5m2].contains(&case.row.a)) {
            let product = case.product(&case.integers());
            let shortened = |sum: &i32| {
                let dropped = (32 - sum.unsigned_abs().leading_zeros()).saturating_sub(14);
                sum >> dropped << dropped
            };
            let short: Vec<Vec<i32>> =
                product.iter().map(|one| one.iter().map(shortened).collect()).collect();
            assert_eq!(judged(&case, &left_by(&case, &short)), Verdict::Wrong, "{case:?}: 14 bits");
        }
    }

    #[test]
    fn whatever_is_wrong_in_the_result_is_found() {
        for case in cases() {
            let right = left_by(&case, &case.results());
            let [m, n, _] = case.shape();
            let (sizes, lanes) = (2 * m * n, 2 * m * n + case.subgroup as usize);
            let judged = |change: &dyn Fn(&mut Vec<i32>)| {
                let mut left = right.clone();
                change(&mut left);
                judged(&case, &left)
            };
            let wrong = |what: &str, change: &dyn Fn(&mut Vec<i32>)| {
                assert_eq!(judged(change), Verdict::Wrong, "{case:?}: {what}");
            };
            wrong("zeros", &|left| left.fill(0));
            wrong("the first entry is off", &|left| left[0] += 1);
            wrong("an entry of the second results is off", &|left| left[2 * m * n - 1] -= 1);
            wrong("two entries exchanged", &|left| left.swap(0, 1));
            wrong("the last product's entry is off", &|left| {
                let last = left.len() - case.record();
                left[last] += 1;
            });
            wrong("a lane twice", &|left| left[lanes] = left[lanes + 1]);
            wrong("cut short", &|left| left.truncate(lanes));
            assert_eq!(judged(&|left| left[sizes] /= 2), Verdict::OtherSubgroups, "{case:?}");
        }
    }

    /// Matrices in another order than the load says, of another iteration or of the other operand, give another result.
    #[test]
    fn results_of_all_orders_and_operands_differ() {
        for case in cases() {
            let product = case.product(&case.integers());
            for (at, one) in product.iter().enumerate() {
                assert!(product[..at].iter().all(|other| one != other), "{case:?}");
            }
        }
    }
}
