//! The self-test of one row as plain data: the kernel, its operands, and the check of its result.

use crate::Result;
use crate::caps::{Caps, CoopRow, CoopScalar, Verdict};
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, F8E4M3, F8E5M2, Fill, Layout};
use crate::plan::{Access, Dims, Draft, NewStep, Plan};
use half::{bf16, f16};

pub(in crate::gpu) const OP: &str = "self-test";
/// The shader of every self-test.
pub(in crate::gpu) const SHADER: &str = "gemm/coop_verify";

// Constants of the shader: methods to load a matrix, subgroups per workgroup, and stores of the result per subgroup and
// method.
const LOAD_METHODS: usize = 4;
const SUBGROUPS: usize = 2;
const STORES: usize = 2;
/// Matrices along k: enough that sums accumulate and that staged data is replaced.
const ITERATIONS: usize = 4;
/// What the self-test computes.
pub(super) const WORK: TestSize = TestSize { workgroups: 4, iterations: 4 };

/// The amount of work of a self-test's kernel: more if a row is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gpu) struct TestSize {
    pub(in crate::gpu) workgroups: u32,
    pub(in crate::gpu) iterations: u32,
}

/// A row to test, with the subgroup size to test it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gpu) struct Case {
    pub(in crate::gpu) row: CoopRow,
    pub(in crate::gpu) subgroup: u32,
}

/// An operand of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestOperand {
    A,
    B,
}

/// An element of an operand's matrix, in the coordinates of a load method.
#[derive(Clone, Copy)]
struct ElementPlace {
    method: usize,
    operand: TestOperand,
    subgroup: usize,
    iteration: usize,
    row: usize,
    col: usize,
}

impl Case {
    /// The plan of this much work.
    pub(in crate::gpu) fn plan_of(&self, work: TestSize, caps: &Caps) -> Result<Plan> {
        let CoopRow { m: size, a, b, c, .. } = self.row;
        let kernel = Kernel::new(SHADER)
            .param("ab_unit", a)
            .param("c_unit", c)
            .param("mat_a", format!("coop_mat{size}x{size}<{a}, A>"))
            .param("mat_b", format!("coop_mat{size}x{size}<{b}, B>"))
            .param("mat_c", format!("coop_mat{size}x{size}<{c}, C>"))
            .param("SIZE", format!("{size}u"))
            .param("SUBGROUP", format!("{}u", self.subgroup))
            .param("AB_BYTES", format!("{}u", a.size()))
            .param("C_BYTES", format!("{}u", c.size()))
            .dims::<[u32; 4]>(caps);
        let [ab, c] = self.bytes(work);
        let buffers = [("A and B", ab, Access::Read), ("C", c, Access::Update)];
        plan_of_words(caps, kernel, work.workgroups.into(), Dims::of(&self.dims(work)), buffers)
    }

    /// The shader's `Dims`. In memory, a row is longer than its data by the width of one matrix.
    fn dims(&self, TestSize { iterations, .. }: TestSize) -> [u32; 4] {
        let quads = self.row.m / 4;
        [iterations * quads, (iterations + 1) * quads, 2 * self.row.m, 4 * self.row.m * quads]
    }

    /// Bytes of the operands.
    pub(in crate::gpu) fn bytes(&self, work: TestSize) -> [usize; 2] {
        let rows = SUBGROUPS * 2 * self.size();
        let ld = (work.iterations as usize + 1) * self.size();
        // NOTE: the lanes' records of the first workgroups lie where further ones store their results.
        let workgroups = work.workgroups as usize;
        let c = self.results(workgroups) + workgroups * SUBGROUPS * self.subgroup as usize * 4;
        [rows * ld * self.row.a.size(), c * self.row.c.size()]
    }

    /// The uploaded operands: for each subgroup, the rows of A, then the rows of B.
    pub(in crate::gpu) fn operands(&self) -> Vec<u8> {
        self.integers().into_iter().flat_map(|x| encode(x, self.row.a)).collect()
    }

    /// The verdict on C as the device left it: every bit must be right, and every lane in a subgroup of the size that the
    /// kernel was compiled for. So the self-test proves its own subgroup size.
    pub(in crate::gpu) fn judge(&self, bytes: &[u8]) -> Verdict {
        let numbers: Vec<f64> = bytes.chunks_exact(self.row.c.size()).map(decode).collect();
        if bytes.len() != self.bytes(WORK)[1] {
            return Verdict::Wrong;
        }
        let (results, lane_records) = numbers.split_at(self.lane_records());
        let size = self.size();
        let exact =
            results.chunks(2 * size).zip(self.product(|place| place).chunks(size)).all(|(row, want)| {
                let (values, padding) = row.split_at(size);
                values == want && padding.iter().all(|x| x.is_nan())
            });
        let lanes = lane_records
            .chunks(lane_records.len() / LOAD_METHODS)
            .all(|lane_records| self.has_all_lanes(lane_records));
        match lane_records.first() {
            Some(&size) if size >= 1.0 && size != f64::from(self.subgroup) => Verdict::OtherSubgroups,
            _ if exact && lanes => Verdict::Verified,
            _ => Verdict::Wrong,
        }
    }

    /// Whether the lanes of a workgroup report whole subgroups of the size that the kernel was compiled for.
    fn has_all_lanes(&self, lane_records: &[f64]) -> bool {
        let subgroup = |index: usize| {
            (0..self.subgroup)
                .map(move |lane| [f64::from(self.subgroup), SUBGROUPS as f64, index as f64, lane.into()])
        };
        (0..SUBGROUPS)
            .flat_map(subgroup)
            .all(|want| lane_records.chunks(4).filter(|lane| *lane == want).count() == 1)
    }

    fn size(&self) -> usize {
        self.row.m as usize
    }

    /// Number of elements of C before the lanes' records of their subgroups.
    fn lane_records(&self) -> usize {
        self.results(LOAD_METHODS)
    }

    /// Number of elements of C that hold the results of this number of workgroups.
    fn results(&self, workgroups: usize) -> usize {
        workgroups * SUBGROUPS * STORES * self.size() * 2 * self.size()
    }

    /// The elements of the operands: integers whose sums are exact, and as large as that allows. So sums in f16 instead
    /// of f32 give a wrong result, and so do f32 operands that lose bits.
    fn integers(&self) -> Vec<i32> {
        let [a, b] = match (self.row.a, self.row.c) {
            (_, CoopScalar::F16) => [3.0, 3.0],
            (CoopScalar::F16, _) => [127.0, 127.0],
            _ => [4095.0, 3.0],
        };
        let matrix = self.size() * self.stride();
        let uniform = Fill::Uniform.values::<f32>(SUBGROUPS * 2 * matrix, 1);
        let most = |at: usize| if at / matrix % 2 == TestOperand::A as usize { a } else { b };
        #[expect(clippy::cast_possible_truncation, reason = "an integer of at most 12 bits")]
        let integer = |(at, x): (usize, f32)| (x * (most(at) + 0.5)).round() as i32;
        uniform.into_iter().enumerate().map(integer).collect()
    }

    /// Row stride of an operand in elements.
    fn stride(&self) -> usize {
        (ITERATIONS + 1) * self.size()
    }

    /// All results of the kernel, row by row, if each place is loaded from `load(place)`.
    fn product(&self, load: impl Fn(ElementPlace) -> ElementPlace) -> Vec<f64> {
        let size = self.size();
        let memory = self.integers();
        let element = |place: ElementPlace| {
            let ElementPlace { method, operand, subgroup, iteration, row, col } = load(place);
            // In these methods the load says T, and a row of the matrix is a row of memory: the even methods for A, the
            // odd ones for B.
            let by_rows = (method % 2 == 0) == (operand == TestOperand::A);
            let (down, along) = if by_rows { (row, col) } else { (col, row) };
            let down = (2 * subgroup + operand as usize) * size + down;
            memory[down * self.stride() + iteration * size + along]
        };
        let sum = |method: usize, subgroup: usize, row: usize, col: usize| -> i32 {
            let term = |k: usize| {
                let (iteration, k) = (k / size, k % size);
                let a = ElementPlace { method, operand: TestOperand::A, subgroup, iteration, row, col: k };
                let b = ElementPlace { method, operand: TestOperand::B, subgroup, iteration, row: k, col };
                element(a) * element(b)
            };
            (0..ITERATIONS * size).map(term).sum()
        };
        let mut stored = Vec::new();
        for (method, subgroup) in (0..LOAD_METHODS * SUBGROUPS).map(|i| (i / SUBGROUPS, i % SUBGROUPS)) {
            let result: Vec<f64> =
                (0..size * size).map(|at| sum(method, subgroup, at / size, at % size).into()).collect();
            (0..STORES).for_each(|_| stored.extend(&result));
        }
        stored
    }
}

/// The bytes of an integer that the type holds.
pub(super) fn encode(integer: i32, scalar: CoopScalar) -> Vec<u8> {
    let real = integer as f32;
    match scalar {
        CoopScalar::E4m3 => vec![F8E4M3::from_f32(real).to_bits()],
        CoopScalar::E5m2 => vec![F8E5M2::from_f32(real).to_bits()],
        CoopScalar::F16 => f16::from_f32(real).to_le_bytes().to_vec(),
        CoopScalar::Bf16 => bf16::from_f32(real).to_le_bytes().to_vec(),
        CoopScalar::F32 => real.to_le_bytes().to_vec(),
        _ => integer.to_le_bytes()[..scalar.size()].to_vec(),
    }
}

/// The plan of a test: one launch of a kernel on buffers of this number of bytes, a multiple of 4.
pub(super) fn plan_of_words<const N: usize>(
    caps: &Caps,
    kernel: Kernel,
    blocks: u64,
    dims: Dims,
    buffers: [(&'static str, usize, Access); N],
) -> Result<Plan> {
    let mut draft = Draft::new(OP, &[], caps);
    let mut args = Vec::with_capacity(N);
    for (name, bytes, access) in buffers {
        let words = Layout::contiguous(OP, &[bytes / 4])?;
        args.push((draft.operand(name, DType::I32, words, access), access));
    }
    let tile = "self-test".into();
    draft.step(NewStep { tile, blocks, dims, ..NewStep::of(kernel, Needs::default(), &args) })?;
    Ok(draft.finish())
}

fn decode(bytes: &[u8]) -> f64 {
    match *bytes {
        [b0, b1] => f16::from_le_bytes([b0, b1]).to_f64(),
        [b0, b1, b2, b3] => f32::from_le_bytes([b0, b1, b2, b3]).into(),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;
    use crate::layout::Element;
    use CoopScalar::{F16, F32};

    fn cases() -> Vec<Case> {
        let case = |(size, ab, c, subgroup)| {
            let [lavapipe, ..] = fixtures::lavapipe().rows[..] else { panic!("it lists rows") };
            let row = CoopRow { m: size, n: size, k: size, a: ab, b: ab, c, ..lavapipe };
            Case { row, subgroup }
        };
        [(8, F16, F16, 8), (8, F16, F32, 32), (8, F32, F32, 32), (16, F16, F32, 32), (16, F16, F16, 64)]
            .map(case)
            .to_vec()
    }

    /// The contents of C on a device that computes `results`.
    fn left_by(case: &Case, results: &[f64]) -> Vec<f64> {
        let padding = vec![f64::NAN; case.size()];
        let mut left: Vec<f64> =
            results.chunks(case.size()).flat_map(|row| [row, &padding[..]].concat()).collect();
        for index in 0..LOAD_METHODS * SUBGROUPS {
            let lane = |lane: u32| [case.subgroup.into(), 2.0, (index % SUBGROUPS) as f64, lane.into()];
            left.extend((0..case.subgroup).flat_map(lane));
        }
        left
    }

    fn judged(case: &Case, left: &[f64]) -> Verdict {
        let bytes: Vec<u8> = match case.row.c {
            F16 => left.iter().flat_map(|&x| <f16 as Element>::from_f64(x).to_le_bytes()).collect(),
            _ => left.iter().flat_map(|&x| f32::from_f64(x).to_le_bytes()).collect(),
        };
        case.judge(&bytes)
    }

    #[test]
    fn the_exact_product_is_right_and_every_sum_on_the_way_fits() {
        for case in cases() {
            let product = case.product(|place| place);
            assert_eq!(judged(&case, &left_by(&case, &product)), Verdict::Verified, "{case:?}");
            let memory = case.integers();
            let largest = |from: usize| {
                let rows = memory.chunks(case.size() * case.stride()).skip(from).step_by(2);
                rows.flatten().map(|x| x.abs()).max().unwrap_or(0)
            };
            let (a, b) = (largest(0), largest(1));
            let sum = a * b * i32::try_from(ITERATIONS * case.size()).unwrap();
            // All integers up to 2^11 are exact in f16, and up to 2^24 in f32. These bounds keep a few bits in reserve.
            assert!(sum <= if case.row.c == F16 { 1 << 11 } else { 1 << 20 }, "{case:?}: {sum}");
            assert!(a < if case.row.a == F16 { 1 << 11 } else { 1 << 24 }, "{case:?}: {a}");
            assert!(case.row.a == F16 || a > 1 << 11, "{case:?}: operands in tf32 show");
            let same_in_f16 =
                product.iter().filter(|&&x| <f16 as Element>::from_f64(x).to_f64() == x).count();
            assert!(case.row.c == F16 || same_in_f16 < product.len() / 2, "{case:?}: sums in f16 show");
        }
    }

    #[test]
    fn whatever_is_wrong_in_the_result_is_found() {
        for case in cases() {
            let (size, lane_records) = (case.size(), case.lane_records());
            let right = left_by(&case, &case.product(|place| place));
            let judged = |change: &dyn Fn(&mut Vec<f64>)| {
                let mut left = right.clone();
                change(&mut left);
                judged(&case, &left)
            };
            let wrong = |what: &str, change: &dyn Fn(&mut Vec<f64>)| {
                assert_eq!(judged(change), Verdict::Wrong, "{case:?}: {what}");
            };
            wrong("zeros", &|left| left.fill(0.0));
            wrong("nothing written", &|left| left.fill(f64::NAN));
            wrong("the first entry is off", &|left| left[0] += 1.0);
            wrong("the last entry is off", &|left| left[lane_records - size - 1] += 1.0);
            wrong("NaN in a row", &|left| left[4 * size] = f64::NAN);
            wrong("written into the padding", &|left| left[size] = 0.0);
            wrong("two entries exchanged", &|left| left.swap(0, 1));
            let other_size = judged(&|left| left[lane_records] /= 2.0);
            assert_eq!(other_size, Verdict::OtherSubgroups, "{case:?}: a subgroup of another size");
            wrong("another lane's subgroup of another size", &|left| left[lane_records + 4] /= 2.0);
            wrong("more subgroups", &|left| left[lane_records + 1] = 4.0);
            wrong("a lane in another subgroup", &|left| left[lane_records + 2] = 1.0);
            wrong("a lane twice", &|left| left[lane_records + 3] = 1.0);
            wrong("cut short", &|left| left.truncate(lane_records));
        }
    }

    #[test]
    fn whatever_a_kernel_does_wrong_shows_in_its_results() {
        type Mistake = (&'static str, fn(ElementPlace) -> ElementPlace);
        let mistakes: [Mistake; 7] = [
            ("a transposed load", |p| ElementPlace { row: p.col, col: p.row, ..p }),
            ("another method", |p| ElementPlace { method: (p.method + 1) % LOAD_METHODS, ..p }),
            ("the other operand", |p| match p.operand {
                TestOperand::A => ElementPlace { operand: TestOperand::B, row: p.col, col: p.row, ..p },
                TestOperand::B => ElementPlace { operand: TestOperand::A, row: p.col, col: p.row, ..p },
            }),
            ("another iteration", |p| ElementPlace { iteration: (p.iteration + 1) % ITERATIONS, ..p }),
            ("the other subgroup", |p| ElementPlace { subgroup: SUBGROUPS - 1 - p.subgroup, ..p }),
            ("the next row", |p| ElementPlace { row: p.row ^ 1, ..p }),
            ("the next column", |p| ElementPlace { col: p.col ^ 1, ..p }),
        ];
        for case in cases() {
            let right = case.product(|place| place);
            let matrix = case.size() * case.size();
            for (what, mistake) in mistakes {
                for (operand, step) in (0..2 * ITERATIONS)
                    .map(|i| ([TestOperand::A, TestOperand::B][i / ITERATIONS], i % ITERATIONS))
                {
                    let here = |p: ElementPlace| p.operand == operand && p.iteration == step;
                    let wrong = case.product(|p| if here(p) { mistake(p) } else { p });
                    assert!(
                        right.chunks(matrix).zip(wrong.chunks(matrix)).all(|(right, wrong)| right != wrong),
                        "{case:?}: {what} of {operand:?} in iteration {step}"
                    );
                }
            }
        }
    }
}
