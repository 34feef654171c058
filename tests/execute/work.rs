//! What plans say that they move, by the counters.

use crate::operands::{FAMILIES, Operands};
use crate::own;
use tilewise::Error;
use tilewise::plan::Access;

/// Bytes that a window may have beyond the elements in it.
const ROUNDED: u64 = 15;

#[test]
fn every_family_moves_what_its_plan_says_in_as_many_launches() {
    let Some(gpu) = own() else { return };
    let mut executed = 0;
    for (what, plan) in FAMILIES {
        let plan = match plan(gpu.caps()) {
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
            assert!(work.flops.sum() > 0.0 || step.kernel.shader() == "cast", "{what}: {step}");
            assert!(step.seconds > 0.0, "{what}: {step}");
        }
        for i in 0..2 {
            assert!(moved[i] <= bound[i], "{what}: {} of {} bytes: {plan}", moved[i], bound[i]);
            // The high halves lie in windows with the low ones between them.
            let between = if what == "split product" { bound[i] } else { 0 };
            let beyond = ROUNDED * args[i] + between;
            assert!(bound[i] - moved[i] <= beyond, "{what}: {} of {}: {plan}", moved[i], bound[i]);
        }
        let all = plan.work();
        let of_steps: f64 = plan.steps().iter().map(|step| step.work.flops.sum()).sum();
        assert!((all.flops.sum() - of_steps).abs() <= 1e-12 * of_steps, "{what}: {plan}");
        executed += 1;
    }
    println!("{executed} families");
    assert!(executed >= FAMILIES.len() - 4, "{executed} of {}", FAMILIES.len());
}
