//! Expressions as one kernel.

use support::strided::{Lay, Placed};
use support::values::values;
use tilewise::ops::{Expr, map};
use tilewise::{Element, Tensor, f16};

#[test]
fn an_expression_is_one_launch_with_the_results_of_its_parts() {
    for gpu in support::turn().iter() {
        for (shape, lay) in [(&[8, 64][..], Lay::Plain), (&[5, 7, 3], Lay::Gaps), (&[9, 33], Lay::Reversed)] {
            let [x, y, z, w] = [1, 2, 3, 4].map(|seed| values::<f32>(shape, 2.0, seed));
            let [a, b, c, d] = [&x, &y, &z, &w].map(|data| Placed::new(gpu, data, shape, lay));
            let before = gpu.stats();
            let found: Tensor<f32> =
                map(&[&a.tensor, &b.tensor, &c.tensor, &d.tensor], |[a, b, c, d]| (a * b + c) * d).unwrap();
            assert_eq!(gpu.stats().launches, before.launches + 1);
            let parts = (&(&(&a.tensor * &b.tensor).unwrap() + &c.tensor).unwrap() * &d.tensor).unwrap();
            let (found, parts) = (found.to_vec().unwrap(), parts.to_vec().unwrap());
            for (found, want) in found.iter().zip(&parts) {
                assert!((found - want).abs() <= 2e-6 * (1.0 + want.abs()), "{found} {want}"); // a fused multiply-add
            }
        }
    }
}

#[test]
fn operands_have_any_types_and_shapes_and_results_too() {
    for gpu in support::turn().iter() {
        for columns in [32, 7] {
            let rows = 5;
            let of = |seed| values::<f32>(&[rows, columns], 2.0, seed);
            let (x, y) = (of(1), of(2));
            let halves: Vec<f16> = y.iter().map(|y| f16::from_f32(*y)).collect();
            let mask: Vec<i8> = (0..rows * columns).map(|i| i8::from(i % 3 == 0)).collect();
            let index: Vec<i32> = (0..).take(rows).collect();
            let a = gpu.tensor(&x, [rows, columns]).unwrap();
            let b = gpu.tensor(&halves, [rows, columns]).unwrap();
            let m = gpu.tensor(&mask, [rows, columns]).unwrap();
            let n = gpu.tensor(&index, [rows, 1]).unwrap();
            let launches = gpu.stats().launches;
            let found: Tensor<f16> =
                map(&[&a, &b, &m, &n], |[a, b, m, n]| m.select(a, b) + n.to_real()).unwrap();
            assert_eq!(gpu.stats().launches, launches + 1);
            let want: Vec<f16> = (0..rows * columns)
                .map(|i| {
                    let value = if mask[i] == 1 { x[i] } else { halves[i].to_f32() };
                    f16::from_f32(value + (i / columns) as f32)
                })
                .collect();
            assert_eq!(found.to_vec().unwrap(), want);
            // Reals as integers and as masks.
            let found: Tensor<i8> = map(&[&a], |[a]| (a * 10.0).round().to_integer() + 1).unwrap();
            let want: Vec<i8> = x.iter().map(|x| i8::from_f64(f64::from(x * 10.0)) + 1).collect();
            assert_eq!(found.to_vec().unwrap(), want);
            let found: Tensor<i32> = map(&[&a, &b], |[a, b]| a.less(&b).and(b.greater(0.5))).unwrap();
            let want: Vec<i32> = (0..rows * columns)
                .map(|i| i32::from(x[i] < halves[i].to_f32() && halves[i].to_f32() > 0.5))
                .collect();
            assert_eq!(found.to_vec().unwrap(), want);
        }
    }
}

#[test]
fn other_numbers_need_no_other_kernel_and_ten_are_possible() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [4]).unwrap();
    let sum = |factor: f32| {
        map::<f32, 1>(&[&a], |[a]| (1..=10_u8).fold(a.clone(), |sum, i| sum + f32::from(i) * factor)).unwrap()
    };
    assert_eq!(sum(1.0).to_vec().unwrap(), [56.0, 57.0, 58.0, 59.0]);
    let before = gpu.stats();
    assert_eq!(sum(-1.0).to_vec().unwrap(), [-54.0, -53.0, -52.0, -51.0]);
    assert_eq!(gpu.stats().pipelines, before.pipelines);
    let error = map::<f32, 1>(&[&a], |[a]| (1..=11_u8).fold(a.clone(), |sum, i| sum + f32::from(i)));
    assert!(error.unwrap_err().to_string().contains("11 numbers"));
}

#[test]
fn shared_values_are_computed_once() {
    let gpu = support::noop();
    let a = gpu.zeros::<f32>([4]).unwrap();
    // Written out, this would have 2^60 exponentials.
    let doubled = |[a]: [Expr; 1]| (0..60).fold(a.exp(), |value, _| &value + &value);
    let (found, plans) = gpu.plans_of(|| map::<f32, 1>(&[&a], doubled));
    assert!(found.is_ok());
    let text = plans[0].steps()[0].kernel.specialize().unwrap();
    assert_eq!(text.matches("exp_of(v0)").count(), 1);
}
