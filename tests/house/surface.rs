//! The public API, a line for each item, in `api.txt`: a change of the API is a change of that file.

use crate::floors::sources;
use crate::imports::{Found, found};
use crate::modules::{Files, Module, Name, defined, modules};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Visibility};

mod pages;
mod printed;

use printed::plain;

/// Modules that promise nothing.
const UNSTABLE: &[&str] = &["planning", "fuzz"];

#[test]
fn the_public_api_is_listed() {
    let path = support::root().join("tests/house/api.txt");
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let lines = surface(&sources());
    if std::env::var_os("TILEWISE_WRITE").is_some() {
        std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        return;
    }
    let listed: BTreeSet<&str> = listed.lines().collect();
    let lines: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
    let gone = listed.difference(&lines).map(|line| format!("- {line}\n"));
    let changes: String = gone.chain(lines.difference(&listed).map(|line| format!("+ {line}\n"))).collect();
    assert!(
        changes.is_empty(),
        "the public API differs from tests/house/api.txt; if that is meant: \
         TILEWISE_WRITE=1 cargo test --test house\n{changes}"
    );
}

/// Items by module and name, with the paths by which other crates reach them.
type Reached = BTreeMap<(usize, String), BTreeSet<String>>;

/// A line for each public item, sorted. An item of several paths is listed by the shortest.
pub(crate) fn surface(files: &Files) -> Vec<String> {
    let modules = modules(files);
    let mut lines = BTreeSet::new();
    let mut reached = Reached::new();
    reach(&modules, 0, "", &mut BTreeSet::new(), &mut reached, &mut lines);
    let path_of = |item: &(usize, String)| -> Option<&str> {
        reached.get(item)?.iter().map(String::as_str).min_by_key(|path| (path.matches("::").count(), *path))
    };
    for (item @ (module, name), paths) in &reached {
        let path = path_of(item).expect("it is reached");
        for other in paths.iter().filter(|other| *other != path) {
            lines.insert(format!("{other}: use {path}"));
        }
        for item in modules[*module].items.iter().filter(|item| defined(item).as_ref() == Some(name)) {
            list(item, path, &mut lines);
        }
    }
    for (at, module) in modules.iter().enumerate() {
        for item in &module.items {
            if let Item::Impl(item) = item {
                list_impl(item, &modules, at, &path_of, &mut lines);
            }
        }
    }
    lines.into_iter().collect()
}

/// Follows what other crates may name: public modules, items and imports.
fn reach(
    modules: &[Module],
    at: usize,
    path: &str,
    open: &mut BTreeSet<usize>,
    reached: &mut Reached,
    lines: &mut BTreeSet<String>,
) {
    if !open.insert(at) {
        return;
    }
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
    for (name, all) in &modules[at].names {
        if path.is_empty() && UNSTABLE.contains(&name.as_str()) {
            continue;
        }
        let path = below(name);
        for stands_for in all {
            let target = match stands_for {
                Name::Item => modules[at]
                    .items
                    .iter()
                    .any(|item| defined(item).as_ref() == Some(name) && is_public(item))
                    .then(|| Found::Item(at, name.clone())),
                Name::Module(to, true) => Some(Found::Module(*to)),
                Name::Import(import) if import.public => {
                    let target = found(modules, at, &import.segments);
                    if target.is_none() {
                        lines.insert(format!("{path}: use {}", import.segments.join("::")));
                    }
                    target
                }
                Name::Module(..) | Name::Import(_) => None,
            };
            match target {
                Some(Found::Item(module, name)) => {
                    reached.entry((module, name)).or_default().insert(path.clone());
                }
                Some(Found::Module(to)) => {
                    lines.insert(format!("{path}: mod"));
                    reach(modules, to, &path, open, reached, lines);
                }
                None => {}
            }
        }
    }
    for glob in modules[at].globs.iter().filter(|glob| glob.public) {
        if let Some(Found::Module(to)) = found(modules, at, &glob.segments) {
            if modules[to].has_rows {
                lines.insert(format!("{path}: the functions of the table in src/{}", modules[to].file));
            }
            reach(modules, to, path, open, reached, lines);
        }
    }
    open.remove(&at);
}

fn is_public(item: &Item) -> bool {
    let vis = match item {
        Item::Const(item) => &item.vis,
        Item::Enum(item) => &item.vis,
        Item::Fn(item) => &item.vis,
        Item::Static(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Union(item) => &item.vis,
        _ => return false,
    };
    matches!(vis, Visibility::Public(_))
}

/// What of its attributes a user of an item sees.
fn seen(attrs: &[Attribute]) -> String {
    let shown = attrs.iter().filter(|attr| {
        let text = plain(attr);
        attr.path().is_ident("cfg") || text == "#[non_exhaustive]" || text == "#[doc(hidden)]"
    });
    shown.map(|attr| plain(attr) + " ").collect()
}

fn list(item: &Item, path: &str, lines: &mut BTreeSet<String>) {
    let mut line = |text: String| {
        lines.insert(format!("{path}{text}"));
    };
    let generics = |generics: &syn::Generics| {
        format!(
            "{}{}",
            plain(generics),
            generics.where_clause.as_ref().map_or(String::new(), |it| format!(" {}", plain(it)))
        )
    };
    match item {
        Item::Fn(item) => line(format!(": {}{}", seen(&item.attrs), plain(&item.sig))),
        Item::Const(item) => line(format!(": {}const {}", seen(&item.attrs), plain(&item.ty))),
        Item::Static(item) => line(format!(": {}static {}", seen(&item.attrs), plain(&item.ty))),
        Item::Type(item) => {
            line(format!(": {}type{} = {}", seen(&item.attrs), generics(&item.generics), plain(&item.ty)));
        }
        Item::Struct(item) => {
            line(format!(": {}struct{}", seen(&item.attrs), generics(&item.generics)));
            for (field, text) in fields(&item.fields, true) {
                line(format!("::{field}: {text}"));
            }
            derived(&item.attrs, &mut line);
        }
        Item::Enum(item) => {
            line(format!(": {}enum{}", seen(&item.attrs), generics(&item.generics)));
            for variant in &item.variants {
                line(format!("::{}: {}variant", variant.ident, seen(&variant.attrs)));
                for (field, text) in fields(&variant.fields, false) {
                    line(format!("::{}::{field}: {text}", variant.ident));
                }
            }
            derived(&item.attrs, &mut line);
        }
        Item::Trait(item) => {
            let above = &item.supertraits;
            let above = if above.is_empty() { String::new() } else { format!(": {}", plain(above)) };
            line(format!(": {}trait{}{above}", seen(&item.attrs), generics(&item.generics)));
            for part in &item.items {
                match part {
                    TraitItem::Fn(part) => {
                        let default = if part.default.is_some() { " { .. }" } else { "" };
                        line(format!(
                            "::{}: {}{}{default}",
                            part.sig.ident,
                            seen(&part.attrs),
                            plain(&part.sig)
                        ));
                    }
                    TraitItem::Type(part) => line(format!("::{}: type {}", part.ident, plain(&part.bounds))),
                    TraitItem::Const(part) => line(format!("::{}: const {}", part.ident, plain(&part.ty))),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Names and types of the fields that others see.
fn fields(fields: &Fields, only_public: bool) -> Vec<(String, String)> {
    let shown = fields
        .iter()
        .enumerate()
        .filter(|(_, field)| !only_public || matches!(field.vis, Visibility::Public(_)));
    shown
        .map(|(at, field)| {
            let name = field.ident.as_ref().map_or(at.to_string(), ToString::to_string);
            (name, format!("{}{}", seen(&field.attrs), plain(&field.ty)))
        })
        .collect()
}

fn derived(attrs: &[Attribute], line: &mut impl FnMut(String)) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("derive")) {
        line(format!(": {}", plain(&attr.meta)));
    }
}

/// Public methods of a public type, the traits that it has, and the foreign types that have a public trait.
fn list_impl<'a>(
    item: &syn::ItemImpl,
    modules: &[Module],
    at: usize,
    path_of: &impl Fn(&(usize, String)) -> Option<&'a str>,
    lines: &mut BTreeSet<String>,
) {
    let reach = |path: &syn::Path| -> Option<&'a str> {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let Some(Found::Item(module, name)) = found(modules, at, &segments) else { return None };
        path_of(&(module, name))
    };
    let of = if let syn::Type::Path(of) = &*item.self_ty { reach(&of.path) } else { None };
    let generics = format!(
        "{}{}",
        plain(&item.generics),
        item.generics.where_clause.as_ref().map_or(String::new(), |it| format!(" {}", plain(it)))
    );
    let head = format!("{}impl{generics}", seen(&item.attrs));
    if let Some((of_trait, _)) = &item.trait_ {
        let (named, own) = (plain(of_trait), reach(of_trait));
        match of {
            Some(path) => lines.insert(format!("{path}: {head} {named} for {}", plain(&item.self_ty))),
            None => {
                own.is_some_and(|path| lines.insert(format!("{path}: {head} for {}", plain(&item.self_ty))))
            }
        };
        return;
    }
    let Some(path) = of else { return };
    // Methods of only some of the type's instances say of which.
    let of_some = if is_general(item) { String::new() } else { format!("{head} {}: ", plain(&item.self_ty)) };
    for part in &item.items {
        let (vis, attrs, name, text) = match part {
            ImplItem::Fn(part) => (&part.vis, &part.attrs, &part.sig.ident, plain(&part.sig)),
            ImplItem::Const(part) => {
                (&part.vis, &part.attrs, &part.ident, format!("const {}", plain(&part.ty)))
            }
            _ => continue,
        };
        if matches!(vis, Visibility::Public(_)) {
            lines.insert(format!("{path}::{name}: {of_some}{}{text}", seen(attrs)));
        }
    }
}

/// Whether the arguments of an impl's type are all parameters.
fn is_general(item: &syn::ItemImpl) -> bool {
    let syn::Type::Path(of) = &*item.self_ty else { return false };
    let parameters: Vec<String> = item.generics.params.iter().map(plain).collect();
    let is_parameter =
        |argument: String| parameters.iter().any(|param| param.split(':').next() == Some(&argument));
    let last = of.path.segments.last().map(|segment| &segment.arguments);
    let Some(syn::PathArguments::AngleBracketed(arguments)) = last else { return true };
    arguments.args.iter().all(|argument| {
        is_parameter(plain(argument)) || matches!(argument, syn::GenericArgument::Lifetime(_))
    })
}
