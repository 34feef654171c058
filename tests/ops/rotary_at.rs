//! Rotary position embeddings from a position that a tensor has: the bits of the same position as a number.

use support::failure::{Kind, fails, says};
use support::operand::bits;
use support::strided::{Lay, Placed};
use support::values::values;
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::{Fill, Gpu, Real};

const POSITIONS: usize = 50;

fn check<T: Real>(gpu: &Gpu) {
    // The position lies at an odd place of its buffer.
    let numbers = gpu.tensor(&[-7, 0, 3, 43, 44, 49, i32::MAX, i32::MIN], [8]).unwrap();
    for (shape, dims, lay, pairs) in [
        ([2, 3, 7, 16], 16, Lay::Vectors, RotaryPairs::Halves),
        ([2, 3, 7, 13], 10, Lay::Gaps, RotaryPairs::Interleaved),
    ] {
        let rotary = Rotary::new(gpu, pairs, dims, 10_000.0, POSITIONS).unwrap();
        let placed = Placed::new(gpu, &values::<T>(&shape, 2.0, 7), &shape, lay);
        let last = POSITIONS - shape[2];
        for (at, start) in [0, 0, 3, last, last, last, last, 0].into_iter().enumerate() {
            let position = numbers.slice(0, at..=at).unwrap();
            let before = gpu.stats().launches;
            let y = rotary.apply_at(&placed.tensor, &position).unwrap();
            assert_eq!(gpu.stats().launches - before, 1);
            assert_eq!(bits(&y), bits(&rotary.apply(&placed.tensor, start).unwrap()), "{} {at}", T::DTYPE);
            let y = rotary.backward_at(&placed.tensor, &position.reshape([1, 1]).unwrap()).unwrap();
            assert_eq!(bits(&y), bits(&rotary.backward(&placed.tensor, start).unwrap()), "{} {at}", T::DTYPE);
        }
    }
}

#[test]
fn a_position_in_a_tensor_has_the_bits_of_the_number() {
    for gpu in support::devices() {
        support::of_reals!(check, &gpu);
    }
}

/// One captured rotation serves every position.
#[test]
fn each_run_rotates_by_its_own_position() {
    let Some(gpu) = support::gpu() else { return };
    let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 8, 10_000.0, POSITIONS).unwrap();
    let x = gpu.random::<f32>([3, 1, 8], Fill::Uniform, 1).unwrap();
    let at = gpu.zeros::<i32>([1]).unwrap();
    let mut replay = gpu.capture(&[at.view()], || rotary.apply_at(&x, &at)).unwrap();
    for position in [0u8, 1, 17, 49] {
        replay.write(0, &[i32::from(position)]).unwrap();
        let want = bits(&rotary.apply(&x, position.into()).unwrap());
        assert_eq!(bits(replay.run(&[at.view()]).unwrap()), want, "{position}");
    }
}

#[test]
fn a_position_is_one_element() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 8, 10_000.0, 4).unwrap();
    let x = gpu.zeros::<f32>([3, 8]).unwrap();
    for (wrong, x) in [(2, &x), (0, &x), (2, &gpu.empty::<f32>([0, 8]).unwrap())] {
        let at = gpu.zeros::<i32>([wrong]).unwrap();
        fails(rotary.apply_at(x, &at), Kind::Shape, &["^Rotary::apply_at: "]);
    }
    let at = gpu.zeros::<i32>([1]).unwrap();
    says(rotary.backward_at(&gpu.zeros::<f32>([5, 8]).unwrap(), &at), &["^Rotary::backward_at: the start"]);
}
