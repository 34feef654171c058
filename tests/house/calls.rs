//! Which file calls methods that another file defines: a type's methods may stand in any file of the crate, and a call of one
//! needs no import.
//!
//! - Where the type of the receiver is written down, it decides. It is for `self`, for a parameter, and for fields of these:
//!   `self.inner.recorder.lock()`. A type of another crate, and one without such a method, give no call.
//! - Where it is not, as after `let` or another call, the name decides, if the methods of that name all stand in one file, and
//!   neither a trait of the crate nor a type of another crate has one ([`OTHERS`]).
//! - `Type::function` and `Self::function` are calls of the file that defines the function.

use crate::imports::{Found, found};
use crate::modules::Module;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::{FnArg, ImplItem, Item, Pat, Signature, TraitItem, Type};

mod checked;

/// Names of methods that types of other crates have: of a receiver whose type is not written down, they say nothing.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "abs", "add", "all", "and", "and_then", "any", "apply", "at", "binary", "bind", "bits", "buffer",
    "bytes", "capacity", "ceil", "chunks", "clamp", "cmp", "code", "contains", "copy", "count",
    "create", "description", "device", "divide", "empty", "enter", "eq", "error", "even", "exclusive",
    "execute", "extend", "filled", "find", "first", "flags", "floor", "flush", "get", "has", "identity",
    "info", "is_empty", "is_nan", "is_null", "is_same", "iter", "join", "key", "keys", "kind", "label", "last",
    "latest", "len", "length", "limits", "load", "lock", "map", "max", "min", "multiply", "name",
    "names", "next", "next_if", "null", "offset", "ok", "only", "open", "or", "padding", "path", "poll",
    "pow", "push", "put", "queue", "random", "range", "release", "remove", "replace", "reverse",
    "round", "run", "scale", "shape", "sign", "signal", "size", "slice", "source", "split_into", "sqrt",
    "square", "start", "step", "stride", "sub", "submit", "sum", "t", "take", "tanh", "then", "time",
    "to_bits", "to_f32", "to_vec", "unit", "unmap", "value", "values", "view", "wait", "words", "write",
    "zip",
];

/// Types that lend the methods of what they hold.
const HOLDERS: &[&str] = &["Arc", "Box", "Cow", "Locked", "MutexGuard", "Rc", "Ref", "RefMut"];

/// A type that is written down: one of the crate, by its module and name, or any other.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Ours(usize, String),
    Other,
}

/// A call: the calling file, the line, what stands there, and the file that defines the method.
pub(crate) struct Call {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

/// The calls of a crate from one file to another.
pub(crate) fn calls(modules: &[Module]) -> Vec<Call> {
    let methods = Methods::of(modules);
    let mut calls = Vec::new();
    for (at, module) in modules.iter().enumerate() {
        let mut body = Body { methods: &methods, at, this: None, names: BTreeMap::new(), calls: &mut calls };
        for path in module.paths.iter().filter(|path| path.segments.len() > 1) {
            let (name, of) = path.segments.split_last().unwrap();
            if let Some(Found::Item(to, of)) = found(modules, at, of) {
                body.add(&Known::Ours(to, of), name, path.line, path.segments.join("::"));
            }
        }
        for item in &module.items {
            body.item(item);
        }
    }
    calls
}

/// The methods of a crate's types, and the types of their fields.
struct Methods<'a> {
    modules: &'a [Module],
    /// Inherent functions by type and name: the files that define them. Forms for several targets may stand in several.
    files: BTreeMap<(Known, String), BTreeSet<&'a str>>,
    /// The files that define methods of a name. None of a name that traits have.
    named: BTreeMap<String, Option<BTreeSet<&'a str>>>,
    fields: BTreeMap<(Known, String), Known>,
}

impl<'a> Methods<'a> {
    fn of(modules: &'a [Module]) -> Self {
        let (files, named, fields) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut all = Self { modules, files, named, fields };
        for (at, module) in modules.iter().enumerate() {
            for item in &module.items {
                all.add(at, &module.file, item);
            }
        }
        all
    }

    fn add(&mut self, at: usize, file: &'a str, item: &Item) {
        match item {
            Item::Struct(item) => {
                let this = Known::Ours(at, item.ident.to_string());
                for (index, field) in item.fields.iter().enumerate() {
                    let name = field.ident.as_ref().map_or(index.to_string(), ToString::to_string);
                    let known = self.known(at, &field.ty, Some(&this));
                    self.fields.insert((this.clone(), name), known);
                }
            }
            Item::Impl(item) if item.trait_.is_none() => {
                let this = self.known(at, &item.self_ty, None);
                for part in &item.items {
                    if let ImplItem::Fn(part) = part {
                        let name = part.sig.ident.to_string();
                        if part.sig.receiver().is_some()
                            && let Some(files) =
                                self.named.entry(name.clone()).or_insert_with(|| Some(BTreeSet::new()))
                        {
                            files.insert(file);
                        }
                        self.files.entry((this.clone(), name)).or_default().insert(file);
                    }
                }
            }
            Item::Trait(item) => {
                for part in &item.items {
                    if let TraitItem::Fn(part) = part {
                        self.named.insert(part.sig.ident.to_string(), None);
                    }
                }
            }
            _ => {}
        }
    }

    /// The type that stands in a module, whose `Self` is `this`.
    fn known(&self, at: usize, written: &Type, this: Option<&Known>) -> Known {
        match written {
            Type::Reference(to) => self.known(at, &to.elem, this),
            Type::Group(of) => self.known(at, &of.elem, this),
            Type::Paren(of) => self.known(at, &of.elem, this),
            Type::Path(path) if path.qself.is_none() => {
                let segments: Vec<_> = path.path.segments.iter().map(|part| part.ident.to_string()).collect();
                let last = path.path.segments.last().unwrap();
                if segments == ["Self"] {
                    return this.cloned().unwrap_or(Known::Other);
                }
                if HOLDERS.iter().any(|holder| last.ident == holder)
                    && let syn::PathArguments::AngleBracketed(held) = &last.arguments
                    && let Some(held) = held.args.iter().find_map(|held| match held {
                        syn::GenericArgument::Type(held) => Some(held),
                        _ => None,
                    })
                {
                    return self.known(at, held, this);
                }
                match found(self.modules, at, &segments) {
                    Some(Found::Item(to, name)) => Known::Ours(to, name),
                    _ => Known::Other,
                }
            }
            _ => Known::Other,
        }
    }
}

/// A body of code in a module.
struct Body<'a, 'b> {
    methods: &'a Methods<'a>,
    at: usize,
    /// The type of `self`.
    this: Option<Known>,
    /// The types of parameters.
    names: BTreeMap<String, Known>,
    calls: &'b mut Vec<Call>,
}

impl Body<'_, '_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Impl(item) => {
                let this = self.methods.known(self.at, &item.self_ty, None);
                for part in &item.items {
                    self.this = Some(this.clone());
                    match part {
                        ImplItem::Fn(part) => self.function(&part.sig, part.block.to_token_stream()),
                        part => self.scan(part.to_token_stream()),
                    }
                }
            }
            Item::Fn(item) => self.function(&item.sig, item.block.to_token_stream()),
            item => self.scan(item.to_token_stream()),
        }
        self.this = None;
    }

    fn function(&mut self, signature: &Signature, block: TokenStream) {
        for input in &signature.inputs {
            if let FnArg::Typed(input) = input
                && let Pat::Ident(name) = &*input.pat
            {
                let known = self.methods.known(self.at, &input.ty, self.this.as_ref());
                self.names.insert(name.ident.to_string(), known);
            }
        }
        forget_bound(block.clone(), &mut self.names);
        self.scan(block);
        self.names.clear();
    }

    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Ident(name)
                    if is(&tokens, at.wrapping_sub(1), '.')
                        && !is(&tokens, at.wrapping_sub(2), '.')
                        && is_call(&tokens[at + 1..]) =>
                {
                    self.call(&tokens[..at - 1], name);
                }
                TokenTree::Ident(of) if of == "Self" && is(&tokens, at + 1, ':') => {
                    if let (Some(TokenTree::Ident(name)), Some(this)) =
                        (tokens.get(at + 3), self.this.clone())
                    {
                        self.add(&this, &name.to_string(), name.span().start().line, format!("Self::{name}"));
                    }
                }
                _ => {}
            }
        }
    }

    /// A call of a method of what ends these tokens.
    fn call(&mut self, receiver: &[TokenTree], name: &proc_macro2::Ident) {
        let line = name.span().start().line;
        let what = format!(".{name}()");
        let name = name.to_string();
        if let Some(known) = self.receiver(receiver) {
            return self.add(&known, &name, line, what);
        }
        if let Some(Some(files)) = self.methods.named.get(&name)
            && files.len() == 1
            && !OTHERS.contains(&name.as_str())
        {
            self.push(files.iter().next().unwrap(), line, what);
        }
    }

    /// The type of what ends these tokens, if it is written down.
    fn receiver(&self, tokens: &[TokenTree]) -> Option<Known> {
        let (last, before) = tokens.split_last()?;
        let name = match last {
            TokenTree::Ident(name) => name.to_string(),
            TokenTree::Literal(index) => index.to_string(),
            _ => return None,
        };
        match before.last() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == '.' => {
                let of = self.receiver(&before[..before.len() - 1])?;
                Some(self.methods.fields.get(&(of, name)).cloned().unwrap_or(Known::Other))
            }
            // A path, or a name in a macro.
            Some(TokenTree::Punct(punct)) if matches!(punct.as_char(), ':' | '$') => None,
            _ if name == "self" => self.this.clone(),
            _ => self.names.get(&name).cloned(),
        }
    }

    fn add(&mut self, of: &Known, name: &str, line: usize, what: String) {
        for file in self.methods.files.get(&(of.clone(), name.to_owned())).into_iter().flatten() {
            self.push(file, line, what.clone());
        }
    }

    fn push(&mut self, to: &str, line: usize, what: String) {
        let from = self.methods.modules[self.at].file.clone();
        if from != to {
            self.calls.push(Call { from, to: to.to_owned(), line, what });
        }
    }
}

/// Forgets the types of names that `let` binds anew.
fn forget_bound(tokens: TokenStream, names: &mut BTreeMap<String, Known>) {
    let mut bound = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "let" => bound = true,
            TokenTree::Ident(name) if bound => drop(names.remove(&name.to_string())),
            TokenTree::Group(group) if bound => {
                for token in group.stream() {
                    names.remove(&token.to_string());
                }
            }
            TokenTree::Group(group) => forget_bound(group.stream(), names),
            TokenTree::Punct(punct) if matches!(punct.as_char(), '=' | ';') => bound = false,
            _ => {}
        }
    }
}

fn is(tokens: &[TokenTree], at: usize, punct: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(found)) if found.as_char() == punct)
}

/// Whether arguments follow, or types and arguments: `::<T>(..)`.
fn is_call(tokens: &[TokenTree]) -> bool {
    let is_parenthesis = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Parenthesis);
    tokens.first().is_some_and(is_parenthesis)
        || (is(tokens, 0, ':') && is(tokens, 1, ':') && is(tokens, 2, '<'))
}
