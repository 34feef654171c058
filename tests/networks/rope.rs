//! Rotary position embeddings: the table, the rotation, and its gradient.

use crate::oracle::Oracle;
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::{Gpu, Real};

pub(crate) fn check(gpu: &Gpu, oracle: &mut Oracle) {
    let pairs = match oracle.parameter::<String>("interleaved").as_str() {
        "0" => RotaryPairs::Halves,
        "1" => RotaryPairs::Interleaved,
        other => panic!("{oracle}: interleaved is `{other}`"),
    };
    let (rotary_dims, base): (usize, f64) = (oracle.parameter("rotary_dims"), oracle.parameter("base"));
    let (_, positions) = oracle.values("positions");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers from 0 on")]
    let positions: Vec<usize> = positions.into_iter().map(|position| position as usize).collect();
    let rotary = Rotary::at_positions(gpu, pairs, rotary_dims, base, &positions).unwrap();
    oracle.assert_output("cos", rotary.cosines());
    oracle.assert_output("sin", rotary.sines());
    // They are rounded from f64, so that nothing but the rounding to f32 is lost.
    for (name, of) in [("cos", rotary.cosines()), ("sin", rotary.sines())] {
        let (_, want) = oracle.values(name);
        for (found, want) in of.to_vec().unwrap().into_iter().zip(want) {
            let off = (f64::from(found) - want).abs();
            assert!(off <= 2f64.powi(-24) * want.abs() + 1e-9, "{oracle}: {name}: {found}, not {want}");
        }
    }
    // Positions without gaps are also a part of a longer table.
    let (first, last) = (positions[0], positions.iter().copied().max().unwrap_or(0));
    if positions.iter().copied().eq(first..=last) {
        let longer = Rotary::new(gpu, pairs, rotary_dims, base, last + 1).unwrap();
        check_in::<f32>(gpu, oracle, &longer, first);
    }
    support::of_reals!(check_in, gpu, oracle, &rotary, 0);
}

fn check_in<T: Real>(gpu: &Gpu, oracle: &mut Oracle, rotary: &Rotary, start: usize) {
    if !oracle.holds(T::DTYPE) {
        return;
    }
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    oracle.assert_output("y", &rotary.apply(&x, start).unwrap());
    oracle.assert_output("grad_x", &rotary.backward(&grad_y, start).unwrap());
}
