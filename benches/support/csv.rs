//! Comma-separated values.

use serde_json::Value;

/// A line for each row. A column says where its value is in the JSON of a row, as `turns/in_cache`, and is called by the last part
/// of that. What a row does not have is left empty.
pub fn text(columns: &[&str], rows: &[Value]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(columns.iter().filter_map(|column| column.split('/').next_back()))?;
    for row in rows {
        table.write_record(columns.iter().map(|column| cell(row.pointer(&format!("/{column}")))))?;
    }
    Ok(table.into_inner()?)
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => match value.as_f64().filter(|_| value.is_f64()) {
            Some(number) => number.to_string(),
            None => value.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_found_by_their_places_and_quoted_where_they_need_it() {
        let row =
            json!({ "op": "sketch, sjlt", "turns": { "in_cache": true }, "seconds": 1e-5, "pinned": null });
        let text = text(&["op", "turns/in_cache", "seconds", "pinned"], &[row])
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(
            text.ok().as_deref(),
            Some("op,in_cache,seconds,pinned\n\"sketch, sjlt\",true,0.00001,\n")
        );
    }
}
