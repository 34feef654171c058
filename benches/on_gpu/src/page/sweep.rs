//! The tests that ran, program by program.

use crate::rows::TestRow;
use bench::table::Table;

pub(super) fn text(rows: &[TestRow]) -> String {
    let mut table = Table::new(["test", "passed", "seconds", "ok"]);
    for TestRow { test, ok, passed, seconds } in rows {
        table.row([test.clone(), passed.to_string(), seconds.to_string(), ok.to_string()]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_a_row() {
        let row = TestRow { test: "gemm".into(), ok: true, passed: 41, seconds: 130 };
        assert_eq!(
            text(&[row]),
            "| test | passed | seconds | ok |\n|---|---|---|---|\n| gemm | 41 | 130 | true |\n"
        );
    }
}
