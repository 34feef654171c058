//! The modules of a crate, read from its files: what each defines, declares and imports, without what only tests see.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::{Item, UseTree, Visibility};

mod rows;

/// Files by their path in `src`, with their text.
pub(crate) type Files = BTreeMap<String, String>;

/// An import or a path in an expression: its segments, without generics.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    /// Whether the name is imported for others: `pub use` and `pub(crate) use`.
    pub(crate) exported: bool,
    /// Whether it is so for other crates: `pub use`.
    pub(crate) public: bool,
}

/// What a name of a module stands for.
pub(crate) enum Name {
    Item,
    /// A module by its place in the list of all, and whether it is `pub`.
    Module(usize, bool),
    Import(Path),
}

/// A module: a file, or a `mod` within one.
pub(crate) struct Module {
    pub(crate) file: String,
    pub(crate) parent: Option<usize>,
    pub(crate) names: BTreeMap<String, Vec<Name>>,
    /// All imports and all paths of at least two segments, those in macros too.
    pub(crate) paths: Vec<Path>,
    /// `use module::*`.
    pub(crate) globs: Vec<Path>,
    /// Items that are neither modules nor imports.
    pub(crate) items: Vec<Item>,
    /// Whether a macro makes public items of this module from the rows of a table.
    pub(crate) has_rows: bool,
    /// The folder in which the files of its modules lie.
    folder: String,
}

/// The modules of a crate, the root first. Panics where the files do not form a crate.
pub(crate) fn modules(files: &Files) -> Vec<Module> {
    let mut all = Vec::new();
    open(files, "lib.rs", None, String::new(), &mut all);
    all
}

fn open(files: &Files, file: &str, parent: Option<usize>, folder: String, all: &mut Vec<Module>) -> usize {
    let text = files.get(file).unwrap_or_else(|| panic!("no file src/{file}"));
    let parsed =
        syn::parse_file(text).unwrap_or_else(|why| panic!("src/{file}:{}: {why}", why.span().start().line));
    add(files, file, parent, folder, parsed.items, all)
}

fn add(
    files: &Files,
    file: &str,
    parent: Option<usize>,
    folder: String,
    items: Vec<Item>,
    all: &mut Vec<Module>,
) -> usize {
    let at = all.len();
    let (names, paths, globs) = (BTreeMap::new(), Vec::new(), Vec::new());
    all.push(Module {
        file: file.to_owned(),
        parent,
        names,
        paths,
        globs,
        items: Vec::new(),
        has_rows: false,
        folder,
    });
    let (made, names) = rows::made(files, &items);
    for name in names {
        all[at].has_rows = true;
        all[at].names.entry(name).or_default().push(Name::Item);
    }
    for item in items.into_iter().chain(made) {
        if only_for_tests(&item) {
            continue;
        }
        match item {
            Item::Mod(item) => {
                let name = item.ident.to_string();
                let public = matches!(item.vis, Visibility::Public(_));
                let folder = format!("{}{name}/", all[at].folder);
                let child = match item.content {
                    Some((_, items)) => add(files, file, Some(at), folder, items, all),
                    None => {
                        let leaf = format!("{}{name}.rs", all[at].folder);
                        let file = if files.contains_key(&leaf) { leaf } else { format!("{folder}mod.rs") };
                        open(files, &file, Some(at), folder, all)
                    }
                };
                all[at].names.entry(name).or_default().push(Name::Module(child, public));
            }
            Item::Use(item) => import(&item, &mut all[at]),
            mut item => {
                if let Item::Impl(item) = &mut item {
                    item.items
                        .retain(|part| !matches!(part, syn::ImplItem::Fn(part) if tests_only(&part.attrs)));
                }
                if let Some(name) = defined(&item) {
                    all[at].names.entry(name).or_default().push(Name::Item);
                }
                scan(item.to_token_stream(), &mut all[at]);
                all[at].items.push(item);
            }
        }
    }
    at
}

/// Whether an item is under `#[cfg(test)]`, or a condition that names `test` without `not`.
fn only_for_tests(item: &Item) -> bool {
    let (Item::Mod(syn::ItemMod { attrs, .. })
    | Item::Use(syn::ItemUse { attrs, .. })
    | Item::Fn(syn::ItemFn { attrs, .. })
    | Item::Impl(syn::ItemImpl { attrs, .. })
    | Item::Const(syn::ItemConst { attrs, .. })
    | Item::Static(syn::ItemStatic { attrs, .. })
    | Item::Struct(syn::ItemStruct { attrs, .. })
    | Item::Enum(syn::ItemEnum { attrs, .. })
    | Item::Trait(syn::ItemTrait { attrs, .. })
    | Item::Type(syn::ItemType { attrs, .. })
    | Item::Macro(syn::ItemMacro { attrs, .. })) = item
    else {
        return false;
    };
    tests_only(attrs)
}

fn tests_only(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let text = attr.to_token_stream().to_string();
        let words = || text.split(|c: char| !c.is_alphanumeric() && c != '_');
        attr.path().is_ident("cfg") && words().any(|word| word == "test") && words().all(|word| word != "not")
    })
}

/// The name that an item defines.
pub(crate) fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn import(item: &syn::ItemUse, module: &mut Module) {
    if item.leading_colon.is_none() {
        let exported = !matches!(item.vis, Visibility::Inherited);
        let public = matches!(item.vis, Visibility::Public(_));
        tree(&item.tree, &mut Vec::new(), [exported, public], module);
    }
}

fn tree(tree_: &UseTree, prefix: &mut Vec<String>, visible: [bool; 2], module: &mut Module) {
    let [exported, public] = visible;
    let line = |ident: &proc_macro2::Ident| ident.span().start().line;
    let mut name = |ident: &proc_macro2::Ident, renamed: String| {
        let mut segments = prefix.clone();
        if ident != "self" || segments.is_empty() {
            segments.push(ident.to_string());
        }
        let renamed = if ident == "self" && renamed == "self" {
            segments.last().cloned().unwrap_or_default()
        } else {
            renamed
        };
        let path = Path { segments, line: line(ident), exported, public };
        module.paths.push(path.clone());
        module.names.entry(renamed).or_default().push(Name::Import(path));
    };
    match tree_ {
        UseTree::Name(leaf) => name(&leaf.ident, leaf.ident.to_string()),
        UseTree::Rename(leaf) => name(&leaf.ident, leaf.rename.to_string()),
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            tree(&path.tree, prefix, visible, module);
            prefix.pop();
        }
        UseTree::Group(group) => {
            for each in &group.items {
                tree(each, prefix, visible, module);
            }
        }
        UseTree::Glob(star) => {
            let line = star.star_token.spans[0].start().line;
            module.globs.push(Path { segments: prefix.clone(), line, exported, public });
        }
    }
}

/// Adds every path of a token stream, and the imports in bodies of functions.
fn scan(tokens: TokenStream, module: &mut Module) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let colons = |at: usize| {
        let colon =
            |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        colon(at) && colon(at + 1)
    };
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => scan(group.stream(), module),
            TokenTree::Ident(ident) if ident == "use" => {
                let end = (at..tokens.len())
                    .find(|&at| matches!(&tokens[at], TokenTree::Punct(p) if p.as_char() == ';'));
                if let Some(end) = end
                    && let Ok(item) = syn::parse2::<syn::ItemUse>(tokens[at..=end].iter().cloned().collect())
                {
                    import(&item, module);
                    at = end;
                }
            }
            TokenTree::Ident(ident) => {
                // `::std` and `<T as Trait>::Type` go on from something else.
                let rooted = at >= 2 && colons(at - 2);
                let line = ident.span().start().line;
                let mut segments = vec![ident.to_string()];
                while colons(at + 1)
                    && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                {
                    segments.push(next.to_string());
                    at += 3;
                }
                if segments.len() > 1 && !rooted {
                    module.paths.push(Path { segments, line, exported: false, public: false });
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += 1;
    }
}
