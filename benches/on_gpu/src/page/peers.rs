//! cuBLAS: a row per size and layout, a column per pair of types.

use super::notes::Notes;
use crate::printed::short_or_dash;
use bench::rows::{Outcome, PeerRow};
use bench::table::Table;

pub(super) fn text(rows: &[PeerRow]) -> String {
    let mut left_out = Notes::new("Not timed");
    let (mut products, mut types): (Vec<[String; 2]>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut timed, mut disturbed) = (0, 0);
    for PeerRow { product, layout, outcome, .. } in rows {
        let (size, pair) = (product.size(), product.types());
        match outcome {
            Outcome::LeftOut { left_out: why } | Outcome::Failed { error: why } => {
                left_out.add(why, &pair, format!("{size} {pair} {layout}"));
            }
            Outcome::Timed(times) => {
                timed += 1;
                disturbed += usize::from(times.gpu_seconds_max > 1.2 * times.gpu_seconds_min);
                let product = [size, layout.clone()];
                if !products.contains(&product) {
                    products.push(product);
                }
                if !types.contains(&pair) {
                    types.push(pair);
                }
            }
        }
    }
    if timed == 0 {
        return left_out.to_string();
    }
    let columns = ["m x n x k", "layout"].map(String::from).into_iter().chain(types.iter().cloned());
    let mut table = Table::new(columns);
    for product in &products {
        let cells = types.iter().map(|types| short_or_dash(tflops(rows, product, types)));
        table.row(product.iter().cloned().chain(cells));
    }
    format!(
        "TFLOP/s by the median of the runs of {}. {disturbed} of {timed} medians have a slowest run of more than 1.2 times \
         the fastest.\n\n{table}{left_out}",
        rows.last().map_or("the peer", |row| &row.peer)
    )
}

/// The rate of a product with these types, if it was timed.
fn tflops(rows: &[PeerRow], [size, layout]: &[String; 2], types: &str) -> Option<f64> {
    let same =
        |row: &&PeerRow| row.product.size() == *size && row.layout == *layout && row.product.types() == types;
    rows.iter().rev().filter(same).find_map(|row| row.outcome.timed()).map(|times| times.tflops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    #[test]
    fn types_are_columns() {
        let timed = r#"{"peer":"cuBLAS, PyTorch 2","device":"d","m":64,"n":64,"k":64,"dtype":"f16","out_dtype":"f32","layout":"nn","gpu_seconds_median":1e-5,"gpu_seconds_min":1e-5,"gpu_seconds_max":1.3e-5,"tflops":0.0524}"#;
        let other = timed.replace("\"f16\"", "\"f32\"").replace("0.0524", "0.0262").replace("1.3e-5", "1e-5");
        let late = r#"{"peer":"cuBLAS, PyTorch 2","device":"d","m":64,"n":64,"k":64,"dtype":"f32","out_dtype":"f32","layout":"tt","left_out":"the time was up"}"#;
        let nt = timed.replace("nn", "nt");
        let rows = parse("peers.jsonl", &[timed, &other, late, &nt].join("\n"));
        assert!(rows.malformed.is_empty());
        assert_eq!(
            text(&rows.rows),
            "TFLOP/s by the median of the runs of cuBLAS, PyTorch 2. 2 of 3 medians have a slowest run of more than 1.2 \
             times the fastest.\n\n\
             | m x n x k | layout | f16 -> f32 | f32 -> f32 |\n|---|---|---|---|\n\
             | 64 x 64 x 64 | nn | 0.0524 | 0.0262 |\n| 64 x 64 x 64 | nt | 0.0524 | - |\n\
             \nNot timed:\n\n- the time was up: f32 -> f32 (64 x 64 x 64 f32 -> f32 tt)\n"
        );
    }
}
