//! Products, and elementwise operations.

use super::Call;
use tilewise::{Activation, Gemm, linear, matmul, matmul_into, ops};

pub(super) const CALLS: &[Call] = &[
    ("Gemm::run", |it| Gemm::new(&it.a, &it.b).alpha(2.0).run().map(drop)),
    ("Gemm::run_into", |it| Gemm::new(&it.a, &it.b).run_into(&mut it.c)),
    ("Linear::forward", |it| it.linear.forward(&it.a).map(drop)),
    ("linear", |it| linear(&it.a, &it.b, None, Activation::Relu).map(drop)),
    ("matmul", |it| matmul(&it.a, &it.b).map(drop)),
    ("matmul_into", |it| matmul_into(&it.a, &it.b, &mut it.c)),
    ("ops::activate", |it| ops::activate(&it.a, Activation::Gelu).map(drop)),
    ("ops::activate_backward", |it| ops::activate_backward(&it.a, &it.b, Activation::Gelu).map(drop)),
    ("ops::activate_into", |it| ops::activate_into(&it.a, Activation::Gelu, &mut it.c)),
    ("ops::add", |it| ops::add(&it.a, &it.b).map(drop)),
    ("ops::add_assign", |it| ops::add_assign(&mut it.c, &it.a)),
    ("ops::add_into", |it| ops::add_into(&it.a, &it.b, &mut it.c)),
    ("ops::bias_add_assign", |it| ops::bias_add_assign(&mut it.c, &it.row)),
    ("ops::concat", |it| ops::concat(&[&it.a, &it.b], 0).map(drop)),
    ("ops::copy_into", |it| ops::copy_into(&it.a, &mut it.c)),
    ("ops::copy_into_at", |it| ops::copy_into_at(&it.a, &mut it.c, 0, &it.at)),
    ("ops::max_abs", |it| ops::max_abs(&it.a, 0).map(drop)),
    ("ops::mul", |it| ops::mul(&it.a, &it.b).map(drop)),
    ("ops::mul_into", |it| ops::mul_into(&it.a, &it.b, &mut it.c)),
    ("ops::slice_at", |it| ops::slice_at(&it.a, 0, &it.at, 1).map(drop)),
    ("ops::softmax", |it| ops::softmax(&it.a).map(drop)),
    ("ops::stack", |it| ops::stack(&[&it.a, &it.b], 0).map(drop)),
    ("ops::sub", |it| ops::sub(&it.a, &it.b).map(drop)),
    ("ops::sub_assign", |it| ops::sub_assign(&mut it.c, &it.a)),
    ("ops::sub_into", |it| ops::sub_into(&it.a, &it.b, &mut it.c)),
    ("ops::sum", |it| ops::sum(&it.a, 0).map(drop)),
    ("ops::sum_squares", |it| ops::sum_squares(&it.a, 1).map(drop)),
];
