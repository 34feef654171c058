//! The tiles against each other: a table per types and layout, a row per tile, a column per size.

use super::notes::Notes;
use crate::printed::{brief, short};
use crate::rows::TileRow;
use crate::rows::tile::{Task, Timed};
use bench::rows::Outcome;
use bench::table::Table;

/// The timed tiles of one pair of types and layout.
struct Group<'a> {
    name: String,
    rows: Vec<(&'a Task, &'a Timed)>,
}

pub(super) fn text(rows: &[TileRow]) -> String {
    let mut notes = [Notes::new("WRONG"), Notes::new("Failed"), Notes::new("Not timed")];
    let mut groups: Vec<Group<'_>> = Vec::new();
    // Tables list tiles and sizes in the order in which any of them first came.
    let (mut tiles, mut sizes): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for TileRow { task, outcome } in rows {
        let [wrong, failed, left_out] = &mut notes;
        match outcome {
            Outcome::LeftOut { left_out: why } => left_out.add(why, &task.tile(), task.place()),
            Outcome::Failed { error } => failed.add(&brief(error), &task.tile(), task.place()),
            Outcome::Timed(timed) => {
                if !timed.ok {
                    wrong.add("the error exceeds its bound", &task.tile(), task.place());
                }
                let name = format!("{}, {}", task.product.types(), task.layout);
                match groups.iter_mut().find(|group| group.name == name) {
                    Some(group) => group.rows.push((task, timed)),
                    None => groups.push(Group { name, rows: vec![(task, timed)] }),
                }
                for (list, name) in [(&mut tiles, task.tile()), (&mut sizes, task.product.size())] {
                    if !list.contains(&name) {
                        list.push(name);
                    }
                }
            }
        }
    }
    let mut text = summary(&groups);
    notes.iter().for_each(|notes| text += &notes.to_string());
    for group in &groups {
        text += &format!("\n{}", group.table(&tiles, &sizes));
    }
    text
}

/// How the tiles were timed and checked.
fn summary(groups: &[Group<'_>]) -> String {
    let all: Vec<&Timed> =
        groups.iter().flat_map(|group| group.rows.iter().map(|(_, timed)| *timed)).collect();
    if all.is_empty() {
        return String::new();
    }
    let by_host = if all.iter().any(|timed| timed.clock == "host") { ", by the host's clock" } else { "" };
    let disturbed = all.iter().filter(|timed| timed.is_disturbed()).count();
    let full = all.iter().filter(|timed| timed.check == "full").count();
    let ratios = all.iter().map(|timed| timed.bound_ratio.unwrap_or(f64::INFINITY));
    let worst = ratios.fold(0.0, f64::max);
    let worst = if worst.is_finite() { short(worst) } else { "infinite".into() };
    format!(
        "TFLOP/s by the median of the rounds{by_host}. The fastest tile of a column is bold; \"chosen\" is the plan's choice. \
         {disturbed} of {count} medians have a slowest round of more than 1.2 times the fastest.\n\
         Checked against f64: {full} products by every entry, {} by 4096 entries; the largest ratio of an error to its bound \
         is {worst}.\n",
        all.len() - full,
        count = all.len()
    )
}

impl Group<'_> {
    fn table(&self, tiles: &[String], sizes: &[String]) -> Table {
        let has = |wanted: &dyn Fn(&Task) -> bool| self.rows.iter().any(|(task, _)| wanted(task));
        let sizes: Vec<&String> =
            sizes.iter().filter(|size| has(&|task| task.product.size() == **size)).collect();
        let mut table = Table::new([&self.name].into_iter().chain(sizes.iter().copied()));
        for tile in tiles.iter().filter(|tile| has(&|task| task.tile() == **tile)) {
            let cells = sizes.iter().map(|size| self.cell(tile, size));
            table.row([tile.clone()].into_iter().chain(cells));
        }
        table
    }

    /// A tile at a size: its rate, whether it is the fastest, and whether the plan would choose it.
    fn cell(&self, tile: &str, size: &str) -> String {
        let at_size = || self.rows.iter().filter(|(task, _)| task.product.size() == size);
        let Some((_, timed)) = at_size().rev().find(|(task, _)| task.tile() == tile) else {
            return "-".into();
        };
        let right = at_size().filter(|(_, timed)| timed.ok).map(|(_, timed)| timed.tflops);
        let rate = short(timed.tflops);
        let text = match timed.ok {
            false => format!("{rate} WRONG"),
            true if timed.tflops >= right.fold(0.0, f64::max) => format!("**{rate}**"),
            true => rate,
        };
        if timed.chosen { text + " chosen" } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    const TIMED: &str = r#"{"device":"d","driver":"e","kernel":"tiled","tile":"64x64x8 (8x8 per invocation)","m":16,"n":16,"k":16,"dtype":"f16","out_dtype":"f32","layout":"nn","clock":"gpu","rounds":7,"gpu_seconds_median":1e-5,"gpu_seconds_min":1e-5,"gpu_seconds_max":1.1e-5,"tflops":0.5,"chosen":true,"check":"full","bound_ratio":0.25,"ok":true}"#;
    const LEFT_OUT: &str = r#"{"device":"d","driver":"e","kernel":"coop","tile":"128x128x16 (64x32 per subgroup, of 16x16)","m":16,"n":16,"k":16,"dtype":"f16","out_dtype":"f32","layout":"nn","left_out":"cooperative matrices"}"#;
    const FAILED: &str = r#"{"device":"d","driver":"e","kernel":null,"tile":null,"m":16,"n":16,"k":16,"dtype":"f32","out_dtype":"f32","layout":"nt","error":"device lost"}"#;

    #[test]
    fn the_fastest_right_tile_of_a_column_is_bold() {
        let faster = TIMED
            .replace("64x64x8 (8x8", "128x64x8 (8x8")
            .replace("0.5,", "0.75,")
            .replace("true,", "false,");
        let wrong = TIMED
            .replace("64x64x8 (8x8", "32x32x8 (4x4")
            .replace("0.5,", "9.0,")
            .replace("chosen\":true", "chosen\":false")
            .replace("\"ok\":true", "\"ok\":false")
            .replace("0.25", "null")
            .replace("1.1e-5", "2e-5");
        let large = TIMED.replace("\"m\":16", "\"m\":32").replace("\"full\"", "\"4096 entries\"");
        let rows = parse("tiles.jsonl", &[TIMED, &faster, &wrong, LEFT_OUT, FAILED, &large].join("\n"));
        assert!(rows.malformed.is_empty(), "{:?}", rows.malformed);
        let page = text(&rows.rows);
        for part in [
            "TFLOP/s by the median of the rounds. The fastest tile of a column is bold; \"chosen\" is the plan's choice. 1 of 4 ",
            "3 products by every entry, 1 by 4096 entries; the largest ratio of an error to its bound is infinite.\n",
            "\nWRONG:\n\n- the error exceeds its bound: tiled 32x32x8/4x4 (16 x 16 x 16 f16 -> f32 nn)\n",
            "\nFailed:\n\n- device lost: every tile (16 x 16 x 16 f32 -> f32 nt)\n",
            "\nNot timed:\n\n- cooperative matrices: coop 128x128x16/64x32 of 16x16 (16 x 16 x 16 f16 -> f32 nn)\n",
            "\n| f16 -> f32, nn | 16 x 16 x 16 | 32 x 16 x 16 |\n|---|---|---|\n\
             | tiled 64x64x8/8x8 | 0.5 chosen | **0.5** chosen |\n\
             | tiled 128x64x8/8x8 | **0.75** | - |\n\
             | tiled 32x32x8/4x4 | 9 WRONG | - |\n",
        ] {
            assert!(page.contains(part), "no `{part}` in\n{page}");
        }
    }

    #[test]
    fn without_a_timed_tile_there_are_remarks_alone() {
        let rows = parse("tiles.jsonl", LEFT_OUT);
        assert!(text(&rows.rows).starts_with("\nNot timed:\n\n- cooperative matrices: coop"));
    }
}
