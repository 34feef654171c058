//! Numbers that no tensor has, and expressions that mean nothing.

use crate::words::said::Said;
use tilewise::ops::{Expr, map};

#[test]
fn numbers_that_no_tensor_has() {
    let mut said = Said::new();
    let gpu = said.gpu.clone();
    said.says(|| gpu.arange(0, 5, 0));
    said.says(|| gpu.arange(0.0f32, -5.0, 0.5));
    said.says(|| gpu.arange(0.0f32, 1.0, f32::NAN));
    said.says(|| gpu.arange(0.0f32, f32::INFINITY, 1.0));
    said.says(|| gpu.arange(0.0f32, 1e9, 0.25));
    said.says(|| gpu.arange(0.0f32, 1e9, 1e-9));
    said.says(|| gpu.linspace(f32::NAN, 1.0, 3));
    said.says(|| gpu.linspace(0.0f32, 1.0, 1 << 31));
    said.says(|| gpu.full([1 << 16, 1 << 15], 1.0f32));
    said.says(|| gpu.ones::<f32>([1; 7]));
    said.says(|| gpu.eye::<f32>([usize::MAX, 2]));
    said.compare();
}

#[test]
fn expressions_that_mean_nothing() {
    let mut said = Said::new();
    let (x, n, y) = (said.tensor(&[3]), said.integers(&[3]), said.tensor(&[4]));
    said.says(|| map::<f32, 1>(&[&n], |[n]| n.log()));
    said.says(|| map::<f32, 1>(&[&x], |[x]| x * 2));
    said.says(|| map::<f32, 1>(&[&n], |[n]| n));
    said.says(|| map::<i32, 1>(&[&x], |[x]| x));
    said.says(|| map::<f32, 1>(&[&x], |[x]| x.less(1.0)));
    said.says(|| map::<f32, 1>(&[&x], |[x]| x.and(x.less(1.0))));
    said.says(|| map::<f32, 0>(&[], |[]| Expr::from(1.0)));
    said.says(|| map::<f32, 5>(&[&x, &x, &x, &x, &x], |[x, ..]| x));
    said.says(|| map::<f32, 1>(&[&x], |[x]| (0..100_000).fold(x, |x, _| x.exp())));
    let wide = |[x]: [Expr; 1]| (0..2000).map(|_| x.exp()).fold(x.clone(), |sum, term| sum.maximum(term));
    said.says(|| map::<f32, 1>(&[&x], wide));
    said.says(|| map::<f32, 2>(&[&x, &y], |[x, y]| x + y));
    // A value that is not one of the closure's operands.
    let mut kept = None;
    let keep = |[x, y]: [Expr; 2]| {
        kept = Some(y.clone());
        x + y
    };
    map::<f32, 2>(&[&x, &x], keep).unwrap();
    said.says(|| map::<f32, 1>(&[&x], |_| kept.unwrap()));
    said.compare();
}
