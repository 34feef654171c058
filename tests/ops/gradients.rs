//! Gradients of functions of elements, as the book's table has them, against differences of the definitions.

use tilewise::ops::{Expr, Function};
use tilewise::planning::ops::{Elementwise, gradients, of_expressions};
use tilewise::{DType, Element, Gpu, Tensor, ops, reference};

/// Values at which no function jumps. The second operand is never the first, and what is clamped is within its range or beyond.
const A: [f64; 8] = [0.3, 0.7, 1.2, 1.7, 2.3, 2.9, 0.55, 3.3];
const B: [f64; 8] = [1.4, 0.45, 2.1, 0.8, 1.9, 3.1, 1.15, 2.6];
const G: [f64; 8] = [1.0, -2.0, 0.5, 3.0, -1.5, 0.25, 2.5, -0.75];

/// The functions of reals to reals.
fn functions() -> Vec<Function> {
    let of_reals = |function: &Function| {
        let function = Elementwise::from(*function);
        function.takes(DType::F32) && function.result_type(DType::F32) == DType::F32
    };
    Function::ALL.into_iter().filter(of_reals).collect()
}

/// The gradient of each function with respect to one operand, 0 if it has none.
fn found(gpu: &Gpu, functions: &[Function], operand: usize) -> Vec<f32> {
    let real = |values: [f64; 8]| gpu.tensor(&values.map(f32::from_f64), [8]).unwrap();
    let which: Vec<i32> = (0..).take(functions.len()).collect();
    let which = gpu.tensor(&which, [functions.len(), 1]).unwrap();
    // Four operands at most: the third is the sum of the second and a number.
    let (a, b, g) = (real(A), real(B), real(G));
    let all: Tensor<f32> = ops::map(&[&which, &a, &b, &g], |[which, a, b, g]| {
        let c = &b + 1.0;
        let of = |function: Function| -> Expr {
            let operands = [&a, &b, &c];
            let y = of_expressions(function, operands);
            let gradients = gradients(function, operands, &y, &g);
            gradients
                .into_iter()
                .find(|(at, _)| *at == operand)
                .map_or(0.0f32.into(), |(_, gradient)| gradient)
        };
        (1..).zip(&functions[1..]).fold(of(functions[0]), |others, (at, function): (i32, _)| {
            which.equal(at).select(of(*function), others)
        })
    })
    .unwrap();
    all.to_vec().unwrap()
}

#[test]
fn gradients_are_the_slopes_of_the_definitions() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let mut compared = 0;
    for operand in 0..2 {
        // An expression has ten numbers at most.
        let functions = functions().into_iter().filter(|function| function.operands() > operand);
        for functions in functions.collect::<Vec<_>>().chunks(4) {
            let found = found(gpu, functions, operand);
            for (function, found) in functions.iter().zip(found.chunks(8)) {
                let moved = |by: f64| {
                    let mut operands = [A.map(rounded), B.map(rounded), B.map(|b| rounded(b) + 1.0)];
                    operands[operand].iter_mut().for_each(|x| *x += by);
                    let operands = operands.each_ref().map(|of| &of[..]);
                    reference::apply(*function, &operands[..function.operands()]).value
                };
                let step = 1e-6;
                let (above, below) = (moved(step), moved(-step));
                for i in 0..8 {
                    // The ends of a range have no gradients in the table.
                    if *function == Function::Clamp && operand > 0 {
                        continue;
                    }
                    let want = (above[i] - below[i]) / (2.0 * step) * G[i];
                    let off = (f64::from(found[i]) - want).abs();
                    assert!(
                        off <= 1e-5 * (1.0 + want.abs()),
                        "{function}, operand {operand}, at {} and {}: {}, not {want}",
                        A[i],
                        B[i],
                        found[i]
                    );
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} slopes");
    assert!(compared >= 200, "{compared}");
}

fn rounded(x: f64) -> f64 {
    f64::from(f32::from_f64(x))
}
