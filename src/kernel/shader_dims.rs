//! A kernel's uniform, written once: `shader_dims!` declares the Pod that the host fills, and lists the members of the shader's
//! struct `Dims`, which specialisation writes.

use std::fmt::Write;

/// A member of a shader's `Dims`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DimsMember {
    pub(crate) name: &'static str,
    pub(crate) of: MemberType,
    /// The comment in the shader.
    pub(crate) docs: &'static str,
}

/// The type of a member in WGSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MemberType {
    /// A type with this name.
    Named(&'static str),
    /// `Axes`, a struct of this number of axes.
    Axes(usize),
}

/// The dims of a shader.
pub(crate) trait ShaderDims: bytemuck::Pod {
    /// The members of the struct that specialisation writes. None if the shader has the struct itself.
    const MEMBERS: &'static [DimsMember];
}

/// Dims of a shader that has the struct itself.
impl<const N: usize> ShaderDims for [u32; N]
where
    Self: bytemuck::Pod,
{
    const MEMBERS: &'static [DimsMember] = &[];
}

/// A type of Rust that a member may have.
pub(crate) trait OfMember {
    const TYPE: MemberType;
    /// The alignment in WGSL, in bytes.
    const ALIGNMENT: usize;
}

macro_rules! of_member {
    ($($type:ty: $name:literal, $alignment:literal;)*) => {
        $(impl OfMember for $type {
            const TYPE: MemberType = MemberType::Named($name);
            const ALIGNMENT: usize = $alignment;
        })*
    };
}
of_member! { u32: "u32", 4; i32: "i32", 4; f32: "f32", 4; [u32; 2]: "vec2<u32>", 8; [u32; 4]: "vec4<u32>", 16; }

impl<const N: usize> OfMember for [[u32; 4]; N] {
    const TYPE: MemberType = MemberType::Axes(N);
    const ALIGNMENT: usize = 16;
}

/// Declares a uniform: a Pod whose documented members are also those of the shader's `Dims`. A member `x: u32 as f32` has the bits of
/// a type of WGSL. Uniforms are equal if their bytes are.
macro_rules! shader_dims {
    ($(#[$attribute:meta])* pub struct $name:ident {
        $($(#[doc = $docs:literal])* $member:ident: $type:ty $(as $wgsl:ident)?,)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        #[allow(missing_docs, reason = "some names say it all")]
        pub struct $name {
            $($(#[doc = $docs])* pub $member: $type,)*
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                bytemuck::bytes_of(self) == bytemuck::bytes_of(other)
            }
        }

        impl Eq for $name {}

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                bytemuck::bytes_of(self).hash(state);
            }
        }

        impl $crate::kernel::ShaderDims for $name {
            const MEMBERS: &'static [$crate::kernel::DimsMember] = &[$($crate::kernel::DimsMember {
                name: stringify!($member),
                of: [
                    $($crate::kernel::MemberType::Named(stringify!($wgsl)),)?
                    <$type as $crate::kernel::OfMember>::TYPE,
                ][0],
                docs: concat!($($docs),*),
            },)*];
        }

        // Members lie in the shader as on the host, and a uniform fits in a step of the ring.
        const _: () = {
            $(assert!(std::mem::offset_of!($name, $member) % <$type as $crate::kernel::OfMember>::ALIGNMENT == 0);)*
            assert!(size_of::<$name>() % 16 == 0 && size_of::<$name>() <= 256);
        };
    };
}
pub(crate) use shader_dims;

/// The text of a struct `Dims`, and of `Axes` if a member is of this type.
pub(super) fn text(members: &[DimsMember]) -> String {
    let (mut dims, mut axes) = (String::from("struct Dims {\n"), String::new());
    for DimsMember { name, of, docs } in members {
        let of = match of {
            MemberType::Named(of) => of,
            MemberType::Axes(count) => {
                axes = axes_text(*count);
                "Axes"
            }
        };
        let docs = if docs.is_empty() { String::new() } else { format!(" //{docs}") };
        // Writing into a String cannot fail.
        let _ = writeln!(dims, "    {name}: {of},{docs}");
    }
    dims + "}\n" + &axes
}

/// Axes are members, not an array: WGSL allows no arrays in immediates. naga does, a browser's compiler does not.
fn axes_text(count: usize) -> String {
    let each = |from, write: fn(usize) -> String| (from..count).map(write).collect::<String>();
    let members = each(0, |i| format!("    axis{i}: vec4<u32>,\n"));
    let selects = each(1, |i| format!("    found = select(found, dims.axes.axis{i}, axis == {i}u);\n"));
    format!(
        "\nstruct Axes {{\n{members}}}\n\nfn axis_at(axis: u32) -> vec4<u32> {{\n    var found = dims.axes.axis0;\n{selects}    \
         return found;\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{ShaderDims, text};

    shader_dims! {
        /// Dims.
        #[expect(unreachable_pub, reason = "the macro declares public structs")]
        pub struct Small {
            /// the axes of A, innermost first
            axes: [[u32; 4]; 2],
            /// of a row
            /// in vectors
            width: u32,
            scale: u32 as f32,
            more: [u32; 2],
            rest: [u32; 4],
        }
    }

    #[test]
    fn the_struct_of_a_shader_has_the_members_of_the_pod() {
        assert_eq!(
            text(Small::MEMBERS),
            "struct Dims {\n    axes: Axes, // the axes of A, innermost first\n    width: u32, // of a row in vectors\n    \
             scale: f32,\n    more: vec2<u32>,\n    rest: vec4<u32>,\n}\n\n\
             struct Axes {\n    axis0: vec4<u32>,\n    axis1: vec4<u32>,\n}\n\n\
             fn axis_at(axis: u32) -> vec4<u32> {\n    var found = dims.axes.axis0;\n    \
             found = select(found, dims.axes.axis1, axis == 1u);\n    return found;\n}\n"
        );
    }
}
