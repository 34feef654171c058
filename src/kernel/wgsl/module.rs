//! Functions, structs, and modules that combine them.

use super::statement::Block;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// A function. `parameters` are pairs of a name and a type, and `result` is the return type. The comment is printed above it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FunctionDefinition {
    pub(crate) comment: &'static str,
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<(&'static str, &'static str)>,
    pub(crate) result: Option<&'static str>,
    pub(crate) body: Block,
}

/// A struct. The comment is printed above it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StructDefinition {
    pub(crate) comment: &'static str,
    pub(crate) name: &'static str,
    pub(crate) members: Vec<Member>,
}

/// A member of a struct. The comment is printed after it, unless it is empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) of_type: &'static str,
    pub(crate) comment: Cow<'static, str>,
}

/// Structs and functions. They are printed after the `//#import` lines that the functions' calls need.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Module {
    pub(crate) structures: Vec<StructDefinition>,
    pub(crate) functions: Vec<FunctionDefinition>,
}

impl Module {
    /// The floating-point operations of all functions, each called once.
    pub(crate) fn flops(&self) -> usize {
        self.functions.iter().map(|function| function.body.flops()).sum()
    }
}

impl From<FunctionDefinition> for Module {
    fn from(function: FunctionDefinition) -> Self {
        Self { structures: Vec::new(), functions: vec![function] }
    }
}

impl fmt::Display for StructDefinition {
    /// NOTE: WGSL has no empty structs. A struct without members is printed with an unused one.
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

impl fmt::Display for FunctionDefinition {
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
        let structures = self.structures.iter().map(StructDefinition::to_string);
        let functions = self.functions.iter().map(FunctionDefinition::to_string);
        let parts = [imports].into_iter().filter(|imports| !imports.is_empty());
        let parts: Vec<String> = parts.chain(structures).chain(functions).collect();
        f.write_str(&parts.join("\n"))
    }
}
