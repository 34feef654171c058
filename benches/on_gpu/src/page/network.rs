//! Networks of examples: the figures of the object that each prints.

use crate::printed::short;
use bench::table::Table;
use serde_json::{Map, Value};

/// Fields that the page shows elsewhere, or that are long.
const LEFT_OUT: [&str; 8] =
    ["device", "backend", "driver", "model", "embeddings", "nearest", "replay", "checked"];

pub(super) fn text(rows: &[Map<String, Value>]) -> String {
    let mut text = String::new();
    for row in rows {
        let mut table = Table::new(["figure", "value"]);
        add(&mut table, "", row);
        text += &table.to_string();
    }
    text
}

/// One row for each number or word, with the names of the objects around it.
fn add(table: &mut Table, of: &str, object: &Map<String, Value>) {
    for (name, value) in object.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())) {
        let name = format!("{of}{}", name.replace('_', " "));
        match value {
            Value::Object(inner) => add(table, &format!("{name}: "), inner),
            Value::Number(number) => table.row([name, number.as_f64().map_or("-".into(), short)]),
            Value::String(word) => table.row([name, word.clone()]),
            Value::Bool(held) => table.row([name, held.to_string()]),
            Value::Null | Value::Array(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    #[test]
    fn figures_are_shown_with_the_names_around_them() {
        let json = r#"{"device":"d","frames":48,"replayed":{"frames_per_second":1234.5},"nearest":[1],"ranking":null,"ok":true}"#;
        let rows = parse("frames.jsonl", json);
        assert!(rows.malformed.is_empty());
        let lines = "| frames | 48 |\n| replayed: frames per second | 1234 |\n| ok | true |\n";
        assert!(text(&rows.rows).ends_with(lines), "{}", text(&rows.rows));
    }
}
