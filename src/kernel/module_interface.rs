//! The declarations of a SPIR-V module: its operands, its dims, the size of its workgroups, the features that it uses.
//!
//! wgpu checks none of them. If the pipeline's layout or the device lacks a binding, a range of push constants, a size or a
//! feature, wgpu reports no error: the output keeps its old contents, or the device is lost.

use super::module_constants::values;
use super::module_instructions::{Instruction, LOCAL_SIZE, instructions, op, string};
use crate::kernel::{Needs, ShaderInterface};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The declarations of a module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ModuleInterface {
    /// Its operands and dims.
    pub(crate) shader: ShaderInterface,
    /// Invocations of a workgroup.
    pub(crate) invocations: u32,
    /// Bytes of shared memory, as in [`Needs`](crate::kernel::Needs).
    pub(crate) workgroup_bytes: u32,
    /// Its version of SPIR-V, as in its second word.
    pub(crate) version: u32,
    /// The numbers of the capabilities that it declares.
    pub(crate) capabilities: BTreeSet<u32>,
}

mod decoration {
    pub(super) const BUILT_IN: u32 = 11;
    pub(super) const NON_WRITABLE: u32 = 24;
    pub(super) const BINDING: u32 = 33;
    pub(super) const DESCRIPTOR_SET: u32 = 34;
    pub(super) const OFFSET: u32 = 35;
}
mod storage {
    pub(super) const UNIFORM: u32 = 2;
    pub(super) const WORKGROUP: u32 = 4;
    pub(super) const PUSH_CONSTANT: u32 = 9;
    pub(super) const STORAGE_BUFFER: u32 = 12;
}
/// The execution model of compute shaders.
const GL_COMPUTE: u32 = 5;
/// The built-in constant that replaces both.
const WORKGROUP_SIZE: u32 = 25;

/// A declared type, as far as sizes need it.
enum Type<'a> {
    Scalar { bytes: u32 },
    Vector { of: u32, count: u32 },
    Array { of: u32, count: u32 },
    Struct { members: &'a [u32] },
    Pointer { to: u32 },
}

/// The limits that a module needs with any operands, and the bytes of its immediates.
///
/// # Errors
/// A message if it is not the module of a kernel.
pub fn module_needs(words: &[u32]) -> Result<(Needs, u32), String> {
    let ModuleInterface { shader, invocations, workgroup_bytes, .. } = module_interface(words)?;
    let bindings = u32::try_from(shader.writes.len()).unwrap_or(u32::MAX);
    Ok((Needs { bindings, invocations, workgroup_bytes }, shader.immediates.unwrap_or(0)))
}

/// The declarations, by id.
#[derive(Default)]
struct Declarations<'a> {
    types: HashMap<u32, Type<'a>>,
    values: HashMap<u32, u32>,
    /// The constants of composite constants.
    composites: HashMap<u32, &'a [u32]>,
    /// Decorations with their first number, or 0.
    decorations: HashMap<(u32, u32), u32>,
    /// Decorations of members.
    members: HashMap<(u32, u32, u32), u32>,
    /// Pairs of a variable and its pointer type, by storage class.
    variables: Vec<(u32, u32, u32)>,
    capabilities: BTreeSet<u32>,
    local_size: Option<[u32; 3]>,
    entry_points: Vec<String>,
}

/// Reads the declarations of a module.
///
/// # Errors
/// A message if it is not the module of a kernel.
pub(crate) fn module_interface(words: &[u32]) -> Result<ModuleInterface, String> {
    let instructions = instructions(words)?;
    let declared = Declarations::of(&instructions);
    if declared.entry_points != ["main"] {
        return Err("it must have one entry point, the compute shader main".into());
    }
    let [x, y, z] = declared.workgroup_size().ok_or("the size of its workgroups is not known")?;
    let invocations =
        x.checked_mul(y).and_then(|xy| xy.checked_mul(z)).ok_or("its workgroups are too large")?;
    let mut operands: BTreeMap<u32, bool> = BTreeMap::new();
    let (mut immediates, mut workgroup_bytes) = (None, 0_u32);
    for &(variable, pointer, class) in &declared.variables {
        let pointee = match declared.types.get(&pointer) {
            Some(Type::Pointer { to }) => *to,
            _ => return Err("a variable has no type".into()),
        };
        match class {
            storage::STORAGE_BUFFER => {
                let binding = declared.binding(variable).ok_or("every operand must be bound in group 0")?;
                // The same memory may be declared as arrays of several types.
                *operands.entry(binding).or_default() |= declared.is_written(variable, pointee);
            }
            storage::PUSH_CONSTANT => {
                immediates =
                    Some(declared.end_of_struct(pointee).ok_or("the size of its dims is not known")?);
            }
            storage::WORKGROUP => {
                let bytes = declared.bytes(pointee).ok_or("the size of its shared memory is not known")?;
                let sum =
                    bytes.checked_next_multiple_of(16).and_then(|bytes| bytes.checked_add(workgroup_bytes));
                workgroup_bytes = sum.ok_or("its shared memory is too large")?;
            }
            storage::UNIFORM => return Err("its dims must be push constants".into()),
            _ => {}
        }
    }
    if !operands.keys().copied().eq((0..).take(operands.len())) {
        return Err("operands must be bound from 0, without gaps".into());
    }
    let immediates = Some(immediates.ok_or("a kernel must declare its dims")?);
    let shader = ShaderInterface { writes: operands.into_values().collect(), immediates };
    let version = words.get(1).copied().unwrap_or_default();
    Ok(ModuleInterface { shader, invocations, workgroup_bytes, version, capabilities: declared.capabilities })
}

impl<'a> Declarations<'a> {
    fn of(instructions: &[Instruction<'a>]) -> Self {
        let values = values(instructions);
        let mut this = Self::default();
        let value = |id: &u32| values.get(id).copied();
        for instruction in instructions {
            match (instruction.opcode, instruction.operands) {
                (op::TYPE_BOOL, [id]) => _ = this.types.insert(*id, Type::Scalar { bytes: 4 }),
                (op::TYPE_INT | op::TYPE_FLOAT, [id, bits, ..]) => {
                    _ = this.types.insert(*id, Type::Scalar { bytes: bits.div_ceil(8) });
                }
                (op::TYPE_VECTOR, [id, of, count]) => {
                    _ = this.types.insert(*id, Type::Vector { of: *of, count: *count });
                }
                (op::TYPE_ARRAY, [id, of, count]) => {
                    if let Some(count) = value(count) {
                        this.types.insert(*id, Type::Array { of: *of, count });
                    }
                }
                (op::TYPE_STRUCT, [id, members @ ..]) => _ = this.types.insert(*id, Type::Struct { members }),
                (op::TYPE_POINTER, [id, _, to]) => _ = this.types.insert(*id, Type::Pointer { to: *to }),
                (op::SPEC_CONSTANT_COMPOSITE, [_, id, parts @ ..]) => _ = this.composites.insert(*id, parts),
                (op::VARIABLE, [pointer, id, class, ..]) => this.variables.push((*id, *pointer, *class)),
                (op::DECORATE, [id, what, more @ ..]) => {
                    _ = this.decorations.insert((*id, *what), more.first().copied().unwrap_or(0));
                }
                (op::MEMBER_DECORATE, [id, member, what, more @ ..]) => {
                    _ = this.members.insert((*id, *member, *what), more.first().copied().unwrap_or(0));
                }
                (op::CAPABILITY, [capability]) => _ = this.capabilities.insert(*capability),
                (op::ENTRY_POINT, [GL_COMPUTE, _, name @ ..]) => this.entry_points.push(string(name)),
                (op::ENTRY_POINT, _) => this.entry_points.push(String::new()),
                (op::EXECUTION_MODE, [_, LOCAL_SIZE, x, y, z]) => this.local_size = Some([*x, *y, *z]),
                _ => {}
            }
        }
        this.values = values;
        this
    }

    /// The size of a workgroup: the built-in constant, if there is one, otherwise the entry point's own.
    fn workgroup_size(&self) -> Option<[u32; 3]> {
        let is_size =
            |id: &&u32| self.decorations.get(&(**id, decoration::BUILT_IN)) == Some(&WORKGROUP_SIZE);
        match self.composites.keys().find(is_size) {
            Some(id) => {
                let [x, y, z] = self.composites.get(id)? else { return None };
                Some([*self.values.get(x)?, *self.values.get(y)?, *self.values.get(z)?])
            }
            None => self.local_size,
        }
    }

    /// The binding of a variable of group 0.
    fn binding(&self, variable: u32) -> Option<u32> {
        let of = |what| self.decorations.get(&(variable, what)).copied();
        of(decoration::BINDING).filter(|_| of(decoration::DESCRIPTOR_SET) == Some(0))
    }

    /// Whether the kernel may write a buffer. It may, unless the variable or all members of its block are declared as
    /// not writable.
    fn is_written(&self, variable: u32, block: u32) -> bool {
        let members = match self.types.get(&block) {
            Some(Type::Struct { members }) => u32::try_from(members.len()).unwrap_or(u32::MAX),
            _ => 0,
        };
        let is_read_only = |member| self.members.contains_key(&(block, member, decoration::NON_WRITABLE));
        let is_decorated = self.decorations.contains_key(&(variable, decoration::NON_WRITABLE));
        !(is_decorated || members > 0 && (0..members).all(is_read_only))
    }

    /// The end of a struct's last member.
    fn end_of_struct(&self, id: u32) -> Option<u32> {
        let Some(Type::Struct { members }) = self.types.get(&id) else { return None };
        let end = |(index, member): (u32, &u32)| {
            self.members.get(&(id, index, decoration::OFFSET))?.checked_add(self.bytes(*member)?)
        };
        (0..).zip(*members).map(end).try_fold(0, |last, end| Some(last.max(end?)))
    }

    /// The size of a type of shared memory or of dims. There is no padding between its parts.
    fn bytes(&self, id: u32) -> Option<u32> {
        // NOTE: in a valid module, a type only names types that are declared before it. In an invalid one, types could refer
        // to each other in a circle.
        self.bytes_within(id, 8)
    }

    fn bytes_within(&self, id: u32, depth: u32) -> Option<u32> {
        let depth = depth.checked_sub(1)?;
        match self.types.get(&id)? {
            Type::Scalar { bytes } => Some(*bytes),
            Type::Vector { of, count } | Type::Array { of, count } => {
                self.bytes_within(*of, depth)?.checked_mul(*count)
            }
            Type::Struct { members } => members
                .iter()
                .try_fold(0_u32, |sum, member| sum.checked_add(self.bytes_within(*member, depth)?)),
            Type::Pointer { .. } => None,
        }
    }
}
