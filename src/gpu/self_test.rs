//! One row's self-test as data: the kernel, its operands, and the judgement of what it writes.

use crate::Result;
use crate::caps::{Caps, CoopRow, CoopScalar, Verdict};
use crate::kernel::{Kernel, Needs};
use crate::layout::Fill;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};
use half::f16;

pub(super) const OP: &str = "self-test";
/// The shader of every self-test.
pub(super) const SHADER: &str = "gemm/coop_verify";

// What the shader fixes: ways of loading, subgroups of a workgroup, how often each of them stores its result.
const WAYS: usize = 4;
const SUBGROUPS: usize = 2;
const STORES: usize = 2;
/// Matrices along k: enough that sums go on, and that what is staged is replaced.
const STEPS: usize = 4;

/// A row under test, on subgroups of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Case {
    pub(super) row: CoopRow,
    pub(super) subgroup: u32,
}

/// An operand of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    A,
    B,
}

/// An element of one of an operand's matrices, as a way of loading sees it.
#[derive(Clone, Copy)]
struct Place {
    way: usize,
    operand: Operand,
    subgroup: usize,
    step: usize,
    row: usize,
    col: usize,
}

impl Problem for Case {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
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
            .dims(caps, size_of_val(&self.dims()));
        let mut draft = Draft::new(OP, &[], caps);
        let words = |bytes: Vec<u8>| Layout::contiguous(OP, &[bytes.len() / 4]);
        let ab = draft.operand("A and B", DType::I32, words(self.operands())?, Access::Read);
        let c = draft.operand("C", DType::I32, words(self.poison())?, Access::Update);
        draft.step(NewStep {
            kernel,
            tile: "self-test".into(),
            needs: Needs::default(), // of a device whose rows are tested
            blocks: 4,
            dims: Dims::of(&self.dims()),
            args: &[(ab, Access::Read), (c, Access::Update)],
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

impl Case {
    /// The shader's `Dims`: in memory, every row is longer by a matrix than what lies in it.
    pub(super) fn dims(&self) -> [u32; 4] {
        let quads = self.row.m / 4;
        [4 * quads, 5 * quads, 2 * self.row.m, 4 * self.row.m * quads]
    }

    /// A and B as the device gets them: the rows of A and the rows of B of each subgroup in turn.
    pub(super) fn operands(&self) -> Vec<u8> {
        self.integers().into_iter().flat_map(|x| encode(x, self.row.a)).collect()
    }

    /// C as the device gets it: NaN everywhere, so that what is not written shows.
    pub(super) fn poison(&self) -> Vec<u8> {
        vec![0xff; (self.facts() + WAYS * SUBGROUPS * self.subgroup as usize * 4) * self.row.c.size()]
    }

    /// Whether C, as the device has left it, is what it must be to the bit.
    pub(super) fn judge(&self, bytes: &[u8]) -> Verdict {
        let numbers: Vec<f64> = bytes.chunks_exact(self.row.c.size()).map(decode).collect();
        if bytes.len() != self.poison().len() {
            return Verdict::Wrong;
        }
        let (results, facts) = numbers.split_at(self.facts());
        let size = self.size();
        let exact =
            results.chunks(2 * size).zip(self.product(|place| place).chunks(size)).all(|(row, want)| {
                let (within, beside) = row.split_at(size);
                within == want && beside.iter().all(|x| x.is_nan())
            });
        let lanes = facts.chunks(facts.len() / WAYS).all(|facts| self.has_all_lanes(facts));
        if exact && lanes { Verdict::Verified } else { Verdict::Wrong }
    }

    /// Whether the lanes of a workgroup say that they are in whole subgroups of the size that the kernel was made for.
    fn has_all_lanes(&self, facts: &[f64]) -> bool {
        let subgroup = |index: usize| {
            (0..self.subgroup)
                .map(move |lane| [f64::from(self.subgroup), SUBGROUPS as f64, index as f64, lane.into()])
        };
        (0..SUBGROUPS)
            .flat_map(subgroup)
            .all(|want| facts.chunks(4).filter(|lane| *lane == want).count() == 1)
    }

    fn size(&self) -> usize {
        self.row.m as usize
    }

    /// Elements of C before what the lanes say of their subgroups.
    fn facts(&self) -> usize {
        WAYS * SUBGROUPS * STORES * self.size() * 2 * self.size()
    }

    /// The operands' memory. Integers whose sums are exact, and as large as that allows: where sums should be in f32,
    /// sums in f16 show; so do operands of f32 that lose bits on the way.
    fn integers(&self) -> Vec<i32> {
        let [a, b] = match (self.row.a, self.row.c) {
            (_, CoopScalar::F16) => [3.0, 3.0],
            (CoopScalar::F16, _) => [127.0, 127.0],
            _ => [4095.0, 3.0],
        };
        let matrix = self.size() * self.stride();
        let uniform = Fill::Uniform.values::<f32>(SUBGROUPS * 2 * matrix, 1);
        let most = |at: usize| if at / matrix % 2 == Operand::A as usize { a } else { b };
        #[expect(clippy::cast_possible_truncation, reason = "an integer of at most 12 bits")]
        let integer = |(at, x): (usize, f32)| (x * (most(at) + 0.5)).round() as i32;
        uniform.into_iter().enumerate().map(integer).collect()
    }

    /// Elements from one row of an operand's memory to the next.
    fn stride(&self) -> usize {
        (STEPS + 1) * self.size()
    }

    /// Everything that the kernel computes, row by row, if each place is loaded as `load` says.
    fn product(&self, load: impl Fn(Place) -> Place) -> Vec<f64> {
        let size = self.size();
        let memory = self.integers();
        let element = |place: Place| {
            let Place { way, operand, subgroup, step, row, col } = load(place);
            // The ways whose loads say T, for which a row of the matrix is one of memory: even of A, odd of B.
            let by_rows = (way % 2 == 0) == (operand == Operand::A);
            let (down, along) = if by_rows { (row, col) } else { (col, row) };
            let down = (2 * subgroup + operand as usize) * size + down;
            memory[down * self.stride() + step * size + along]
        };
        let sum = |way: usize, subgroup: usize, row: usize, col: usize| -> i32 {
            let term = |k: usize| {
                let (step, k) = (k / size, k % size);
                let a = Place { way, operand: Operand::A, subgroup, step, row, col: k };
                let b = Place { way, operand: Operand::B, subgroup, step, row: k, col };
                element(a) * element(b)
            };
            (0..STEPS * size).map(term).sum()
        };
        let mut stored = Vec::new();
        for (way, subgroup) in (0..WAYS * SUBGROUPS).map(|i| (i / SUBGROUPS, i % SUBGROUPS)) {
            let result: Vec<f64> =
                (0..size * size).map(|at| sum(way, subgroup, at / size, at % size).into()).collect();
            (0..STORES).for_each(|_| stored.extend(&result));
        }
        stored
    }
}

fn encode(integer: i32, scalar: CoopScalar) -> Vec<u8> {
    match scalar {
        CoopScalar::F16 => f16::from_f64(integer.into()).to_le_bytes().to_vec(),
        CoopScalar::F32 => (integer as f32).to_le_bytes().to_vec(),
        CoopScalar::I32 | CoopScalar::U32 => integer.to_le_bytes().to_vec(),
    }
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
    use crate::Element;
    use crate::caps::CoopScope;
    use CoopScalar::{F16, F32};

    fn cases() -> Vec<Case> {
        let case = |(size, ab, c, subgroup)| {
            let (scope, verdict) = (CoopScope::Subgroup, Verdict::Untested);
            let row = CoopRow { m: size, n: size, k: size, a: ab, b: ab, c, scope, verdict };
            Case { row, subgroup }
        };
        [(8, F16, F16, 8), (8, F16, F32, 32), (8, F32, F32, 32), (16, F16, F32, 32), (16, F16, F16, 64)]
            .map(case)
            .to_vec()
    }

    /// What a device that computes these matrices leaves behind.
    fn left_by(case: &Case, results: &[f64]) -> Vec<f64> {
        let beside = vec![f64::NAN; case.size()];
        let mut left: Vec<f64> =
            results.chunks(case.size()).flat_map(|row| [row, &beside[..]].concat()).collect();
        for index in 0..WAYS * SUBGROUPS {
            let lane = |lane: u32| [case.subgroup.into(), 2.0, (index % SUBGROUPS) as f64, lane.into()];
            left.extend((0..case.subgroup).flat_map(lane));
        }
        left
    }

    fn judged(case: &Case, left: &[f64]) -> Verdict {
        let bytes: Vec<u8> = match case.row.c {
            F16 => left.iter().flat_map(|&x| f16::from_f64(x).to_le_bytes()).collect(),
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
            let sum = a * b * i32::try_from(STEPS * case.size()).unwrap();
            // All integers up to 2^11 are exact in f16, and up to 2^24 in f32: a few bits stay free.
            assert!(sum <= if case.row.c == F16 { 1 << 11 } else { 1 << 20 }, "{case:?}: {sum}");
            assert!(a < if case.row.a == F16 { 1 << 11 } else { 1 << 24 }, "{case:?}: {a}");
            assert!(case.row.a == F16 || a > 1 << 11, "{case:?}: operands in tf32 show");
            let same_in_f16 = product.iter().filter(|&&x| f16::from_f64(x).to_f64() == x).count();
            assert!(case.row.c == F16 || same_in_f16 < product.len() / 2, "{case:?}: sums in f16 show");
        }
    }

    #[test]
    fn whatever_is_wrong_in_the_result_is_found() {
        for case in cases() {
            let (size, facts) = (case.size(), case.facts());
            let right = left_by(&case, &case.product(|place| place));
            let wrong = |what: &str, change: &dyn Fn(&mut Vec<f64>)| {
                let mut left = right.clone();
                change(&mut left);
                assert_eq!(judged(&case, &left), Verdict::Wrong, "{case:?}: {what}");
            };
            wrong("zeros", &|left| left.fill(0.0));
            wrong("nothing written", &|left| left.fill(f64::NAN));
            wrong("the first entry is off", &|left| left[0] += 1.0);
            wrong("the last entry is off", &|left| left[facts - size - 1] += 1.0);
            wrong("NaN in a row", &|left| left[4 * size] = f64::NAN);
            wrong("written beside a row", &|left| left[size] = 0.0);
            wrong("two entries exchanged", &|left| left.swap(0, 1));
            wrong("a subgroup of another size", &|left| left[facts] /= 2.0);
            wrong("more subgroups", &|left| left[facts + 1] = 4.0);
            wrong("a lane in another subgroup", &|left| left[facts + 2] = 1.0);
            wrong("a lane twice", &|left| left[facts + 3] = 1.0);
            wrong("cut short", &|left| left.truncate(facts));
        }
    }

    #[test]
    fn whatever_a_kernel_does_wrong_shows_in_its_results() {
        type Mistake = (&'static str, fn(Place) -> Place);
        let mistakes: [Mistake; 7] = [
            ("a transposed load", |p| Place { row: p.col, col: p.row, ..p }),
            ("another way", |p| Place { way: (p.way + 1) % WAYS, ..p }),
            ("the other operand", |p| match p.operand {
                Operand::A => Place { operand: Operand::B, row: p.col, col: p.row, ..p },
                Operand::B => Place { operand: Operand::A, row: p.col, col: p.row, ..p },
            }),
            ("another step", |p| Place { step: (p.step + 1) % STEPS, ..p }),
            ("the other subgroup", |p| Place { subgroup: SUBGROUPS - 1 - p.subgroup, ..p }),
            ("the next row", |p| Place { row: p.row ^ 1, ..p }),
            ("the next column", |p| Place { col: p.col ^ 1, ..p }),
        ];
        for case in cases() {
            let right = case.product(|place| place);
            let matrix = case.size() * case.size();
            for (what, mistake) in mistakes {
                for (operand, step) in
                    (0..2 * STEPS).map(|i| ([Operand::A, Operand::B][i / STEPS], i % STEPS))
                {
                    let here = |p: Place| p.operand == operand && p.step == step;
                    let wrong = case.product(|p| if here(p) { mistake(p) } else { p });
                    assert!(
                        right.chunks(matrix).zip(wrong.chunks(matrix)).all(|(right, wrong)| right != wrong),
                        "{case:?}: {what} of {operand:?} in step {step}"
                    );
                }
            }
        }
    }
}
