//! Rows of a table by ids, and the gradient of the table.

use crate::oracle::Oracle;
use tilewise::{Gpu, Real, ops};

pub(crate) fn check<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let (table, ids) = (oracle.tensor::<T>(gpu, "table"), oracle.tensor::<i32>(gpu, "ids"));
    let grad_y = oracle.tensor::<T>(gpu, "grad_y");
    let (rows, d): (usize, usize) = (oracle.parameter("rows"), oracle.parameter("d"));
    assert_eq!(table.shape(), [rows, d], "{oracle}");
    let y = ops::embedding(&table, &ids).unwrap();
    let (shape, want) = oracle.values("y");
    let found: Vec<f64> = y.to_vec().unwrap().into_iter().map(tilewise::Element::to_f64).collect();
    assert!(y.shape() == shape && found == want, "{oracle}: y in {}", T::DTYPE);
    let padding: i64 = oracle.parameter("padding_index");
    let gradient = ops::embedding_backward(&ids, &grad_y, rows, usize::try_from(padding).ok()).unwrap();
    oracle.assert_output("grad_table", &gradient);
}
