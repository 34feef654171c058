//! Structs, functions, and the text that they make together.

use super::statement::Block;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// A function: what it is for, its name, its parameters with their types, the type of its result, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub(crate) comment: &'static str,
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<(&'static str, &'static str)>,
    pub(crate) result: Option<&'static str>,
    pub(crate) body: Block,
}

/// A struct: what it is for, its name and its members.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Structure {
    pub(crate) comment: &'static str,
    pub(crate) name: &'static str,
    pub(crate) members: Vec<Member>,
}

/// A member of a struct: its name, its type and what it is, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) of_type: &'static str,
    pub(crate) comment: Cow<'static, str>,
}

/// Structs and functions, with the imports that the functions' calls ask for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Module {
    pub(crate) structures: Vec<Structure>,
    pub(crate) functions: Vec<Definition>,
}

impl Module {
    /// Operations on floats of a call of each function.
    pub(crate) fn flops(&self) -> usize {
        self.functions.iter().map(|function| function.body.flops()).sum()
    }
}

impl From<Definition> for Module {
    fn from(function: Definition) -> Self {
        Self { structures: Vec::new(), functions: vec![function] }
    }
}

impl fmt::Display for Structure {
    /// WGSL has no empty structs: that of no members has one that nobody reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "// {}\nstruct {} {{", self.comment, self.name)?;
        for Member { name, of_type, comment } in &self.members {
            let remark = if comment.is_empty() { String::new() } else { format!(" // {comment}") };
            writeln!(f, "    {name}: {of_type},{remark}")?;
        }
        if self.members.is_empty() {
            writeln!(f, "    none: u32,")?;
        }
        writeln!(f, "}}")
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: Vec<String> =
            self.parameters.iter().map(|(name, of)| format!("{name}: {of}")).collect();
        write!(f, "// {}\nfn {}({}) ", self.comment, self.name, parameters.join(", "))?;
        if let Some(result) = self.result {
            write!(f, "-> {result} ")?;
        }
        self.body.print_enclosed(f, 0)?;
        writeln!(f)
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut files = BTreeSet::new();
        self.functions.iter().for_each(|function| function.body.files(&mut files));
        let imports: String = files.iter().map(|file| format!("//#import {file}\n")).collect();
        let structures = self.structures.iter().map(Structure::to_string);
        let functions = self.functions.iter().map(Definition::to_string);
        let parts = [imports].into_iter().filter(|imports| !imports.is_empty());
        let parts: Vec<String> = parts.chain(structures).chain(functions).collect();
        f.write_str(&parts.join("\n"))
    }
}
