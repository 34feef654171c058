//! The kernels that measure peaks compute every operation that they count.

use super::without_files;
use support::failure::says;
use tilewise::gpu::{CoopScalar, Tuning};
use tilewise::planning::Problem;
use tilewise::planning::peak::{MatrixPeakProblem, PeakNumber, PeakProblem};
use tilewise::{Fill, f16, reference};

/// Invocations that do not fill the last workgroup, and iterations whose sums every type holds exactly.
const INVOCATIONS: u32 = 100;
const ITERATIONS: u32 = 3;

/// The word of an invocation: 32 sums in fours, to each of which `index % 7` is added four times in an iteration.
fn word(number: PeakNumber, index: u32) -> i32 {
    let sum = |i: u32| i64::from(index % 5 + i + 4 * ITERATIONS * (index % 7));
    let four = |quad: u32| {
        let sums = [0, 1, 2, 3].map(|i| i32::try_from(sum(4 * quad + i)).unwrap());
        match number {
            PeakNumber::F32 | PeakNumber::F16 => (sums.iter().sum::<i32>() as f32).to_bits().cast_signed(),
            PeakNumber::I8 => sums.into_iter().fold(0, |word, sum| word ^ sum),
        }
    };
    (0..8).map(four).fold(0, |word, four| word ^ four)
}

#[test]
fn multiply_adds_of_every_number_are_computed() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    let f16 = gpu.caps().f16.then_some(PeakNumber::F16);
    for number in [PeakNumber::F32, PeakNumber::I8].into_iter().chain(f16) {
        let problem = PeakProblem::new(number, INVOCATIONS, ITERATIONS);
        let mut sums = gpu.zeros::<i32>([INVOCATIONS as usize]).unwrap();
        let plan = problem.plan(gpu.caps()).unwrap();
        gpu.execute(&plan, &[sums.view_mut().unwrap()], &[]).unwrap();
        let want: Vec<i32> = (0..INVOCATIONS).map(|index| word(number, index)).collect();
        assert_eq!(sums.to_vec().unwrap(), want, "{number:?}");
        let each = if number == PeakNumber::I8 { 4.0 } else { 1.0 };
        let multiply_adds = f64::from(INVOCATIONS * ITERATIONS) * 128.0 * each;
        assert_eq!(problem.operations(), 2.0 * multiply_adds, "{number:?}");
    }
}

#[test]
fn products_of_matrices_are_computed_on_every_usable_row() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    for size in [8, 16] {
        let problem = MatrixPeakProblem::new(size, 5, ITERATIONS);
        let shapes @ [[rows, columns], [rows_of_c, _]] = problem.shapes();
        let values = Fill::Integers.values::<f16>(rows * columns, 1);
        let (ab, mut c) = (gpu.tensor(&values, shapes[0]).unwrap(), gpu.zeros::<f32>(shapes[1]).unwrap());
        let plan = problem.plan(gpu.caps());
        if gpu.caps().coop(size, CoopScalar::F16, CoopScalar::F32).is_err() {
            says(plan, &["measure_machine", "cooperative matrices"]);
            continue;
        }
        gpu.execute(&plan.unwrap(), &[ab.view(), c.view_mut().unwrap()], &[]).unwrap();
        let matrix = columns * columns;
        let [a, b0, b1] = [0, 1, 2].map(|at| &values[at * matrix..][..matrix]);
        let sums = |b: &[f16]| {
            reference::gemm(a, b, [columns; 3]).value.into_iter().map(|x| x * f64::from(ITERATIONS))
        };
        let of_workgroup: Vec<f64> = sums(b0).chain(sums(b1)).collect();
        let c: Vec<f64> = c.to_vec().unwrap().into_iter().map(f64::from).collect();
        assert_eq!(c, of_workgroup.repeat(rows_of_c / (2 * columns)), "{size}");
        assert_eq!(problem.operations(), 5.0 * f64::from(ITERATIONS) * 2.0 * 2.0 * f64::from(size).powi(3));
    }
}
