//! The picture of the floors in `CONTRIBUTING.md`.

use super::{LISTS, ROOMS, room, sources};
use crate::imports::Imports;
use std::collections::BTreeSet;
use std::fmt::Write;

const START: &str = "<!-- floors: written by `TILEWISE_WRITE=1 cargo test --test house` -->\n";
const END: &str = "<!-- end of floors -->";

#[test]
fn contributing_md_shows_the_floors() {
    let path = support::root().join("CONTRIBUTING.md");
    let text = std::fs::read_to_string(&path).expect("CONTRIBUTING.md");
    let lines = || format!("CONTRIBUTING.md needs the lines\n{START}{END}");
    let start = text.find(START).unwrap_or_else(|| panic!("{}", lines())) + START.len();
    let end = start + text[start..].find(END).unwrap_or_else(|| panic!("{}", lines()));
    let picture = picture(&Imports::of(&sources()));
    if std::env::var_os("TILEWISE_WRITE").is_some() {
        std::fs::write(&path, format!("{}{picture}{}", &text[..start], &text[end..])).unwrap();
    } else {
        assert!(
            text[start..end] == picture,
            "CONTRIBUTING.md shows other floors than src has; write it with TILEWISE_WRITE=1 cargo test --test house\n{picture}"
        );
    }
}

/// The rooms, from the top, and which uses which, by imports and calls. An arrow is left out where those through other rooms
/// imply it.
fn picture(imports: &Imports) -> String {
    let uses = imports.uses();
    let pairs = uses.keys().map(|(from, to)| (room(from), room(to)));
    let pairs: BTreeSet<_> =
        pairs.filter(|(from, to)| from != to && !LISTS.contains(from) && !LISTS.contains(to)).collect();
    let used: BTreeSet<_> = imports.files.iter().map(|file| room(file)).collect();
    let mut text = "```mermaid\nflowchart TD\n".to_owned();
    for rooms in ROOMS.iter().rev() {
        for room in rooms.iter().filter(|room| used.contains(*room) && !LISTS.contains(room)) {
            writeln!(text, "    {room}").unwrap();
        }
    }
    for rooms in ROOMS.iter().rev() {
        for from in *rooms {
            for to in ROOMS.iter().rev().flat_map(|rooms| rooms.iter()) {
                if pairs.contains(&(from, to)) && !leads(&pairs, from, to) {
                    writeln!(text, "    {from} --> {to}").unwrap();
                }
            }
        }
    }
    text + "```\n"
}

/// Whether imports lead from one room to another through a third.
fn leads(pairs: &BTreeSet<(&str, &str)>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open: Vec<_> =
        pairs.iter().filter(|pair| pair.0 == from && pair.1 != to).map(|pair| pair.1).collect();
    while let Some(room) = open.pop() {
        if seen.insert(room) {
            if pairs.contains(&(room, to)) {
                return true;
            }
            open.extend(pairs.iter().filter(|pair| pair.0 == room).map(|pair| pair.1));
        }
    }
    false
}
