//! Which file imports which: every path of a crate is followed, through re-exports, to the file that defines the name.

use crate::calls::{self, Call};
use crate::modules::{Files, Module, Name, Path, modules};
use std::collections::{BTreeMap, BTreeSet};

/// By the file that needs another and that file, the first line that does so and what stands there.
pub(crate) type Edges = BTreeMap<(String, String), (usize, String)>;

/// The imports of a crate.
pub(crate) struct Imports {
    /// By importing and imported file, with the path that stands there.
    pub(crate) edges: Edges,
    /// The same of calls of methods.
    pub(crate) calls: Edges,
    pub(crate) files: BTreeSet<String>,
    pub(crate) modules: Vec<Module>,
    /// Imports of a whole module by `*`: file, line and path.
    pub(crate) globs: Vec<(String, usize, String)>,
}

/// What a path leads to.
#[derive(Clone)]
pub(crate) enum Found {
    /// An item, by its module and name.
    Item(usize, String),
    Module(usize),
}

impl Imports {
    pub(crate) fn of(files: &Files) -> Self {
        let modules = modules(files);
        let mut edges = Edges::new();
        let mut globs = Vec::new();
        for (at, module) in modules.iter().enumerate() {
            for path in &module.paths {
                let to = match found(&modules, at, &path.segments) {
                    Some(Found::Item(to, _)) => modules[to].file.clone(),
                    // The paths that begin with the module's name count, each by itself.
                    Some(Found::Module(to)) if path.exported => modules[to].file.clone(),
                    Some(Found::Module(_)) | None => continue,
                };
                add(&mut edges, module, path, to);
            }
            for path in &module.globs {
                match found(&modules, at, &path.segments) {
                    Some(Found::Item(to, _)) => add(&mut edges, module, path, modules[to].file.clone()),
                    Some(Found::Module(to)) => {
                        // A table names what is made of its rows.
                        if !modules[to].has_rows {
                            globs.push((module.file.clone(), path.line, path.segments.join("::")));
                        }
                        add(&mut edges, module, path, modules[to].file.clone());
                    }
                    None => {}
                }
            }
        }
        let files = modules.iter().map(|module| module.file.clone()).collect();
        let mut calls = Edges::new();
        for Call { from, to, line, what } in calls::calls(&modules) {
            insert(&mut calls, from, to, (line, what));
        }
        Self { edges, calls, files, modules, globs }
    }

    /// Imports and calls.
    pub(crate) fn uses(&self) -> Edges {
        let mut uses = self.edges.clone();
        for (edge, found) in &self.calls {
            uses.entry(edge.clone()).or_insert_with(|| found.clone());
        }
        uses
    }
}

fn add(edges: &mut Edges, module: &Module, path: &Path, to: String) {
    if to != module.file {
        insert(edges, module.file.clone(), to, (path.line, path.segments.join("::")));
    }
}

fn insert(edges: &mut Edges, from: String, to: String, found: (usize, String)) {
    let edge = edges.entry((from, to)).or_insert_with(|| found.clone());
    *edge = found.min(edge.clone());
}

/// What a path of a module leads to; None for other crates.
pub(crate) fn found(modules: &[Module], at: usize, path: &[String]) -> Option<Found> {
    resolve(modules, at, path, 0)
}

fn resolve(modules: &[Module], at: usize, path: &[String], depth: usize) -> Option<Found> {
    let (first, rest) = path.split_first()?;
    let next = match first.as_str() {
        "crate" => 0,
        "self" => at,
        "super" => modules[at].parent?,
        // A circle of imports, which is no legal crate.
        _ if depth > 32 => return None,
        name => return named(modules, at, name, rest, depth),
    };
    if rest.is_empty() { Some(Found::Module(next)) } else { resolve(modules, next, rest, depth) }
}

/// A name may stand for a module and for an item, such as a function of the same name.
fn named(modules: &[Module], at: usize, name: &str, rest: &[String], depth: usize) -> Option<Found> {
    let mut item = None;
    let mut module = None;
    for stands_for in modules[at].names.get(name).into_iter().flatten() {
        let found = match stands_for {
            Name::Item => Some(Found::Item(at, name.to_owned())),
            &Name::Module(to, _) => Some(Found::Module(to)),
            Name::Import(path) => resolve(modules, at, &path.segments, depth + 1),
        };
        match found {
            Some(Found::Item(..)) => item = item.or(found),
            Some(Found::Module(_)) => module = module.or(found),
            None => {}
        }
    }
    for glob in &modules[at].globs {
        if item.is_some() || module.is_some() || depth > 8 {
            break;
        }
        if let Some(Found::Module(to)) = resolve(modules, at, &glob.segments, depth + 1)
            && to != at
        {
            match named(modules, to, name, &[], depth + 1) {
                found @ Some(Found::Item(..)) => item = found,
                found => module = found,
            }
        }
    }
    if rest.is_empty() {
        return item.or(module);
    }
    if let Some(Found::Module(to)) = module
        && let Some(found) = resolve_in(modules, to, rest, depth)
    {
        return Some(found);
    }
    item
}

/// As [`resolve`], of a path that goes on within a module.
fn resolve_in(modules: &[Module], at: usize, path: &[String], depth: usize) -> Option<Found> {
    let (first, rest) = path.split_first()?;
    named(modules, at, first, rest, depth)
}
