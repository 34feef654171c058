//! Operands without elements.

use tilewise::ops::{self, CrossEntropy, LayerNorm, RmsNorm};
use tilewise::{Activation, Element, Gpu, Result, Tensor, attention, linear, matmul};

/// What a call returned: its shape, and its elements.
type Found = Result<(Vec<usize>, Vec<f64>)>;

fn found<T: Element>(result: Result<Tensor<T>>) -> Found {
    let tensor = result?;
    Ok((tensor.shape().to_vec(), tensor.to_vec()?.iter().map(|x| x.to_f64()).collect()))
}

/// microsoft/onnxruntime#24244, #25326, #24111 (2025): operands without elements fail.
#[test]
fn operands_without_elements_have_results() {
    let turn = support::turn();
    for gpu in turn.iter() {
        let run = |gpu: &Gpu| -> Result<()> {
            let rows = gpu.zeros::<f32>([0, 3])?;
            let columns = gpu.zeros::<f32>([3, 0])?;
            let ids = gpu.zeros::<i32>([0])?;
            let scalar = gpu.tensor(&[2.5f32], [])?;
            let three = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
            let none = |shape: &[usize]| (shape.to_vec(), Vec::new());
            let full = |shape: &[usize], value: f64| (shape.to_vec(), vec![value; shape.iter().product()]);
            let nan_or = |found: Found, shape: &[usize]| {
                let (have, values) = found.unwrap();
                assert_eq!(have, shape);
                assert!(values.iter().all(|x| x.is_nan() || x.is_infinite()), "{values:?}");
            };
            let mut calls = 0;
            let mut check = |what: &str, found: Found, want: (Vec<usize>, Vec<f64>)| {
                calls += 1;
                match found {
                    Ok(found) => assert_eq!(found, want, "{what}"),
                    Err(error) => panic!("{what}: {error}"),
                }
            };
            // Elementwise, with views and broadcasts.
            check("add", found(ops::add(&rows, &rows)), none(&[0, 3]));
            check("add, broadcast", found(ops::add(&rows, &three)), none(&[0, 3]));
            check("mul by a scalar", found(ops::mul(&columns, &scalar)), none(&[3, 0]));
            check("exp", found(ops::exp(&rows)), none(&[0, 3]));
            check("activate", found(ops::activate(&columns, Activation::Gelu)), none(&[3, 0]));
            check("cast", found(rows.cast::<tilewise::f16>()), none(&[0, 3]));
            check("transposed copy", found(rows.t().contiguous()), none(&[3, 0]));
            check("a scalar", found(ops::add(&scalar, &scalar)), full(&[], 5.0));
            check("exp of a scalar", found(ops::neg(&scalar)), full(&[], -2.5));
            // Reductions: of nothing, and along an axis that has nothing.
            check("sum of nothing", found(ops::sum(&rows, 0)), full(&[3], 0.0));
            check("sum of no rows", found(ops::sum(&rows, 1)), none(&[0]));
            check("sum of both", found(ops::sum(&rows, ops::Axes::from([0, 1]))), full(&[], 0.0));
            check("prod of nothing", found(ops::prod(&columns, 1)), full(&[3], 1.0));
            check("sum of a scalar", found(ops::sum(&scalar, ops::Axes::from([]))), full(&[], 2.5));
            check("max of no rows", found(ops::max(&rows, 1)), none(&[0]));
            check("argmax of no rows", found(ops::argmax(&rows, 1)), none(&[0]));
            check("cumsum", found(ops::cumsum(&rows, 0)), none(&[0, 3]));
            check("cumsum of rows", found(ops::cumsum(&columns, 1)), none(&[3, 0]));
            // Rows.
            check("softmax", found(ops::softmax(&rows, 1)), none(&[0, 3]));
            check("softmax of nothing", found(ops::softmax(&columns, 1)), none(&[3, 0]));
            check("log_softmax", found(ops::log_softmax(&rows, 1)), none(&[0, 3]));
            check("LayerNorm::run", found(LayerNorm::new().run(&rows)), none(&[0, 3]));
            check("RmsNorm::run", found(RmsNorm::new().run(&rows)), none(&[0, 3]));
            // Places.
            check("embedding", found(ops::embedding(&rows.t().contiguous()?, &ids)), none(&[0, 0]));
            check("no ids", found(ops::embedding(&gpu.zeros::<f32>([4, 3])?, &ids)), none(&[0, 3]));
            check("one_hot", found(ops::one_hot::<f32>(&ids, 4)), none(&[0, 4]));
            check("concat", found(ops::concat(&[&rows, &rows], 0)), none(&[0, 3]));
            check("concat with rows", found(ops::concat(&[&rows, &three.reshape([1, 3])?], 0)), {
                (vec![1, 3], vec![1.0, 2.0, 3.0])
            });
            check("stack", found(ops::stack(&[&rows, &rows], 0)), none(&[2, 0, 3]));
            check("repeat", found(ops::repeat(&rows, 0, 3)), none(&[0, 3]));
            check("repeat by nothing", found(ops::repeat(&three, 0, 0)), none(&[0]));
            check("pad", found(ops::pad(&rows, &[(1, 1), (0, 0)], 7.0)), full(&[2, 3], 7.0));
            check("gather", found(ops::gather(&three, 0, &ids)), none(&[0]));
            // Products: nothing in each of their axes.
            let four = gpu.zeros::<f32>([3, 4])?;
            check("no rows of A", found(matmul(&rows, &four)), none(&[0, 4]));
            check("no columns of B", found(matmul(&four.t(), &columns)), none(&[4, 0]));
            check("k is 0", found(matmul(&columns, &rows)), full(&[3, 3], 0.0));
            let batch = gpu.zeros::<f32>([0, 2, 3])?;
            check("no batch", found(matmul(&batch, &four)), none(&[0, 2, 4]));
            check("linear", found(linear(&rows, &four.t(), None, Activation::Relu)), none(&[0, 4]));
            let bias = gpu.tensor(&[1.0f32, -1.0, 2.0], [3])?;
            let biased = linear(&columns, &columns, Some(&bias), Activation::None);
            check("linear of k 0", found(biased), (vec![3, 3], [1.0, -1.0, 2.0].repeat(3)));
            let of = |shape: [usize; 4]| gpu.zeros::<f32>(shape);
            let options = tilewise::attention::AttentionOptions::new();
            let (q, k) = (of([1, 2, 3, 4])?, of([1, 2, 0, 4])?);
            check("attention of no keys", found(attention(&q, &k, &k, &options)), full(&[1, 2, 3, 4], 0.0));
            check("attention of no queries", found(attention(&k, &q, &q, &options)), none(&[1, 2, 0, 4]));
            let empty = of([0, 2, 3, 4])?;
            check(
                "attention of no batch",
                found(attention(&empty, &empty, &empty, &options)),
                none(&[0, 2, 3, 4]),
            );
            // Losses of nothing.
            let loss = CrossEntropy::new().reduction(ops::Reduction::Sum).run(&rows, &ids);
            check("cross_entropy", found(loss.map(|loss| loss.loss)), full(&[], 0.0));
            assert!(calls >= 40, "{calls} calls");
            nan_or(found(ops::mean(&rows, 0)), &[3]);
            Ok(())
        };
        run(gpu).unwrap();
    }
}
