//! Functions and structs of WGSL, as text.

/// A member of a struct: its name, its type and what it is.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) of_type: &'static str,
    pub(super) comment: String,
}

/// A struct. WGSL has no empty ones: that of no members has one that nobody reads.
pub(super) fn structure(comment: &str, name: &str, members: &[Member]) -> String {
    let member = |Member { name, of_type, comment }: &Member| match &comment[..] {
        "" => format!("    {name}: {of_type},\n"),
        comment => format!("    {name}: {of_type}, // {comment}\n"),
    };
    let members: String = members.iter().map(member).collect();
    let members = if members.is_empty() { "    none: u32,\n".to_owned() } else { members };
    format!("// {comment}\nstruct {name} {{\n{members}}}\n\n")
}

/// A function: what it does, its head, and the lines of its body, which are put a level deeper.
pub(super) fn function(comment: &str, head: &str, body: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let body: String = body.lines().map(line).collect();
    format!("// {comment}\nfn {head} {{\n{body}}}\n\n")
}
