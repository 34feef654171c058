//! The constants of a SPIR-V module: those that specialisation sets, and those computed from them.
//!
//! wgpu passes no specialisation constants to the driver (gfx-rs/wgpu#9650). So the literals of the module's words are replaced.

use super::module_instructions::{Instruction, LOCAL_SIZE, instructions, op, string};
use std::collections::{BTreeMap, HashMap};

/// The decoration of constants that can be specialised.
const SPEC_ID: u32 = 1;

/// A constant that can be specialised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpecConstant {
    /// Its name in the source.
    pub(super) name: String,
    /// The positions of its literals in the module's words. There may be several, because the size of a workgroup is a separate
    /// constant with the same number.
    literals: Vec<usize>,
}

/// The constants that a module lets its user set, with the names that they have in the source.
///
/// # Errors
/// A message if one has no name, is not of 32 bits, or does not exist.
pub(super) fn parameters(instructions: &[Instruction<'_>]) -> Result<Vec<SpecConstant>, String> {
    let mut names = HashMap::new();
    let mut ids: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut declared = HashMap::new();
    for instruction in instructions {
        match (instruction.opcode, instruction.operands) {
            (op::NAME, [id, name @ ..]) => _ = names.insert(*id, string(name)),
            (op::DECORATE, [id, SPEC_ID, number]) => ids.entry(*number).or_default().push(*id),
            (op::SPEC_CONSTANT, [_, id, literal @ ..]) => {
                // After the instruction's first word, its type and its id.
                declared.insert(*id, (instruction.at + 3, literal.len()));
            }
            _ => {}
        }
    }
    let parameter = |(number, ids): (u32, Vec<u32>)| {
        let name = ids.iter().find_map(|id| names.get(id).filter(|name| !name.is_empty()));
        let name = name.ok_or_else(|| format!("specialisation constant {number} has no name"))?.clone();
        let literal = |id: &u32| match declared.get(id) {
            Some((at, 1)) => Ok(*at),
            Some(_) => Err(format!("specialisation constant {name} is not of 32 bits")),
            None => Err(format!("specialisation constant {name} is no number")),
        };
        let literals = ids.iter().map(literal).collect::<Result<_, _>>()?;
        Ok(SpecConstant { name, literals })
    };
    ids.into_iter().map(parameter).collect()
}

/// Sets a parameter to `value`.
///
/// # Errors
/// A message with the module's parameters if it has none of this name.
pub(super) fn set(
    words: &mut [u32],
    parameters: &[SpecConstant],
    name: &str,
    value: u32,
) -> Result<(), String> {
    let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
        let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        return Err(format!("it has no parameter {name}; its parameters are {}", names.join(", ")));
    };
    parameter.literals.iter().for_each(|at| words[*at] = value);
    Ok(())
}

/// The execution mode that names the constants of a workgroup's size.
const LOCAL_SIZE_ID: u32 = 38;

/// Writes the size of a workgroup into the words, where a module names its constants.
///
/// NOTE: Vulkan allows such names only with `maintenance4`, which wgpu leaves off. glslang writes them for Vulkan 1.3.
///
/// # Errors
/// A message if a size is not known.
pub(super) fn write_local_size(words: &mut [u32]) -> Result<(), String> {
    let found = instructions(words)?;
    let is_named = |one: &&Instruction<'_>| {
        one.opcode == op::EXECUTION_MODE_ID && one.operands.get(1) == Some(&LOCAL_SIZE_ID)
    };
    let Some(named) = found.iter().find(is_named) else { return Ok(()) };
    let values = values(&found);
    let sizes: Option<Vec<u32>> = named.operands[2..].iter().map(|id| values.get(id).copied()).collect();
    let sizes = sizes.filter(|sizes| sizes.len() == 3).ok_or("the size of its workgroups is not known")?;
    let at = named.at;
    words[at] = words[at] & 0xffff_0000 | u32::from(op::EXECUTION_MODE);
    words[at + 2] = LOCAL_SIZE;
    words[at + 3..at + 6].copy_from_slice(&sizes);
    Ok(())
}

/// The values of the constants of 32 bits that a module's sizes may depend on: those that are written, and those that are
/// computed from them. Booleans are 0 and 1.
pub(super) fn values(instructions: &[Instruction<'_>]) -> HashMap<u32, u32> {
    let mut values: HashMap<u32, u32> = HashMap::new();
    for instruction in instructions {
        let found = match (instruction.opcode, instruction.operands) {
            (op::CONSTANT | op::SPEC_CONSTANT, [_, id, value]) => Some((*id, *value)),
            (op::CONSTANT_TRUE, [_, id]) => Some((*id, 1)),
            (op::CONSTANT_FALSE, [_, id]) => Some((*id, 0)),
            (op::SPEC_CONSTANT_OP, [_, id, operation, operands @ ..]) => {
                let operands: Option<Vec<u32>> = operands.iter().map(|id| values.get(id).copied()).collect();
                operands.and_then(|operands| computed(*operation, &operands)).map(|value| (*id, value))
            }
            _ => None,
        };
        values.extend(found);
    }
    values
}

/// The result of an operation on these operands. None if the operation is not known here, or not defined for them.
fn computed(operation: u32, operands: &[u32]) -> Option<u32> {
    Some(match (operation, operands) {
        (124, [a]) => *a, // OpBitcast
        (128, [a, b]) => a.checked_add(*b)?,
        (130, [a, b]) => a.checked_sub(*b)?,
        (132, [a, b]) => a.checked_mul(*b)?,
        (134, [a, b]) => a.checked_div(*b)?,
        (137, [a, b]) => a.checked_rem(*b)?,
        (166, [a, b]) => a | b, // OpLogicalOr
        (167, [a, b]) => a & b,
        (168, [a]) => 1 - (*a).min(1),
        (169, [condition, a, b]) => *if *condition == 0 { b } else { a }, // OpSelect
        (170 | 164, [a, b]) => (a == b).into(),                           // OpIEqual, OpLogicalEqual
        (171 | 165, [a, b]) => (a != b).into(),
        (172, [a, b]) => (a > b).into(),
        (174, [a, b]) => (a >= b).into(),
        (176, [a, b]) => (a < b).into(),
        (178, [a, b]) => (a <= b).into(),
        (194, [a, b]) => a.checked_shr(*b)?,
        (196, [a, b]) => a.checked_shl(*b)?,
        (197, [a, b]) => a | b, // OpBitwiseOr
        (199, [a, b]) => a & b,
        _ => return None,
    })
}
