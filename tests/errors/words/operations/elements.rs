//! Functions of elements, and biases.

use crate::words::said::Said;
use tilewise::ops;

#[test]
fn elements_and_biases_that_do_not_fit() {
    let mut said = Said::new();
    let (a, b, two, none) = (said.tensor(&[3, 4]), said.tensor(&[3, 5]), said.tensor(&[2]), said.tensor(&[]));
    said.says(|| ops::add(&a, &b));
    said.says(|| ops::sub(&a, &b));
    said.says(|| ops::mul(&two, &a));
    said.says(|| ops::sum(&a, 2));
    said.says(|| ops::sum(&none, 0));
    said.says(|| ops::softmax(&none, 0));
    let mut x = said.tensor(&[3, 4]);
    for shape in [&[3][..], &[1], &[1, 4]] {
        let bias = said.tensor(shape);
        said.says(|| ops::bias_add_assign(&mut x, &bias));
    }
    let (kept, bias) = (x.clone(), said.tensor(&[4]));
    said.says(|| ops::bias_add_assign(&mut x, &bias));
    drop(kept);
    let row = x.slice(0, 0..1).unwrap().reshape([4]).unwrap();
    said.says(|| ops::bias_add_assign(&mut x, &row));
    let mut overlap = said.tensor(&[6]).as_strided(&[3, 4], &[1, 1], 0).unwrap();
    said.says(|| ops::bias_add_assign(&mut overlap, &bias));
    said.compare();
}
