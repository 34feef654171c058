//! What plans say that they move, by the counters. `tests/plans/flops.rs` has what they compute.

use super::operands::{FAMILIES, Of, Operands};
use super::own;
use tilewise::Error;
use tilewise::planning::Access;

/// Bytes that a window may have beyond the elements in it.
const ROUNDED: u64 = 15;

/// Of what a plan moves, the bytes that it reads; behind them those that it writes.
const READ: usize = 0;

/// Bytes of the third sum of a chunk, which lie between those of the other two in the window that joins the chunks: of the backward
/// pass of a group norm, whose sums are of 64 channels.
const THIRD_SUMS: u64 = 64 * 4;

/// Bytes of low halves that lie in the windows of the high ones, of a split product of 64 x 64 by 64 x 96: behind each row of A
/// but the last, and before each column of B.
const BETWEEN: u64 = (63 + 96) * 64 * 2;

#[test]
fn every_family_moves_what_its_plan_says_in_as_many_launches() {
    let Some(()) = support::first_driver() else { return };
    let Some(gpu) = own() else { return };
    let mut executed = 0;
    for (what, plan) in FAMILIES {
        let plan = match plan(&Of::small(gpu.caps())) {
            Ok(plan) => plan,
            Err(Error::Unsupported { .. }) => continue,
            Err(error) => panic!("{what}: {error}"),
        };
        let mut operands = Operands::of(&gpu, &plan).unwrap();
        let before = gpu.stats();
        operands.execute(&gpu, &plan).unwrap_or_else(|error| panic!("{what}: {error}"));
        let after = gpu.stats();
        assert_eq!(after.launches - before.launches, plan.steps().len() as u64, "{what}: {plan}");
        let bound = [
            after.bytes_bound_for_reading - before.bytes_bound_for_reading,
            after.bytes_bound_for_writing - before.bytes_bound_for_writing,
        ];
        let (mut moved, mut args) = ([0; 2], [0; 2]);
        for step in plan.steps() {
            let work = &step.work;
            assert_eq!([work.read.len(), work.written.len()], [step.args.len(); 2], "{what}: {step}");
            for (i, arg) in step.args.iter().enumerate() {
                let writes = usize::from(arg.access != Access::Read);
                moved[writes] += if writes == 0 { work.read[i] } else { work.written[i] };
                args[writes] += 1;
            }
            assert!(step.seconds > 0.0, "{what}: {step}");
        }
        for i in 0..2 {
            let is_split = what == "split product" && plan.steps().len() > 1;
            let between = match (i, what) {
                (READ, _) if is_split => BETWEEN,
                (READ, "group norm, backward") => {
                    let joins =
                        plan.steps().iter().filter(|step| step.kernel.shader() == "ops/reduce_columns");
                    joins.map(|step| (step.work.read[0] / (2 * THIRD_SUMS) - 1) * THIRD_SUMS).sum()
                }
                _ => 0,
            };
            let least = moved[i] + between;
            let allowed = least..=least + ROUNDED * args[i];
            assert!(allowed.contains(&bound[i]), "{what}: {allowed:?}, not {}: {plan}", bound[i]);
        }
        executed += 1;
    }
    println!("{executed} families");
    assert!(executed >= FAMILIES.len() - 5, "{executed} of {}", FAMILIES.len());
}
