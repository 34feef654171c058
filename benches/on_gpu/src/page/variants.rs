//! Variants of an operation, each against its baseline: a table per case.

use crate::printed::{brief, short};
use bench::rows::{FailedRow, PairedRow, VariantRow};
use bench::table::Table;

/// What a case compares.
fn about(case: &str) -> &str {
    match case {
        "gemv" => {
            "Matrix-vector products (GEMV) and a few rows or columns. The baseline copies the matrix operand, which reads \
             and writes it: a product that reads as fast has a ratio of 0.5."
        }
        "attention" => {
            "Attention of 8 heads: m are the queries, n the keys, k is the head dim. One query (`decode`) is compared with a copy \
             of as many bytes."
        }
        "conv" => {
            "Convolutions of four images. m, n and k are the sizes of the product: windows, output channels and terms of a sum."
        }
        "norms" => {
            "Norms. m and n are the extents of a matrix, k is the number of groups, and 1 of a norm of rows."
        }
        "reductions" => "Reductions and softmax. m and n are the extents of a matrix, k is the axis.",
        "ops" => "Operations on elements, against a copy that moves as many bytes as they read and write.",
        "windows" => {
            "A tensor that eight bindings hold, against the same calls on its eight slices. m and n are its extents."
        }
        "rows" => {
            "Products with 16 to 64 rows. The baseline copies B, which reads and writes it: a product that reads as fast \
             has a ratio of 0.5."
        }
        "epilogue" => "A layer in one launch, against its product without bias and activation.",
        "precision" => "f32 products that are computed by products of f16, against f32 arithmetic.",
        "i8" => "Products of i8, which are exact in i32, against products of f32.",
        "access" => {
            "The same plans on a device whose driver does not check accesses to buffers (`BufferAccess::unchecked`), against \
             the usual device. These are two devices of one driver. On lavapipe, two devices with the same options gave \
             ratios of 0.5 to 1.35, so the ratios mean nothing there. A sum's m, n and k are its extents and 1."
        }
        "split-k" => "Products with few elements, each a long sum, against the same without splits.",
        "dense" => {
            "Operators whose entries are generated in the kernel, against the product with the stored matrix."
        }
        "sparse" => "Sparse operators, against a copy that reads and writes the operand.",
        "hadamard" => {
            "Hadamard operators, against a copy that reads and writes the longer of operand and result."
        }
        "sketched-layer" => {
            "Sketched layers of one term of rank 16. The baseline `a copy of its bytes` moves as many bytes as both \
             products read and write."
        }
        "clifford" => {
            "Products of multivectors. m, n and k are batch, features and blades of operands and result. The lower bound is \
             the time of a copy of these bytes, or of the multiply-adds at the device's peak, whichever is longer."
        }
        "clifford-layers" => {
            "Steerable products. m, n and k are batch, features and blades. The lower bound is the time of a copy of three \
             tensors, of five backward, or of the multiply-adds at the device's peak, whichever is longer."
        }
        "connected" => "Fully connected products, against bare matrix products of the same sizes.",
        "sandwich" => {
            "One motor applied to many multivectors, against a copy of the bytes that are read and written."
        }
        other => other,
    }
}

pub(super) fn text(rows: &[VariantRow]) -> String {
    let mut failed = String::new();
    let mut tables: Vec<(&str, Table)> = Vec::new();
    let mut software = false;
    for row in rows {
        match row {
            VariantRow::Failed(FailedRow { case, size, error }) => {
                failed += &format!("- {case} at {size}: {}\n", brief(error));
            }
            VariantRow::Timed(paired) => {
                software |= paired.software;
                let at = tables.iter().position(|(case, _)| *case == paired.case).unwrap_or_else(|| {
                    tables.push((&paired.case, empty(&paired.case)));
                    tables.len() - 1
                });
                add(&mut tables[at].1, paired);
            }
        }
    }
    let mut text = String::new();
    if !tables.is_empty() {
        text += "Medians of rounds in which variant and baseline are timed in turn. The ratio is the variant's time over the \
                 baseline's, round by round: below 1 the variant is faster.";
        text += if software { " This is a software device, with sizes for one.\n" } else { "\n" };
    }
    if !failed.is_empty() {
        text += &format!("\nFailed:\n\n{failed}");
    }
    for (case, table) in tables {
        text += &format!("\n{}\n\n{table}", about(case));
    }
    text
}

/// Whether a case's m n k is its number of multiply-adds.
fn counts_multiplies(case: &str) -> bool {
    !matches!(case, "attention" | "norms" | "reductions" | "ops" | "windows")
}

fn empty(case: &str) -> Table {
    let unit = if case == "i8" { "GOP/s" } else { "GFLOP/s" };
    Table::new([case, "m x n x k", "types", "us", "baseline", "us", "ratio", unit, "plan"])
}

fn add(table: &mut Table, row: &PairedRow) {
    table.row([
        row.variant.clone(),
        row.product.size(),
        row.product.types(),
        short(1e6 * row.seconds),
        row.baseline.clone(),
        short(1e6 * row.baseline_seconds),
        format!("{:.2}", row.ratio),
        if counts_multiplies(&row.case) { short(row.gops) } else { "-".into() },
        row.plan.clone().unwrap_or_default(),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    #[test]
    fn each_case_has_a_table() {
        let gemv = r#"{"device":"d","driver":"e","software":true,"case":"gemv","variant":"rows of A","baseline":"a copy","m":1,"n":4096,"k":4096,"dtype":"f32","out_dtype":"f32","rounds":15,"seconds":0.0128,"baseline_seconds":0.0184,"ratio":0.6565,"gops":2.62,"plan":"gemv 64","baseline_plan":null}"#;
        let integers =
            gemv.replace("gemv\"", "i8\"").replace("rows of A", "i8").replace("\"gemv 64\"", "null");
        let failed = r#"{"case":"rows","size":8192,"error":"k does not compile: no\nf16"}"#;
        let rows = parse("variants.jsonl", &format!("{gemv}\n{failed}\n{integers}\n{gemv}\n"));
        assert!(rows.malformed.is_empty());
        let page = text(&rows.rows);
        assert!(page.contains("This is a software device"), "{page}");
        assert!(page.contains("\nFailed:\n\n- rows at 8192: it does not compile: no f16\n"), "{page}");
        let row =
            "| rows of A | 1 x 4096 x 4096 | f32 -> f32 | 12800 | a copy | 18400 | 0.66 | 2.62 | gemv 64 |\n";
        assert!(page.contains(&format!("{row}{row}")), "{page}");
        assert!(
            page.contains("| i8 | m x n x k | types | us | baseline | us | ratio | GOP/s | plan |\n"),
            "{page}"
        );
        assert!(page.ends_with("| 0.66 | 2.62 |  |\n"), "{page}");
    }
}
