//! The table of arguments in the book's page on replay: each row is shown, and every function that needs a device is refused
//! in a capture exactly if the table says so.

mod shown;

use super::bits;
use std::collections::BTreeSet;
use support::operations::{self, World};
use support::watchdog::{doing, in_time};
use tilewise::Error;

const PAGE: &str = include_str!("../../../../book/src/replay.md");

/// What a run does with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InRuns {
    AsCaptured,
    FromBuffer,
    Refused,
}

/// A row: the names of functions, the argument, and what a run does with it.
struct Row {
    names: Vec<&'static str>,
    argument: &'static str,
    in_runs: InRuns,
}

/// Arguments of rows whose functions the rows of `tests/support/operations` show to be refused: as a whole, and with a cache
/// that counts on the host.
const REFUSED: [&str; 2] = ["the call", "the position of any other cache"];

/// The rows of the table.
fn table() -> Vec<Row> {
    let (_, section) = PAGE.split_once("{#arguments}").expect("the section of the table");
    let lines = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [functions, argument, in_runs] = cells[..] else { panic!("three cells: {line}") };
        let words = [
            ("captured as it is", InRuns::AsCaptured),
            ("from a buffer", InRuns::FromBuffer),
            ("refused", InRuns::Refused),
        ];
        let found = words.iter().find(|(words, _)| in_runs.starts_with(words));
        let (_, in_runs) = found.unwrap_or_else(|| panic!("one of {words:?}: {line}"));
        let names: Vec<_> = functions.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{line}");
        Row { names, argument, in_runs: *in_runs }
    };
    lines.take_while(|line| line.starts_with('|')).map(row).collect()
}

/// Whether a name of the table stands for this one.
fn stands_for(listed: &str, name: &str) -> bool {
    match listed.split_once('*') {
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
        None => listed == name,
    }
}

#[test]
fn every_row_of_the_table_is_shown() {
    let Some(gpu) = support::gpu() else { return };
    let rows = table();
    assert!(rows.len() > 15, "{} rows", rows.len());
    let mut all = shown::all();
    for row in rows.iter().filter(|row| !REFUSED.contains(&row.argument)) {
        let what = format!("{} of {:?}", row.argument, row.names);
        let is_it = |(name, argument, _): &shown::Probe| *name == row.names[0] && *argument == row.argument;
        let at = all.iter().position(is_it).unwrap_or_else(|| panic!("nothing shows {what}"));
        let (_, _, probe) = all.swap_remove(at);
        let found =
            in_time("a row of the table", || probe(&gpu)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(found, row.in_runs, "{what}");
    }
    let left: Vec<_> = all.iter().map(|(name, argument, _)| (name, argument)).collect();
    assert!(left.is_empty(), "the table lacks {left:?}");
}

/// What the table does not refuse is captured.
#[test]
fn every_function_is_refused_in_a_capture_exactly_if_the_table_says_so() {
    let Some(()) = support::first_driver() else { return };
    let rows = table().into_iter();
    let refused = rows.filter(|row| row.in_runs == InRuns::Refused && REFUSED.contains(&row.argument));
    let refused: Vec<&str> = refused.flat_map(|row| row.names).collect();
    let mut faults = Vec::new();
    // The layer of these calls shares its weight.
    let known = operations::all();
    let known =
        known.iter().filter(|row| !["Parameters::descend", "ParameterMut::update"].contains(&row.name));
    // Most calls leave what they work on as it is: a device and a world serve many.
    let mut worlds = None;
    for row in known {
        let name = row.name;
        let _doing = doing(name);
        let (gpu, world) = worlds.get_or_insert_with(|| {
            let gpu = support::noop();
            let world = World::new(&gpu).unwrap();
            (gpu, world)
        });
        let mut found = None;
        let captured = in_time(name, || {
            gpu.capture(&[], || {
                found = Some(row.call(world).map(drop));
                Ok(())
            })
        });
        let is_listed = refused.iter().any(|listed| stands_for(listed, name));
        match (is_listed, found.expect("it was called"), captured) {
            (true, Err(Error::Input { .. }), _) | (false, Ok(()), Ok(_)) => {}
            (true, found, _) => faults.push(format!("{name} is not refused: {found:?}")),
            (false, Err(error), _) => faults.push(format!("{name} is refused: {error}")),
            (false, Ok(()), Err(error)) => faults.push(format!("a capture of {name} fails: {error}")),
        }
    }
    let is_idle = |listed: &&&str| {
        let is_of_feature = listed.contains("ndarray") && !cfg!(feature = "ndarray");
        !is_of_feature && !operations::all().iter().any(|row| stands_for(listed, row.name))
    };
    faults.extend(refused.iter().filter(is_idle).map(|listed| format!("{listed} stands for no function")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_names_public_functions() {
    let api = include_str!("../../../house/api.txt");
    let names: BTreeSet<&str> = api.lines().map(|line| line.split(": ").next().expect("a name")).collect();
    for listed in table().iter().flat_map(|row| &row.names) {
        assert!(names.iter().any(|name| stands_for(listed, name)), "{listed} is no public name");
    }
}
